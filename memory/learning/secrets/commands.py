"""Secrets on the command line: `curl -u me:…`, `docker login -p …`, `mysql -p…`, `vault login …`, `echo … | chpasswd`.

A command is read word by word from its program on, as a shell would, also where it stands in JSON or as a list of
arguments; which of its words carry a credential stands in ``programs``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory.learning.secrets.programs import ROWS, CredentialFlags
from memory.learning.secrets.values import stands_in

_MAX_COMMAND_CHARS = 1000
_MOST_WORDS = 80
_LEAST = 3
"""Characters that a credential has at least."""


class _Word(NamedTuple):
    """A word of a command without its quotes: where it begins and ends, and what it is."""

    start: int
    end: int
    text: str


_TABLE: dict[str, list[CredentialFlags]] = {}
for _row in ROWS:
    for _program in _row.programs.split():
        _TABLE.setdefault(_program, []).append(_row)


def _any_of(words: Sequence[str]) -> str:
    """A pattern of any of some words that looks at each letter once: side by side they would be tried one by one, at
    every place of every text."""
    by_head: dict[str, list[str]] = {}
    for word in words:
        by_head.setdefault(word[0], []).append(word[1:])
    branches = []
    for head, tails in sorted(by_head.items()):
        longer = [tail for tail in tails if tail]
        rest = _any_of(longer) if longer else ""
        branches.append(re.escape(head) + (f"(?:{rest})?" if rest and len(longer) < len(tails) else rest))
    return f"(?:{'|'.join(branches)})"


_PROGRAM = re.compile(rf"(?<![a-z0-9_.\-]){_any_of(tuple(_TABLE))}(?:\.exe)?(?=[ \t\"'\\])")
_GAP = re.compile(r"(?:[ \t]|\\{1,3}\r?\n|\\{3}n){1,200}")
_BARE = re.compile(r"(?:[^\s\"'`\\|;&<>()]|\\[^\s\\\"'nrt`]|\\{2,4}(?=[A-Z0-9])){1,300}")
_QUOTED = re.compile(r"(?P<quote>\\{0,8}[\"'])(?P<inner>[^\"'\\\n]{1,300})(?P=quote)")
_COMMA = re.compile(r"[ \t]{0,8},\s{0,40}")
_NAMED = re.compile(r"(?i)pass(?:word|wd|phrase)?\Z|pwd\Z|secret|token\Z|(?:api|access|private|secret)[_-]?key\Z")
# Not the credential but where it stands.
_ELSEWHERE = frozenset(("env", "file", "fd"))

_ENVIRONMENT = re.compile(
    r"(?<![A-Za-z0-9_])(?:SSHPASS|REDISCLI_AUTH|PGPASSWORD|MYSQL_PWD|LDAPPASS)="
    r"(?:\\{0,8}[\"'])?(?P<value>[^\s\"'\\`;|&]{3,200})"
)
_LONG_FLAG = re.compile(
    r"(?<![A-Za-z0-9_\-])--(?:[a-z]{1,20}-)?(?:password|passwd|passphrase)="
    r"(?:\\{0,8}[\"'])?(?P<value>[^\s\"'\\`;|&]{4,200})"
)
_PIPED = re.compile(
    r"\b(?:echo|printf)[ \t]{1,4}(?:-[en]{1,2}[ \t]{1,4})?(?:\\{0,8}[\"'])?"
    r"(?:[A-Za-z0-9_.\-]{1,40}:(?=[^|\n]{0,250}\|[^|\n]{0,60}chpasswd))?"
    r"(?P<value>[^\s\"'\\|$`]{4,200})(?:\\{0,8}[\"'])?[ \t]{0,4}\|[ \t]{0,4}"
    r"[^|\n]{0,100}?(?:--password-stdin|--passphrase-fd|sudo[ \t]{1,4}-S|passwd[ \t]{1,4}--stdin|chpasswd)"
)
_PLAIN_WORD = re.compile(r"[A-Z_]{2,40}\Z")


def find_commanded(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Credentials in commands: start, end, kind. ``lower`` is the text in lower case, of the same length."""
    # A line break in JSON is no letter before what begins a line.
    lines = text.replace("\\n", "\\\n")
    patterns = [_PIPED] if "|" in text and ("echo" in text or "printf" in text) else []
    if "pass" in lower or "AUTH=" in text or "PWD=" in text:
        patterns += [_ENVIRONMENT, _LONG_FLAG]
    for pattern in patterns:
        yield from ((*match.span("value"), "password") for match in pattern.finditer(lines) if _is_one(match["value"]))
    done = 0
    for hit in _PROGRAM.finditer(lower.replace("\\n", "\\\n")):
        if hit.start() < done:
            continue
        words, done = _words(text, hit.start(), hit.end())
        programs = [at for at, word in enumerate(words) if _name(word.text) in _TABLE]
        for at, following in zip(programs, [*programs[1:], len(words)], strict=True):
            for row in _TABLE[_name(words[at].text)]:
                yield from ((start, end, "password") for start, end in _carried(row, words[at + 1 : following]))


