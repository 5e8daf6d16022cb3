"""The courtesies of what was said are left out of what recall shows from the next morning on: the same, for fewer
tokens.

Nothing of the text goes: it is searched whole and shown whole by its id. Only where nearly all of what a passage says
stays is anything left out, for in a short one the tone may be what it says; and recall counts what is left out as if it
stood there, so that a night makes it cheaper and does not change what is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory.fact import Gaps, Passage, without
from memory.language.courtesy import courtesies
from memory.language.words import stems

STAYS: Final = 0.8
"""The share of a passage's stems that must stay."""


@dataclass(frozen=True, slots=True)
class ShortenedPassage:
    """A passage of which recall leaves ``gaps`` out from now on: (start, end) in characters."""

    memory: str
    gaps: Gaps


def plain(passages: Iterable[Passage]) -> list[ShortenedPassage]:
    """What is to be left out of some passages."""
    return [
        ShortenedPassage(each.id, gaps)
        for each in passages
        if (gaps := courtesies(each.text)) and _stays(each.text, gaps)
    ]


def _stays(text: str, gaps: Gaps) -> bool:
    held = set(stems(text))
    return len(set(stems(without(text, gaps)))) >= STAYS * len(held) > 0
