"""Which lines of a session are worth their room: by the names on them, and where each name stands last.

What a next step needs is a name and the line that it stood on. So every name of a session has one home, the line that
it stood on last, and a line is worth the names at home on it. A name that the assistant or a person has said itself is
several times likelier to be used again than one that only stood in a tool's output (measured on recorded sessions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z_][\w./:-]{6,}")

SAID = 4.0
"""How much more a name is worth that the assistant or a person has said."""
AGAIN = 1.5
"""How much more one is worth that stood in several outputs."""
PATH = 0.4
"""How much a path is worth that only stood in an output: most of these come from listings."""
_LINE = 4
"""Tokens that a line costs beside its text."""


def names(text: str) -> list[str]:
    """The names in a text: identifiers, paths, long words."""
    return _NAME.findall(text)


@dataclass(frozen=True, slots=True)
class Source:
    """A text whose lines compete: ``place`` tells it from others, later ones are newer; ``weight`` is its own worth;
    ``said`` whether the assistant or a person said it."""

    place: int
    text: str
    weight: float = 1.0
    said: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source, what it is worth for its room, and how many tokens it takes."""

    place: int
    row: int
    text: str
    density: float
    tokens: int


def lines(sources: Sequence[Source], kept: Iterable[str] = (), longest: int = 320) -> list[Line]:
    """The lines of all sources that are worth anything, the best first. Names in the ``kept`` texts, which stay
    anyway, count nothing."""
    here = {name for text in kept for name in _NAME.findall(text)}
    said: set[str] = set()
    outputs: dict[str, int] = {}
    found: list[tuple[Source, int, str, list[str]]] = []
    for source in sources:
        of_source = set[str]()
        for row, text in enumerate(source.text.split("\n")):
            if on_it := _NAME.findall(text):
                found.append((source, row, text, on_it))
                of_source.update(on_it)
        if source.said:
            said |= of_source
        else:
            for name in of_source:
                outputs[name] = outputs.get(name, 0) + 1
    result = []
    for source, row, text, on_it in reversed(found):
        value = 0.0
        for name in on_it:
            if name not in here:
                here.add(name)
                value += _worth(name, said, outputs)
        if value:
            shown = text.strip()[:longest]
            tokens = len(shown) // 4 + 1
            result.append(Line(source.place, row, shown, source.weight * value / (tokens + _LINE), tokens))
    result.sort(key=lambda line: (-line.density, -line.place, line.row))
    return result


def _worth(name: str, said: set[str], outputs: Mapping[str, int]) -> float:
    if name in said:
        return SAID
    return (AGAIN if outputs.get(name, 0) > 1 else 1.0) * (PATH if "/" in name else 1.0)
