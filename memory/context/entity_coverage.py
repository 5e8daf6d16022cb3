"""Which lines of a session are worth their room: by the names on them, and where each name stands last.

What a next step needs of what is far behind is a name and the line that it stood on. So every name of a session has
one home, the line that it stood on last, and a line is worth the names at home on it. All such lines are about a third
of a session's old text; the best tenth of the text holds two thirds of what recorded sessions went back to.

What stays of the parts that are shed: the lines that a next step is likeliest to need, chosen across all of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple, Protocol

from memory.actions import Place

_NAME = re.compile(r"[A-Za-z_][\w./:-]{6,}")
_NAME_IN_ASCII = re.compile(r"[A-Za-z_][A-Za-z0-9_./:-]{6,}")
"""The same where all is ASCII, and a third faster."""
_NO_PART_OF_A_NAME = re.compile(r"[^\w./:-]")

SPOKEN_NAME_WEIGHT = 4.0
"""How much more a name is worth that the assistant or a person has said (measured on recorded sessions: it is several
times likelier to be used again); times the square root of how often."""
AGAIN = 1.5
"""How much more one is worth that stood in several outputs."""
PATH = 0.4
"""How much a path is worth that only stood in an output: most of these come from listings."""

WORD = 1.5
"""How much more a plain word is worth: of all names it is the likeliest to be said again."""

MAX_LINE_CHARS = 400
"""Characters of a line beyond which only what stands around the names at home on it is kept."""
AROUND = 90
"""Characters to each side of a name that are kept of a longer line."""

PIECE = 2**16
"""Characters of a line that are searched at once: two milliseconds."""
LONGEST_NAME = 2**12
"""Characters before the end of a piece in which the end of a name is looked for: a longer one may be cut."""

READ = 1_000_000
"""Characters of texts of which it is remembered, twice over, which names stand where; about five bytes for each."""

_FRAME = 4
"""Tokens that a line costs beside its text."""


class NamePattern(Protocol):
    """What finds names, as compiled expressions do."""

    def findall(self, string: str, pos: int = ..., endpos: int = ..., /) -> list[str]:
        """All of them between two places."""


def names(text: str) -> list[str]:
    """The names in a text: identifiers, paths, long words."""
    return _NAME.findall(text)


def rows(text: str) -> Mapping[str, int]:
    """Every name in a text, with the last row that it stands on."""
    return _read.rows(text)


class _Read:
    """Texts that were read for their names: a session's are asked about again with every plan.

    In two generations of at most so many characters each: what is asked for stays young, what is not goes with the
    older one. Several threads may ask; the worst that comes of it is that a text is read twice.
    """

    def __init__(self, most: int, in_ascii: NamePattern = _NAME_IN_ASCII, in_any: NamePattern = _NAME) -> None:
        self._in_ascii, self._in_any = in_ascii, in_any
        self._most = most
        self._left = most
        self._young: dict[str, Mapping[str, int]] = {}
        self._old: dict[str, Mapping[str, int]] = {}

    def rows(self, text: str) -> Mapping[str, int]:
        found = self._young.get(text)
        if found is None:
            found = self._old.get(text)
            if found is None:
                pattern = self._in_ascii if text.isascii() else self._in_any
                # Most texts are short, and then no line of theirs need be asked how long it is.
                find = pattern.findall if len(text) <= PIECE else partial(_find_in_pieces, pattern)
                found = {name: row for row, line in enumerate(text.split("\n")) for name in find(line)}
            self._keep(text, found)
        return found

    def _keep(self, text: str, found: Mapping[str, int]) -> None:
        if len(text) > self._most // 8:
            return
        self._left -= len(text)
        if self._left < 0:
            self._young, self._old, self._left = {}, self._young, self._most - len(text)
        self._young[text] = found


def _find_in_pieces(pattern: NamePattern, line: str) -> Iterable[str]:
    """The names on a line; on a very long one piece by piece, since one search lets nobody else go on."""
    if len(line) <= PIECE:
        return pattern.findall(line)
    return chain.from_iterable(pattern.findall(line, start, end) for start, end in _spans_between_names(line))


def _spans_between_names(line: str) -> Iterable[tuple[int, int]]:
    """Where the pieces of a line begin and end: between names."""
    start = 0
    while len(line) - start > PIECE:
        end = start + PIECE
        between = end
        for found in _NO_PART_OF_A_NAME.finditer(line, end - LONGEST_NAME, end):
            between = found.end()
        yield start, between
        start = between
    yield start, len(line)


_read = _Read(READ)


class SessionPart(NamedTuple):
    """A part of a session, as it will stand or as it stood.

    ``competes`` says that its lines are chosen from; names at home in other parts stay anyway. ``said`` is whether
    the assistant or a person said it, ``weight`` its own worth.
    """

    place: Place
    text: str
    competes: bool = True
    said: bool = False
    weight: float = 1.0


class SourceLine(NamedTuple):
    """A line of a source, what it is worth for its room, and how many tokens it takes."""

    place: Place
    row: int
    text: str
    tokens: int


# A plan makes thousands of both, and so they are made in half the time; ``source`` takes a weight, too.
source: Callable[[tuple[Place, str, bool, bool, float]], SessionPart] = partial(tuple.__new__, SessionPart)
_line: Callable[[tuple[Place, int, str, int]], SourceLine] = partial(tuple.__new__, SourceLine)


def lines(sources: Sequence[SessionPart]) -> list[SourceLine]:
    """The lines of the competing sources that are worth anything, the best first.

    ``sources`` come in the order of the session.
    """
    found = [*map(_read.rows, [each.text for each in sources])]
    spoken_counts = _source_counts([on_it for each, on_it in zip(sources, found, strict=True) if each.said])
    printed = _source_counts([on_it for each, on_it in zip(sources, found, strict=True) if not each.said])
    # Each name of the session is looked at once; the last source that has it is its home.
    home = {name: number for number, on_it in enumerate(found) for name in on_it}
    at_home: list[dict[int, list[str]] | None] = [{} if each.competes else None for each in sources]
    for name, number in home.items():
        by_row = at_home[number]
        if by_row is not None:
            row = found[number][name]
            if row in by_row:
                by_row[row].append(name)
            else:
                by_row[row] = [name]
    result = []
    for each, by_row in zip(sources, at_home, strict=True):
        if by_row:
            place, text, _, _, weight = each
            (message, part), split = place, text.split("\n")
            for row, residents in by_row.items():
                shown = split[row].strip()
                if len(shown) > MAX_LINE_CHARS:
                    shown = shortened(shown, residents)
                tokens = len(shown) // 4 + 1
                density = weight * _worth(residents, spoken_counts, printed) / (tokens + _FRAME)
                # No two have the same place and row, so that the lines themselves are never compared.
                result.append((-density, -message, -part, row, _line((place, row, shown, tokens))))
    result.sort()
    return [ranked[4] for ranked in result]


def _source_counts(found: Iterable[Mapping[str, int]]) -> Counter[str]:
    return Counter(chain.from_iterable(found))


def shortened(line: str, residents: Iterable[str]) -> str:
    """A line as it is, or, where it is very long, what stands around the names at home on it."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    spans: list[tuple[int, int]] = []
    room = MAX_LINE_CHARS
    for at, length in sorted((line.rfind(name), len(name)) for name in residents):
        start, end = max(at - AROUND, 0), min(at + min(length, AROUND) + AROUND, len(line))
        if spans and start <= spans[-1][1]:
            room -= end - spans[-1][1]
            spans[-1] = spans[-1][0], end
        else:
            room -= end - start
            spans.append((start, end))
        if room <= 0:
            break
    return " … ".join(line[start:end] for start, end in spans)


