"""What a request tells only in part: of a long statement the page gives the core, and the rest was never told.

Who asks for what the page says has the answer there; who asks for what it leaves out needs the statement. Most of what
is left out are reasons, so a question for one needs it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from memory.context.lexical import WeightedQuery
from memory.context.page import left_out
from memory.context.rank import Memory
from memory.fact import Fact
from memory.language.terms import words_of

COVERS: Final = 0.25
"""The share of a question, by the rarity of its words, beyond which it is about what has these words."""


def untold(
    memories: Iterable[Memory],
    present: Mapping[str, str],
    weighed: WeightedQuery,
    *,
    asks_why: bool = False,
    covers: float = COVERS,
) -> dict[str, str]:
    """By their ids the facts among some memories that a request tells only in part and a question is about what it
    leaves out of them: that rest, or, to a question for reasons, the statement.

    ``present`` gives by the id of each memory in the request the text that it stands in, none where it stands there
    whole for certain. The question's share of words that only the rest has must be more than ``covers``.
    """
    found: dict[str, str] = {}
    shown = ""
    for memory in memories:
        # Few of what was found stand there, and few of those can be told in part: for all others this calls nothing.
        if memory.id not in present or not present[memory.id] or memory.__class__ is not Fact:
            continue
        if not memory.core and memory.text[-1:] != "]":
            continue
        words = words_of(memory.text) if asks_why else words_of(memory.text) - words_of(memory.core)
        if words.isdisjoint(weighed.sparse):
            continue
        # The passage that the fact was learnt from may stand there, and tell it whole.
        shown = shown or "\n".join(dict.fromkeys(present.values()))
        told, rest = left_out(memory, shown)
        if not rest:
            continue
        told, rest = ("", memory.text) if asks_why else (told, rest)
        new = words_of(rest) - words_of(told)
        if weighed.coverage(sum(weight for number, weight in weighed.sparse.items() if number in new)) > covers:
            found[memory.id] = rest
    return found
