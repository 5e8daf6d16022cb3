"""Secrets by the name beside them: `password=…`, `"api_key": "…"`, `--token …`, `<secret>…</secret>`, `token is …`.

A name alone redacts nothing: the value must look like a secret, the more so the weaker the name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.learning.secrets.values import (
    grouped,
    is_hex,
    is_uuid,
    jumps,
    mixed,
    numbered,
    random,
    stands_in,
    symbolic,
    wordy,
)

PASSWORD, SECRET, WEAK, ATTACHED = "password", "secret", "weak", "attached"

# In lower case. The alternatives begin with letters, so that the search can skip all others quickly. What a machine
# issues is a secret; a weak name says so only together with the value.
_PASSWORDS = r"pas{1,2}w(?:or[dt]|r?d)?|pass(?:phrase|code)?|ps{0,2}w(?:or|r)?d|pw|securestring"
_SECRETS = (
    r"secret(?:[ _-]?(?:access[ _-]?)?key|[ _-]?token|access)?|token|credential|api[ _-]?key|access[ _-]?(?:key|"
    r"token)|priv(?:ate)?(?:[ _-]?(?:access[ _-]?)?key)?|licen[sc]e[ _-]?key|account[ _-]?key|auth[ _-]?(?:key|"
    r"token)|bearer|crumb|jwt"
)
_WEAK = (
    r"key|client[ _.-]?id|auth(?:entication|orization)?|access|api|salt|sig(?:nature)?|pat|login|cookie|seed|srt|sid"
)
_NAME = re.compile(f"{_PASSWORDS}|{_SECRETS}|{_WEAK}")
_STRENGTHS = ((PASSWORD, re.compile(_PASSWORDS)), (SECRET, re.compile(_SECRETS)))
# Words that other words begin or end with; these count only as words of their own.
_SHORT_WORDS = "pass pw pwd key auth access api salt pat login seed sig srt sid jwt crumb priv private"
_SHORT = frozenset(_SHORT_WORDS.split())

_TAIL = re.compile(r"[A-Za-z0-9_.\-]{0,48}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Names with such a word in them name something else, or something that everybody may see.
_PUBLIC_WORDS = """
    public foreign primary cache partition sort hot publishable commit checksum digest integrity idempotency
    idempotence next page cursor count max min num limit total usage type length size expires expiry expiration ttl
    path file dir url uri name field label column index format regex pattern policy error threshold
    routing storage translation lookup dedup object document