def _worth(residents: Iterable[str], spoken_counts: Mapping[str, int], printed: Mapping[str, int]) -> float:
    """What the names are worth that are at home on a line."""
    value, spoken_count = 0.0, spoken_counts.get
    for name in residents:
        times = spoken_count(name)
        if times:
            worth = SPOKEN_NAME_WEIGHT * math.sqrt(times)
        else:
            worth = (AGAIN if printed[name] > 1 else 1.0) * (PATH if "/" in name else 1.0)
        value += worth * WORD if name.islower() and name.isalpha() else worth
    return value


SHARE = 0.35
"""The share of what leaves now that may stay as lines."""

SLACK = 1.2
"""By how much the lines may pass their budget before older parts give some of theirs up: doing that moves the prefix
from further in front."""

SHRUNK = 0.95
"""An older part's lines are only changed when they become shorter than this share."""


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The lines that stay, as text: of the parts that leave now, and of older ones that give some up."""

    new: Mapping[Place, str]
    fewer: Mapping[Place, str]


def excerpts(
    sources: Sequence[SessionPart],
    new: Collection[Place],
    old: Mapping[Place, str],
    removed: int,
    most: int,
    more: int = 0,
) -> Excerpts:
    """Choose among the lines of the competing sources.

    ``new`` are the parts that leave now, ``removed`` their tokens, ``old`` what stays of the parts that left before
    (their sources hold nothing else), ``most`` the tokens of all lines together and ``more`` what
    there may be beyond that and beyond :data:`SHARE` for once.
    """
    standing = sum(len(text) for text in old.values()) // 4
    wished = min(int(removed * SHARE), most)
    again = standing + wished > most * SLACK
    room = (most if again else wished) + more
    chosen: dict[Place, list[SourceLine]] = {}
    for line in lines(sources):
        if (again or line.place in new) and line.tokens < room:
            room -= line.tokens + 1
            chosen.setdefault(line.place, []).append(line)
    texts = {place: _joined(found) for place, found in chosen.items()}
    fewer = {}
    if again:
        for place, text in old.items():
            left = texts.get(place, "")
            if len(left) < len(text) * SHRUNK:
                fewer[place] = left
    return Excerpts({place: texts[place] for place in new if place in texts}, fewer)


def _joined(found: Sequence[SourceLine]) -> str:
    """Lines in their order, one under the other, with a mark where others stood between them."""
    shown: list[str] = []
    last = None
    for line in sorted(found, key=lambda line: line.row):
        if last is not None and line.row != last + 1:
            shown.append(GAP)
        shown.append(line.text)
        last = line.row
    return "\n".join(shown)


GAP = "…"
"""Stands where lines were left out."""
