"""An error's signature: its own lines in normal form, hashed, so that the same error is known again weeks later.

What differs from one run to the next is taken out: paths, numbers, hashes, times, places in a file, colours. A line
that says no more than that something failed ("exit code 1", "2 tests failed") is no key. Nothing but hashes and a label
(the error's class or code, an identifier) leaves this module: the text is a tool's and may be anybody's.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from memory.behaviour import Key
from memory.language.printed import printed

HEAD: Final = 2000
TAIL: Final = 6000
"""Characters of an output that are read, at its beginning and at its end."""
MOST: Final = 4
"""Keys of one output: half of its first error lines, half of its last."""
_READ: Final = 6
"""Error lines that are read at either end: a request waits for it."""
_MAX_LINE_CHARS: Final = 400
"""Characters of a line that are read."""
_SPECIFIC: Final = 3
"""Telling words from which on a line alone tells which error it is; an identifier counts twice."""
_LAST: Final = 12
"""Lines at the end of an output that must show an error where nothing else says that it failed."""


@dataclass(frozen=True, slots=True)
class ErrorSignature:
    """What an output shows to have gone wrong. ``lines`` are the error's own lines as they stood, for a person."""

    keys: tuple[Key, ...] = ()
    label: str = ""
    lines: tuple[str, ...] = ()


NONE: Final = ErrorSignature()


