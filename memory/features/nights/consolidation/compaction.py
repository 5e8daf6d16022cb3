"""Old memories that nobody has read are put in short: recall shows their first sentence from then on.

Nothing of the text goes: it is searched whole, shown whole by its id, and recalled whole where what was asked for
stands behind the first sentence; and whoever uses it has it whole again. The same memory gives the same preview.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.fact import Fact, Passage
from memory.language.courtesy import courtesies
from memory.language.sentences import sentences

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
        if len(memory.text) > LONG and 0 < (length := _first(memory.text)) <= SHARE * len(memory.text)
    ]


def _first(text: str) -> int:
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
