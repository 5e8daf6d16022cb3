"""Secrets by the name beside them: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `token is …`.

A name alone redacts nothing: the value must look like a secret, the more so the weaker the name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.learning.secret_values import is_hex, is_uuid, mixed, random, stands_in, wordy

PASSWORD, SECRET, WEAK = "password", "secret", "key"

# In lower case. Longer words first where one begins with another.
_NAMES = {
    "password": PASSWORD, "passwort": PASSWORD, "passwd": PASSWORD, "passphrase": PASSWORD, "passcode": PASSWORD, "passw": PASSWORD,
    "pswd": PASSWORD, "psword": PASSWORD, "pasword": PASSWORD, "paswd": PASSWORD, "passwors": PASSWORD, "pwd": PASSWORD, "pass": PASSWORD,
    "pw": PASSWORD, "securestring": PASSWORD, "identified": PASSWORD,
    "secret": SECRET, "token": SECRET, "apikey": SECRET, "api key": SECRET, "api_key": SECRET, "api-key": SECRET, "credential": SECRET,
    "accesskey": SECRET, "access_key": SECRET, "access key": SECRET, "private": SECRET, "license_key": SECRET, "bearer": SECRET, "crumb": SECRET,
    "jwt": SECRET,
    "key": WEAK, "auth": WEAK, "access": WEAK, "api": WEAK, "salt": WEAK, "nonce": WEAK, "signature": WEAK, "pat": WEAK, "login": WEAK,
    "cookie": WEAK, "seed": WEAK, "sig": WEAK, "srt": WEAK, "sid": WEAK,
}  # fmt: skip
_NAME = re.compile("|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True)))
# Words that other words begin or end with; these count only as words of their own.
_SHORT = frozenset(("pass", "pw", "pwd", "key", "auth", "access", "api", "salt", "pat", "login", "seed", "sig", "srt", "sid", "jwt", "crumb", "private"))

_TAIL = re.compile(r"[A-Za-z0-9_.\-]{0,48}")
_PUBLIC = re.compile(
    r"public|foreign|primary|cache|partition|sort|hot|publishable|commit|checksum|digest|integrity|idempotenc|next|page|cursor|count|max|min|num"
    r"|limit|total|usage|type|length|size|expir|ttl|path|file|dir|url|uri|name|field|label|column|index|format|regex|pattern|policy|error"
)
_HEAD = re.compile(r"[A-Za-z0-9_.\-]{0,40}\Z")

_QUOTE = r"""\\{0,8}(?:\"{3}|'{3}|["'`])|&quot;|&\#0?3[49];|&apos;|\\{1,4}u002[27]|%2[27]"""
_JOIN = re.compile(
    rf"""
    (?P<closed>{_QUOTE})? (?P<bracket>[\])]{{1,2}})? [ \t]{{0,24}}
    (?::[ \t]{{0,3}}(?:[Ss]tring|str|String\?|&str)[ \t]{{0,3}}(?==))?
    (?P<by>
        (?: \\{{1,4}}u003[daAD] | %3[DdAa] | :?={{1,3}}>? | !={{1,2}} | :{{1,2}}=? | -> | \|\| | \?\? | &gt; | > | , (?=[ \t]{{0,4}}(?:{_QUOTE})) | \((?=[ \t]{{0,4}}(?:{_QUOTE}))
          | (?:is|was|or|are|by|BY|value[ \t]{{0,3}}=)(?=[ \t]{{1,4}}\S|[ \t]{{0,4}}["']) | -{{2,8}}(?=[ \t]) )
        [ \t]{{0,24}} (?: (?:\r?\n|\\{{1,4}}n)[ \t]{{1,24}} (?=["'`]) )?
      | [ \t]{{1,24}}
      | [-_.](?=[A-Za-z0-9]{{12,}})
    )
    (?: (?:os\.environ\.get|os\.getenv|getenv|env)\( [^()\n]{{0,80}} (?: \)[ \t]{{0,3}}(?:or|\|\||\?\?) | , ) [ \t]{{0,3}} )?
    (?: (?:[Bb]earer|[Bb]asic|[Tt]oken|BEARER)[ \t]{{1,3}} )?
    (?P<open>[uUbBrRfFL@$\[(]{{0,2}}(?:{_QUOTE}))?
    """,
    re.VERBOSE,
)
_MOST = 256
_BARE = re.compile(rf"(?:[^\s\"'`<>,;&|\\(){{}}]|&amp;|&(?=[^\s=;&]*(?:\s|\Z))|\\(?!\\{{0,8}}[\"'nrt`]|u00|\\)[^\s\"']){{1,{_MOST}}}")
_REST = re.compile(r"[A-Za-z0-9+/=_~.\-]*")
_UUID_IN = re.compile(r"[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_FLAG = re.compile(r"(?:^|[\s\"'\[,])-{1,2}[A-Za-z0-9_\-]{0,40}\Z")
_NETRC = re.compile(r"login[ \t]{1,8}\S{1,80}\s{1,8}\Z")


def find_assigned(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Values beside a name: start, end, kind. ``lower`` is the text in lower case, of the same length."""
    done = 0
    for hit in _NAME.finditer(lower):
        if hit.start() < done:
            continue
        found = _value(text, hit)
        if found is not None:
            done = found[1]
            yield found


def _value(text: str, hit: re.Match[str]) -> tuple[int, int, str] | None:
    start, end = hit.span()
    word = hit.group()
    strength = _NAMES[word]
    if not _stands_alone(text, start, end, word in _SHORT):
        return None
    found = _joined(text, start, end, strength)
    if found is not None:
        return found
    tail = _TAIL.match(text, end)
    after = tail.end() if tail else end
    if after == end:
        return None
    return _joined(text, start, after, strength)


def _stands_alone(text: str, start: int, end: int, short: bool) -> bool:
    """Whether the letters are a word: `token` in `API_TOKEN` and `apiToken:`, not in `tokenizer`; `key` not in `monkey`."""
    if end < len(text) and text[end].isalpha() and text[end].islower() == text[end - 1].islower():
        return False
    if not short or not start:
        return True
    before = text[start - 1]
    if not before.isalpha() or before.islower() != text[start].islower():
        return True
    return start > 1 and before in "nrtb" and text[start - 2] == "\\"


def _joined(text: str, start: int, end: int, strength: str) -> tuple[int, int, str] | None:
    join = _JOIN.match(text, end)
    if join is None:
        return None
    begin, quote = join.end(), join.group("open") or ""
    by = join.group("by").strip()
    if quote:
        quote = quote.lstrip("uUbBrRfFL@$[(")
        stop = _closing(text, begin, quote)
        if stop is None:
            return None
    else:
        bare = _BARE.match(text, begin)
        if bare is None:
            return None
        stop = bare.end()
        while stop > begin and text[stop - 1] in ".:)]}":
            stop -= 1
        if stop - begin >= _MOST - 8 and (rest := _REST.match(text, stop)):
            stop = rest.end()
    value = text[begin:stop][:_MOST]
    if not value or value.startswith("[secret") or stands_in(value):
        return None
    name = (match.group() if (match := _HEAD.search(text, max(0, start - 40), start)) else "") + text[start:end]
    if not _suspicious(value, strength, name, by, bool(quote), text, start):
        return None
    return begin, stop, "password" if strength == PASSWORD else "token" if "token" in name.lower() else strength


def _closing(text: str, begin: int, quote: str) -> int | None:
    """Where the closing quote begins; None where the line ends first or too far away."""
    reach = min(len(text), begin + 600)
    stop = begin
    while True:
        stop = text.find(quote, stop, reach)
        if stop < 0:
            return None
        if quote[0] != "\\" and len(quote) == 1 and text[stop - 1] == "\\" and stop > begin:
            stop += 1
            continue
        break
    return None if "\n" in text[begin:stop] else stop


def _suspicious(value: str, strength: str, name: str, by: str, quoted: bool, text: str, start: int) -> bool:
    tight = by not in ("", "-", "_", ".", ",", "(")
    public = _PUBLIC.search(name.lower()) is not None
    if strength == PASSWORD:
        return _password(value, name, by, quoted, text, start) and not (public and wordy(value))
    if " " in value:
        return False
    if public:
        return strength == SECRET and tight and random(value, 20)
    if strength == SECRET:
        if random(value, 12 if tight or quoted else 16) or (is_uuid(value) and by != "."):
            return True
        return mixed(value, 16) or (is_hex(value) and len(value) >= 16) or (quoted and tight and len(value) >= 16 and not wordy(value))
    return (tight or quoted) and not is_hex(value) and _UUID_IN.search(value) is None and random(value, 16) or (tight and is_hex(value) and len(value) in (32, 40, 64))


def _password(value: str, name: str, by: str, quoted: bool, text: str, start: int) -> bool:
    flag = _FLAG.search(text, max(0, start - 44), start) is not None
    if by in ("-", "_", "."):
        return random(value, 12)
    if by == "" and not quoted and not flag and not _NETRC.search(text, max(0, start - 100), start):
        return False
    if " " in value or len(value) < 4 or len(value) > 200:
        return False
    plain = value.isalpha() or wordy(value)
    if by in (",", "(", "", "is", "was", "or"):
        return not plain or flag
    if quoted:
        return not plain or (len(value) >= 5 and value.isalnum() and by in ("=", ":", "=>"))
    if plain:
        return value.isdigit() or (len(value) >= 6 and by == "=" and value.isalnum() and any(c.isdigit() for c in value))
    return not re.match(r"[A-Za-z_][\w.]*\Z", value) or any(c.isdigit() for c in value)