def signature(text: str, failed: bool) -> ErrorSignature:
    """The signature of an output; empty where it shows no error. ``failed``: the runtime says that it failed; where it
    does not, the output's last lines must say so plainly."""
    text = printed(text)
    cut = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    if not failed and not shows_error(cut):
        return NONE
    found: dict[bytes, tuple[Key, str]] = {}
    label = ""
    for line in _error_lines(cut):
        key = key_of(line)
        if key is not None:
            found.setdefault(key.hash, (key, line))
        if named := _CLASS.search(line):
            label = named[0]
    keys = list(found.values())
    if len(keys) > MOST:
        keys = [*keys[: MOST // 2], *keys[-MOST // 2 :]]
    return ErrorSignature(tuple(key for key, _ in keys), label, tuple(line for _, line in keys))


def shows_error(text: str) -> bool:
    """Whether the end of an output says plainly that something went wrong."""
    lines = printed(text)[-TAIL:].rstrip().splitlines()[-_LAST:]
    return any(
        _PLAIN.match(line[:_MAX_LINE_CHARS]) and not _NO_ERROR.search(line, 0, _MAX_LINE_CHARS) for line in lines
    )


@lru_cache(maxsize=4096)
def key_of(line: str) -> Key | None:
    """The key of an error's line; None where the line says nothing of its own."""
    plain = normal(line, keep_names=False)
    weight = _count_telling_words(plain)
    if weight < _SPECIFIC:
        # "Cannot find module <path>": without the file's own name it says nothing.
        plain = normal(line, keep_names=True)
        weight = _count_telling_words(plain)
    if not weight:
        return None
    return Key(hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=16).digest(), weight >= _SPECIFIC)


def normal(line: str, *, keep_names: bool) -> str:
    """A line without what differs from one run to the next. ``keep_names``: of a path its last part stays."""
    text = _ANSI.sub("", line[:_MAX_LINE_CHARS])
    text = _PREFIX.sub("", text)
    text = _URL.sub("<url>", text)
    text = _TIME.sub("#", text)
    text = _PATH.sub(_named if keep_names else "<path>", text)
    text = _HEX.sub("#", text)
    text = _NUMBER.sub("#", text)
    return " ".join(text.lower().split())


def _named(found: re.Match[str]) -> str:
    name = re.split(r"[/\\]", found[0].rstrip("/\\"))[-1]
    return f"<path>/{name}"


def _error_lines(text: str) -> list[str]:
    """The lines that tell what went wrong: the first ones and the last ones, in their order."""
    lines = text.splitlines()
    first = list(islice((place for place in range(len(lines)) if _tells(lines[place])), _READ))
    last = list(islice((place for place in range(len(lines) - 1, -1, -1) if _tells(lines[place])), _READ))
    return [lines[place].strip()[:_MAX_LINE_CHARS] for place in sorted({*first, *last})]


def _tells(line: str) -> bool:
    return (
        len(line) > 4
        and bool(_SAYS.search(line, 0, _MAX_LINE_CHARS))
        and not _NO_ERROR.search(line, 0, _MAX_LINE_CHARS)
    )


def _count_telling_words(line: str) -> int:
    """How many telling words a line has; an identifier counts twice."""
    weight = 0
    for word in dict.fromkeys(_WORD.findall(line)):
        if len(word) < 2 or word in _GENERIC:
            continue
        weight += 2 if "_" in word or "." in word or "-" in word or any(c.isdigit() for c in word) else 1
    return weight


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# A log's time and level, a shell's own name, a place in a file, a pytest or cargo mark.
_PREFIX = re.compile(
    r"^(?:\s|E\s{2,}|\d{4}-\d\d-\d\d[T ][\d:.,Z+-]+\s|\d\d:\d\d:\d\d[\d.,]*\s|\[[\w .:/+-]{1,40}\]\s|"
    r"(?:/?(?:usr/)?bin/)?(?:ba|z|da)?sh: (?:line \d+: |\d+: )?|"
    r"(?:Output|Stdout|Stderr|stdout|stderr): |"
    r"(?:[A-Za-z]:)?[\w./\\@~-]{1,160}[:(]\d+(?:[:,]\d+)?\)?:?\s?-?\s)+"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,12}://[^\s'\"<>)\]]{1,300}")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?[\d.,]*(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d:\d\d[\d.,]*"
)
_PATH = re.compile(r"(?:\b[A-Za-z]:\\|~?\.{0,2}[/\\])(?:[\w.@+~-]+[/\\]?)+|\b[\w.@+~-]+(?:/[\w.@+~-]+)+/?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?=[a-fA-F]*\d)[0-9a-fA-F]{7,64}\b")  # fmt: skip
_NUMBER = re.compile(r"(?<![A-Za-z_\d])\d+(?:\.\d+)*(?:[a-z]{1,3}\b)?")
_WORD = re.compile(r"[a-z_][\w.-]*\w|[a-z]")
_CLASS = re.compile(
    r"\b(?:[A-Z][A-Za-z]{2,50}(?:Error|Exception|Failure|Warning|Interrupt)|E[A-Z]{4,20}|[A-Z]{1,4}\d{3,5})\b"
)
_SAYS = re.compile(
    r"rror\b|rror:|xception|ailed|ailure|\bFAIL|atal|anic|ot found|o such|enied|efused|annot|an't|ould not|ndefined"
    r"|nvalid|imed out|imeout|onflict|nable to|nknown|issing|nrecognized|in use|ot defined|ot permitted|unresolved"
    r"|Unexpected|unexpected|not ok|does not|doesn't|isn't|is not|no module|No module|xpected|ERR!|E\d{3,4}\b",
)
_NO_ERROR = re.compile(
    r"\b(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?|problems)\b"
    r"|^\s*(?:std)?err(?:or)?s?:\s*(?:\(?(?:none|empty|null|0)\)?)?\s*$",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"\s{0,4}(?:E\s{2,})?(?:[\w.]*(?:Error|Exception)\b(?::|\s*$)|error(?:\[\w+\])?:|ERROR\b|Error:|fatal:|FATAL\b"
    r"|panic:|Traceback \(|FAILED?\b|BUILD FAILED|npm (?:ERR!|error)|make: \*\*\*|.{1,80}: (?:command )?not found\s*$"
    r"|.{1,80}: (?:No such file or directory|Permission denied)\s*$|\S{1,120}:\d+(?::\d+)?:? (?:fatal )?error\b"
    r"|.{0,120}?\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Pp]anic)(?:\[\w+\])?: (?!\(none\)|0\b|none\b)\S"
    r"|Segmentation fault|Process exited with code [1-9]|[Ee]xit(?:ed with)?(?: [Cc]ode| status)?:? [1-9]\d{0,2}\s*$)"
)
_GENERIC_WORDS = (
    "error errors err fail fails failed failing failure failures exception fatal cannot can could not no such file "
    "files directory found the an of in to at with on by for from is was were be been are as it this that and or code "
    "exit exited status command commands line lines traceback most recent call last warning warnings process returned "
    "non zero npm make makefile all test tests testing suite suites assertionerror assert assertion expected got want "
    "have actual panic build run running step job task target see above below more info details log logs please try "
    "again unable invalid unexpected missing unknown path url module ok ms passed skipped total does did do done "
    "stderr stdout output input value values true false none null nil undefined string type object has had elifecycle "
    "recipe stack trace bash sh zsh python node cause caused due reason message result results received signal killed "
    "terminated aborted doesn"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
