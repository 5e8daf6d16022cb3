"""Old memories that nobody has read are put in short: recall shows their first sentence from then on.

Nothing of the text goes: it is searched whole, shown whole by its id, and recalled whole where what was asked for
stands behind the first sentence; and whoever uses it has it whole again. The same memory gives the same preview.

The courtesies of what was said are left out of what recall shows from the next morning on: the same, for fewer
tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.fact import Fact, Gaps, Passage, without
from memory.language.courtesy import courtesies
from memory.language.sentences import sentences
from memory.language.words import stems

LONG: Final = 160
"""Characters from which on a memory is worth shortening."""
SHARE: Final = 0.6
"""The share of a memory that its preview has at most."""
LEAST: Final = 24
"""Characters of a first sentence that says something: "Yes." does not, and no courtesy does."""


@dataclass(frozen=True, slots=True)
class ShortenedMemory:
    """A memory of which recall shows ``characters`` from now on."""

    memory: str
    characters: int


def compact(unread: Sequence[Fact | Passage]) -> list[ShortenedMemory]:
    """What becomes of memories that are old and unread."""
    return [
        ShortenedMemory(memory.id, length)
        for memory in unread
        if len(memory.text) > LONG and 0 < (length := _end_of_first_sentence(memory.text)) <= SHARE * len(memory.text)
    ]


def _end_of_first_sentence(text: str) -> int:
    """Where the first sentence that says something ends; 0 where none is found."""
    end, polite = 0, courtesies(text)
    for sentence in sentences(text):
        at = text.find(sentence, end)
        if at < 0:
            return 0
        end = at + len(sentence)
        if end - sum(min(stop, end) - start for start, stop in polite if start < end) >= LEAST:
            return end
    return 0


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