"""
_PUBLIC = frozenset(_PUBLIC_WORDS.split())
# `PASS: TestFoo`, `pwd: /home`
_AMBIGUOUS = frozenset(("pass", "--pass", "pwd", "--pwd", "pw"))
_NO_PASSWORD = re.compile(r"[^\n]*[/_(\\]")
_HEAD = re.compile(r"[A-Za-z0-9_\-]{0,40}\Z")

# `Please use the following password to log in:` and the password on a line of its own below.
# Not `all tests pass:`.
_ANNOUNCES = re.compile(rf"(?<![a-z0-9])(?!pass\b)(?:(?P<password>{_PASSWORDS})|{_SECRETS}|key)\b")
# What such a line tells of has a digest or an id of its own, which looks no different.
_NUMBERED = frozenset(("commit", "commits", "build", "row", "revision", "sha", "hash", "id"))
_OWN_LINE = re.compile(
    r":[ \t]{0,4}\r?\n(?:[ \t*#]{0,80}\r?\n)?[ \t]{0,8}(?P<value>[A-Za-z0-9+/=_.\-]{16,128})(?=[ \t]{0,8}(?:\r?\n|\Z))"
)
# `acme_key = …`
_OF_A_SERVICE = re.compile(r"(?i)[a-z]{4,}[_-]?key\Z")

_QUOTE = r"""\\{0,8}(?:\"{3}|'{3}|["'`])|&quot;|&\#0?3[49];|&apos;|\\{1,4}u002[27]|%2[27]"""
# What may stand between a name and its value: the name's closing quote, a type, a sign or word that joins, a call that
# reads the environment with this as its default, a scheme, and the value's opening quote.
_JOIN = re.compile(
    rf"""
    (?P<closed>{_QUOTE})? (?P<bracket>[\])]{{1,2}})? [ \t]{{0,24}}
    (?::[ \t]{{0,3}}(?:[Ss]tring|str|String\?|&str)[ \t]{{0,3}}(?==))?
    (?P<by>
        (?: \\{{1,4}}u003[daAD] | %3[DdAa] | :?={{1,3}}>? | !={{1,2}} | :{{1,2}}=? | -> | \|\| | \?\? | &gt; | >
          | [,(](?=[ \t]{{0,4}}(?:{_QUOTE}))
          | (?:is|was|or|are|by|BY|value[ \t]{{0,3}}=) (?=[ \t]{{1,4}}\S | [ \t]{{0,4}}\\{{0,8}}["'])
          | -{{2,8}}(?=[ \t]) )
        [ \t]{{0,24}} (?: (?:\r?\n|\\{{1,4}}n)[ \t]{{1,24}} (?=["'`]) )?
      | [ \t]{{1,24}}
      | [ \t]{{0,4}}(?:\r?\n|\\{{1,4}}n){{1,2}}[ \t]{{0,8}}(?=[A-Za-z0-9]{{16}})
      | [-_.](?=[A-Za-z0-9]{{4}})
    )
    (?: (?:os\.environ\.get|os\.getenv|getenv|env) \([^()\n]{{0,80}}
        (?: \)[ \t]{{0,3}}(?:or|\|\||\?\?) | , ) [ \t]{{0,3}} )?
    (?: (?:[Bb]earer|[Bb]asic|[Tt]oken|BEARER)[ \t]{{1,3}} )?
    (?P<open>[uUbBrRfFL@$\[(]{{0,2}}(?:{_QUOTE}))?
    """,
    re.VERBOSE,
)
_MOST = 256
_MOST_TRIES = 6
_BARE = re.compile(
    rf"(?:[^\s\"'`<>,;&|\\(){{}}\[\x00-\x1f\x7f]|&amp;|&(?=[^\s=;&]{{0,80}}(?:\s|\Z))|\\(?!\\{{0,8}}[\"'nrt`]|u00|\\)[^\s\"']){{1,{_MOST}}}"
)
_REST = re.compile(r"[A-Za-z0-9+/=_~.\-]*")
_FILE = re.compile(r"\.[A-Za-z]{1,5}\Z")
# `correct horse battery staple`, but not what a form says of a password, which begins with a capital, ends with a sign
# or speaks of one.
_PHRASE = re.compile(
    r"(?![^\n]{0,120}\b(?:pass|the|your|a|is|are|not|no|must|should|with|for|of|to|and|or|in|on|at|by|type|enter|incorrect"
    r"|invalid|wrong|minimum|characters?|was|were|has|have|been|be|you|this|that|it|from|long|enough|choose|least|than"
    r"|sent|again|required|change[ds]?|match(?:es)?)(?:\b|w))"
    r"[a-z0-9]{2,20}(?: [a-z0-9]{2,20}){1,9}\Z"
)
# `passwordHint: "letters digits symbols mixed"`
_LABEL = re.compile(r"(?i)pass[a-z]{0,6}[_-]?(?:hint|placeholder|label|title|message|error|help|description|prompt)")
# `development#product`: a sign between words that joins none in a name, a path or a sentence.
_JOINED_OUTRIGHT = re.compile(r"[A-Za-z0-9]{3,60}[#!$%^*~][A-Za-z0-9]{3,60}\Z")
_FLAG = re.compile(r"(?:^|[\s\"'\[,])-{1,2}[A-Za-z0-9_\-]{0,40}\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\?\.|[./:\-])[A-Za-z0-9_]{1,200})*\Z")
_ENV_LINE = re.compile(r"(?:\A|\n|\\n|[\"'`])[ \t#;]{0,8}(?:export |set |ENV |\$env:)?[A-Za-z0-9_.\-]*\Z")
_NETRC = re.compile(r"login[ \t]{1,8}\S{1,80}\s{1,8}\Z")


def find_assigned(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Values beside a name: start, end, kind. ``lower`` is the text in lower case, of the same length."""
    done = reach = tries = 0
    for hit in _NAME.finditer(lower):
        start = hit.start()
        if start < done:
            continue
        # A value full of names is looked at from a few of them, not from each: else the work would be quadratic.
        tries = tries + 1 if start < reach else 0
        if tries > _MOST_TRIES:
            continue
        found, looked = _value_span(text, hit)
        reach = max(reach, looked)
        if found is not None:
            done = found[1]
            yield found


def find_announced(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Values on a line of their own below one that announces them: start, end, kind."""
    for hit in _OWN_LINE.finditer(text):
        value, line = hit.group("value"), max(text.rfind("\n", 0, hit.start()), hit.start() - 120)
        known = is_hex(value) or is_uuid(value)
        if not known and not random(value):
            continue
        announced = _ANNOUNCES.search(lower, line + 1, hit.start())
        words = frozenset(_WORD.findall(lower, line + 1, hit.start()))
        if announced is None or (known and not _NUMBERED.isdisjoint(words)):
            continue
        if announced["password"]:
            yield *hit.span("value"), "password"
        elif _PUBLIC.isdisjoint(words):
            yield *hit.span("value"), "secret"


def _value_span(text: str, hit: re.Match[str]) -> tuple[tuple[int, int, str] | None, int]:
    """The secret beside a name, and how far was looked for it."""
    start, end = hit.span()
    if end < len(text) and text[end].isalpha() and text[end].islower() == text[end - 1].islower():
        # `tokenizer`, `keyboard`, `passing`
        return None, end
    strength = next((strength for strength, names in _STRENGTHS if names.fullmatch(hit.group())), WEAK)
    if hit.group() in _SHORT and _is_within_word(text, start):
        # `monkey`, `compass`, but `samplekey` as well
        if strength == PASSWORD:
            return None, end
        strength = ATTACHED
    found, looked = _joined(text, start, end, strength)
    if found is None and (tail := _TAIL.match(text, end)) and tail.end() > end:
        found, further = _joined(text, start, tail.end(), strength)
        looked = max(looked, further)
    return found, looked


def _is_within_word(text: str, start: int) -> bool:
    """Whether the letters before go on in the same case, so that the name is the end of a longer word."""
    if not start or not text[start - 1].isalpha() or text[start - 1].islower() != text[start].islower():
        return False
    return not (start > 1 and text[start - 1] in "nrtb" and text[start - 2] == "\\")


def _joined(text: str, start: int, end: int, strength: str) -> tuple[tuple[int, int, str] | None, int]:
    join = _JOIN.match(text, end)
    if join is None:
        return None, end
    begin, quote = join.end(), join.group("open") or ""
    by = join.group("by").strip()
    quote = quote.lstrip("uUbBrRfFL@$[(")
    stop = _closing_quote(text, begin, quote) if quote else None
    if stop is None:
        stop = _bare_end(text, begin)
    value = text[begin : min(stop, begin + _MOST)]
    if not value or value.startswith("[secret") or stands_in(value):
        return None, stop
    if value[0].isdigit() and _FILE.search(text, start, end):
        # `test_password.py:1204`
        return None, stop
    head = _HEAD.search(text, max(0, start - 40), start)
    name = (head.group() if head else "") + text[start:end]
    if not _suspicious(value, strength, name, by, bool(quote), text, start):
        return None, stop
    if stop - begin >= _MOST - 8 and not quote and (rest := _REST.match(text, stop)):
        stop = rest.end()
    kind = (
        "password"
        if strength == PASSWORD
        else "token"
        if "token" in name.lower()
        else "secret"
        if strength == SECRET
        else "key"
    )
    return (begin, stop, kind), stop


def _bare_end(text: str, begin: int) -> int:
    bare = _BARE.match(text, begin)
    if bare is None:
        return begin
    stop = bare.end()
    while stop > begin and text[stop - 1] in ".:)]}":
        stop -= 1
    return stop


def _closing_quote(text: str, begin: int, quote: str) -> int | None:
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
    public = not _PUBLIC.isdisjoint(word.lower() for word in _WORD.findall(name))
    if strength == PASSWORD:
        if name.lower() in _AMBIGUOUS and (
            _NO_PASSWORD.match(value) or (_IDENTIFIER.match(value) and jumps(value) < 0.25)
        ):
            return False
        return _password(value, by, quoted, text, start) and not (wordy(value) and public)
    if " " in value:
        return False
    tight = by not in ("", "-", "_", ".", ",", "(")
    if public:
        return strength == SECRET and tight and random(value, 20)
    if symbolic(value) and (tight or quoted):
        return True
    if strength == SECRET:
        flag = by == "" and _FLAG.search(text, max(0, start - 44), start) is not None
        near = 10 if tight or quoted or flag else 12
        return (
            random(value, near)
            or mixed(value, near)
            or (grouped(value) and by != ".")
            or is_hex(value)
            or (
                quoted
                and tight
                and len(value) >= 16
                and (not wordy(value) or _JOINED_OUTRIGHT.match(value) is not None)
            )
            or (tight and len(value) >= 16 and value.isdigit() and not _is_timestamp_or_row(value, name))
        )
    if by == "" and "/" not in value and text[start : start + 3].isupper() and numbered(value, 14):
        # `ACCESS 1234…`: prose has such a word only before names and dates that people wrote.
        if _FILE.search(value):
            return False
        if round(jumps(value) * len(value)) >= 2:
            return True
    if by == "" and (strength == ATTACHED or "/" in value):
        return False
    if is_hex(value):
        return len(value) >= 20 and (tight or by in ("", "-"))
    return (
        random(value, 12 if name.isupper() and tight else 16)
        or mixed(value, 16 if tight or quoted else 20)
        or (tight and _OF_A_SERVICE.search(name) is not None and numbered(value))
        or (grouped(value) and by != ".")
    )


def _is_timestamp_or_row(value: str, name: str) -> bool:
    """Whether digits are a time in micro- or nanoseconds, or the number of a row."""
    return (value[0] == "1" and value[1] > "3" and len(value) in (16, 19)) or _WORD.findall(name)[-1:] in (
        ["id"],
        ["Id"],
        ["ID"],
    )


def _password(value: str, by: str, quoted: bool, text: str, start: int) -> bool:
    if by in ("-", "_", "."):
        return random(value, 12)
    flag = _FLAG.search(text, max(0, start - 44), start) is not None
    if quoted and by in ("=", ":", "=>", ":=") and not _LABEL.match(text, start) and _PHRASE.match(value):
        # A file of labels and messages says `"password": "reset link sent"`.
        return by in ("=", ":=") or text[start : start + 10].lower() == "passphrase" or value.count(" ") >= 3
    if by == "" and not quoted and not flag and not _NETRC.search(text, max(0, start - 100), start):
        return False
    if " " in value or not 4 <= len(value) <= 200:
        return False
    digit = any(map(str.isdigit, value))
    identifier = _IDENTIFIER.match(value) is not None
    if quoted and by in ("=", ":", "=>", ":=", "is", "was"):
        return not identifier or digit or value.isalpha()
    if by in (",", "(", "or", ""):
        return (digit and not identifier) or flag or random(value, 8) or (len(value) >= 16 and jumps(value) >= 0.2)
    if quoted:
        return digit or not identifier
    if not identifier:
        return True
    return digit or (by == "=" and value.isalpha() and _ENV_LINE.search(text, max(0, start - 60), start) is not None)