def _name(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe")


def _words(text: str, start: int, end: int) -> tuple[list[_Word], int]:
    """A command's words from its program on, and where they end."""
    words, reach = [_Word(start, end, text[start:end])], start + _MAX_COMMAND_CHARS
    quote = _opened(text, start)
    if quote and text.startswith(quote, end):
        return _arguments(text, words, end + len(quote), reach)
    at = end
    while at < reach and len(words) < _MOST_WORDS and (gap := _GAP.match(text, at)):
        word, at = _word(text, gap.end())
        if word is None:
            break
        words.append(word)
    return words, at


def _opened(text: str, start: int) -> str:
    """The quote that stands right before a program."""
    found = re.search(r"\\{0,8}[\"']\Z", text[max(0, start - 9) : start])
    return found.group() if found else ""


def _word(text: str, at: int) -> tuple[_Word | None, int]:
    """The word that begins here, without its quotes. A quote amid a word is its own only behind a flag or a sign; else
    it is the end of what the whole command stands in."""
    if quoted := _QUOTED.match(text, at):
        return _Word(*quoted.span("inner"), quoted["inner"]), quoted.end()
    bare = _BARE.match(text, at)
    if bare is None:
        return None, at
    if (bare.end() - at == 2 or text[bare.end() - 1] in "=:") and (quoted := _QUOTED.match(text, bare.end())):
        return _Word(at, quoted.end("inner"), bare.group() + quoted["inner"]), quoted.end()
    return _Word(at, bare.end(), bare.group()), bare.end()


def _arguments(text: str, words: list[_Word], at: int, reach: int) -> tuple[list[_Word], int]:
    """The words of a command that is written as a list of quoted arguments."""
    while at < reach and len(words) < _MOST_WORDS and (comma := _COMMA.match(text, at)):
        quoted = _QUOTED.match(text, comma.end())
        if quoted is None:
            break
        words.append(_Word(*quoted.span("inner"), quoted["inner"]))
        at = quoted.end()
    return words, at


def _carried(row: CredentialFlags, words: Sequence[_Word]) -> Iterator[tuple[int, int]]:
    """Where a command's credentials stand, by one row."""
    if row.after:
        if not words or words[0].text != row.after:
            return
        words = words[1:]
    nexts, splits, keys = row.next.split(), row.split.split(), row.keys.split()
    plain: list[_Word] = []
    taken = False
    for at, word in enumerate(words):
        if taken:
            taken = False
            continue
        following = words[at + 1] if at + 1 < len(words) else None
        flag, sign, rest = word.text.partition("=")
        if word.text in nexts and following:
            taken = True
            yield from _checked(following, following.text)
        elif sign and flag in nexts:
            yield from _checked(word, rest)
        elif word.text in splits or _cluster(word.text, splits):
            taken = following is not None
            yield from _behind(row.sign, following, following.text) if following else ()
        elif sign and flag in splits:
            yield from _behind(row.sign, word, rest)
        elif attached := next((flag for flag in row.attached.split() if word.text.startswith(flag)), ""):
            yield from _checked(word, word.text[len(attached) :].removeprefix("="))
        elif short := next((flag for flag in splits if len(flag) == 2 and word.text.startswith(flag)), ""):
            yield from _behind(row.sign, word, word.text[len(short) :])
        elif key := next((key for key in keys if word.text.startswith(key)), ""):
            yield from _checked(word, word.text[len(key) :])
        elif word.text[0] not in "-/" and not (row.place and "=" in word.text):
            plain.append(word)
    if row.place and len(plain) >= max(row.place, 1):
        lettered = any(re.fullmatch(rf"-[A-Za-z]{{0,8}}{row.letter}[A-Za-z]{{0,8}}", word.text) for word in words)
        chosen = plain[row.place - 1 if row.place > 0 else -1]
        if not row.letter or (lettered and len(plain) > 1):
            yield from _behind("/", chosen, chosen.text) if row.sign == "/" else _checked(chosen, chosen.text)


def _cluster(word: str, flags: Sequence[str]) -> bool:
    """Whether a word is several flags of a letter each, of which the last one takes the next word: `-sSLu`."""
    return 2 < len(word) <= 8 and word[0] == "-" and word[1:].isalpha() and f"-{word[-1]}" in flags


def _behind(sign: str, word: _Word, value: str) -> Iterator[tuple[int, int]]:
    """The credential behind a sign."""
    head, found, secret = value.partition(sign)
    if found and head not in _ELSEWHERE and (sign != "=" or _NAMED.search(head)):
        yield from _checked(word, secret)


def _checked(word: _Word, value: str) -> Iterator[tuple[int, int]]:
    """The span of a value at the end of a word, where it is a credential."""
    if _is_one(value):
        yield word.end - len(value), word.end


def _is_one(value: str) -> bool:
    """Whether this can be a credential, and not only its place or its name."""
    return len(value) >= _LEAST and value[0] not in "-$<{[%@," and not _PLAIN_WORD.match(value) and not stands_in(value)
