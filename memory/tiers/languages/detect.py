"""Which language a text is in: by its path, else by its first line, else by a cheap guess at its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memory.tiers.languages.table import LANGUAGES


def _by_word(kind: str) -> dict[str, str]:
    """The languages by the words of one kind that they are known by."""
    return {word: name for name, told in LANGUAGES.items() for word in told.get(kind, "").split()}


_BY_EXTENSION = _by_word("extensions")
_BY_NAME = _by_word("names")
_INTERPRETERS = _by_word("interpreters")
_SAYINGS = [(name, re.compile(told["says"])) for name, told in LANGUAGES.items() if "says" in told]
_LOOKED_AT = 200
_ENOUGH = 3

# A command that shows a file, and the files that it may show.
_SHOWING = re.compile(
    r"(?:^|[;&|(\n])[^\S\n]*+(?:sudo )?(?:cat|sed -n|head|tail|nl|bat|batcat|less|more|awk|git show)\b"
)
_FILE = re.compile(r"(?<![\w@%+=~./\\:-])[\w@%+=~./\\:-]*\.[A-Za-z0-9+]{1,11}\b")


def by_path(path: str) -> str | None:
    """The language that a file's name tells, None where it tells none, or one that is not code."""
    name = re.split(r"[/\\]", path.strip().rstrip("/\\"))[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.startswith("dockerfile"):
        return "docker"
    return _BY_EXTENSION.get(name.rpartition(".")[2]) if "." in name else None


def is_named(path: str) -> bool:
    """Whether the path names a kind of file at all, be it code or not."""
    return "." in re.split(r"[/\\]", path.strip())[-1].lstrip(".")


def shown_by(command: str) -> str:
    """The first file that a shell command prints, empty where it prints none."""
    showing = _SHOWING.search(command[:2000])
    if showing is None:
        return ""
    shown = _FILE.search(command[showing.end() : 2000])
    return shown[0] if shown else ""


def by_lines(lines: Sequence[str]) -> str | None:
    """The language that a text's own lines tell: a shebang, else at least three sayings of one language."""
    first = next((line for line in lines if line.strip()), "")[:200]
    if first.startswith("#!"):
        for word in re.findall(r"[a-z]+", first):
            if word in _INTERPRETERS:
                return _INTERPRETERS[word]
    counts: Counter[str] = Counter()
    looked = 0
    for line in lines:
        bare = line.strip()
        if not bare or len(bare) > 300:
            continue
        looked += 1
        for name, pattern in _SAYINGS:
            if pattern.match(bare):
                counts[name] += 1
                break
        if looked == _LOOKED_AT:
            break
    if not counts:
        return None
    name, count = counts.most_common(1)[0]
    return name if count >= _ENOUGH and count * 20 >= looked else None
