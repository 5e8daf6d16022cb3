"""What a person has changed in a file of the page: lines that are new, that say something else, that are gone.

The file is compared with the marks of the lines that were written into it last, so that it does not matter what has
become of the facts meanwhile. What cannot be understood is told with its line, and is nobody's to throw away.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from memory.context.page import UNSETTLED
from memory.language.terms import words_of

LONGEST: Final = 600
"""Characters of a line that can become a fact."""
MOST: Final = 100
"""Lines that are taken at once; whatever pastes more did not mean a page."""
SPARED: Final = 4
"""So many lines may go at once, however few there are."""

_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s{1,8}")
_NOT = re.compile(r" \(not: [^()]*\)$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, from 1, and what it says, free of its marker."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Odd:
    """A line that cannot be taken, and why; it is kept as text."""

    number: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What was changed. ``changed`` and ``gone`` name the facts; ``accident`` says why nothing of it is believed."""

    added: tuple[Line, ...] = ()
    changed: tuple[tuple[str, Line], ...] = ()
    gone: tuple[str, ...] = ()
    odd: tuple[Odd, ...] = ()
    accident: str = ""

    @property
    def nothing(self) -> bool:
        """Whether the file is as it was written."""
        return not (self.added or self.changed or self.gone or self.odd or self.accident)


def mark_of(line: str) -> str:
    """What is kept of a line that was written, to know it again: 16 hexadecimal digits."""
    return hashlib.blake2b(" ".join(line.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def edited(made: Sequence[tuple[str, str]], text: str, told: Mapping[str, str]) -> Edited:
    """What a person has changed in a file. ``made`` are the ids and marks of the lines that were written into it, in
    order; ``told`` are the facts' texts by id, as far as there are."""
    lines, odd = _lines(text)
    marks, now = [mark for _, mark in made], [mark_of(f"- {line.text}") for line in lines]
    if marks == now and not odd:
        return Edited()
    added: list[Line] = []
    changed: list[tuple[str, Line]] = []
    gone: list[str] = []
    matcher = SequenceMatcher(None, marks, now, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            continue
        new, old = lines[c:d], [id for id, _ in made[a:b]]
        for id in old:
            like = [line for line in new if _like(told.get(id, ""), line.text)]
            if like:
                changed.append((id, like[0]))
                new.remove(like[0])
            else:
                gone.append(id)
        added += new
    # A line that was only moved is neither gone nor new.
    moved = {mark: line for mark, line in zip(now, lines, strict=True) if line in added}
    for id, mark in made:
        if id in gone and mark in moved:
            gone.remove(id)
            added.remove(moved.pop(mark))
    if len(gone) > SPARED and 2 * len(gone) > len(made):
        return Edited(accident=f"{len(gone)} of {len(made)} lines are gone at once")
    if len(added) > MOST:
        return Edited(accident=f"{len(added)} lines are new at once, and {MOST} are taken at most")
    return Edited(tuple(added), tuple(changed), tuple(gone), tuple(odd))


def said_in(line: str) -> str:
    """What a line of the page says, free of what we put behind it."""
    return _NOT.sub("", line.strip().removesuffix(UNSETTLED)).strip()


def _lines(text: str) -> tuple[list[Line], list[Odd]]:
    """The lines that say something, each with what continues it, and those that are none."""
    found: list[Line] = []
    odd: list[Odd] = []
    comment = False
    for number, raw in enumerate(text.split("\n"), 1):
        body = raw.strip()
        comment = comment or body.startswith("<!--")
        if comment or not body or body.startswith("#"):
            comment = comment and "-->" not in body
            continue
        marker = _ITEM.match(raw)
        if not marker and raw.startswith("  ") and found:
            found[-1] = Line(found[-1].number, f"{found[-1].text} {body}")
            continue
        said = raw[marker.end() :].strip() if marker else body
        why = _why_odd(said)
        if why:
            odd.append(Odd(number, raw.rstrip(), why))
        else:
            found.append(Line(number, said))
    return found, odd


def _why_odd(said: str) -> str:
    if _CONTROL.search(said):
        return "it holds characters that are no text"
    if len(said) > LONGEST:
        return f"it has {len(said)} characters; a line has {LONGEST} at most"
    if len(_WORD.findall(said)) < 2:
        return "it says nothing that could be remembered"
    return ""


def _like(old: str, new: str) -> bool:
    """Whether a line may be what another one was changed to: they have a third of the shorter one's words in common."""
    one, other = words_of(old), words_of(new)
    return bool(one and other) and 3 * len(one & other) >= min(len(one), len(other))
