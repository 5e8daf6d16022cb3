"""Where two layers contradict each other, the nearest wins: what a person said in this project, then in all of theirs,
then what the project's people approved, then the organisation.

What loses is not shown beside what it lost to: a general rule is not in doubt because somebody made an exception. Two
facts of one layer are another matter, see ``doubt``. Only a person's own word wins over another layer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from memory.fact import Fact, State
from memory.language.contradiction import compare
from memory.language.terms import words_of
from memory.language.words import stems
from memory.scope import Layer

CLASH: Final = 0.75
"""How sure it must be that both cannot hold."""
COMMON: Final = 0.4
"""Share of the shorter one's words that two facts have in common, before they are compared at all."""

_ORDER: Final = {layer: place for place, layer in enumerate(Layer)}
_CHOICE: Final = re.compile(
    r"^(?:please |always |in this project,? |here,? |we )*(?P<verb>use|prefer|indent with|format with|"
    r"(?:answer|reply|respond|write|comment)(?: \w+){0,3}? in)\s+"
    r"(?P<value>[^,.;]{1,60}?)(?:\s+(?:for|in|as|when|to|with)\s+(?P<place>[^,.;]{1,80}))?[.!]?$",
    re.IGNORECASE,
)
"""An order to choose one thing where one can only be chosen."""
_ONLY_ONE: Final = ("answer", "reply", "respond", "write", "comment", "indent", "format")
"""How a verb begins that leaves but one choice, wherever it is."""


def nearest(facts: Sequence[Fact]) -> frozenset[str]:
    """The ids of the facts that lose to one of a nearer layer."""
    layers = {fact.layer for fact in facts}
    if len(layers) < 2:
        return frozenset()
    held = [fact for fact in facts if fact.state is State.ACTIVE]
    lost = set()
    for near in held:
        if not near.origin.trusted:
            continue
        for far in held:
            if _ORDER[near.layer] < _ORDER[far.layer] and far.id not in lost and _rivals(far.text, near.text):
                lost.add(far.id)
    return frozenset(lost)


@lru_cache(maxsize=4096)
def _rivals(far: str, near: str) -> bool:
    """Whether two facts cannot both be followed. The same pairs come up again and again."""
    first, second = words_of(far), words_of(near)
    if len(first & second) < COMMON * min(len(first), len(second)) or not first & second:
        return _other_choice(far, near)
    if compare(far, near).clash >= CLASH or compare(near, far).clash >= CLASH:
        return True
    return _other_choice(far, near)


def _other_choice(one: str, other: str) -> bool:
    """ "Use tabs for indentation" and "Use spaces for indentation"; not "Use pytest" and "Use ruff"."""
    first, second = _CHOICE.match(one.strip()), _CHOICE.match(other.strip())
    if not first or not second:
        return False
    verbs = [frozenset(stems(each["verb"])) for each in (first, second)]
    places = [frozenset(stems(each["place"] or "")) for each in (first, second)]
    values = [frozenset(stems(each["value"])) for each in (first, second)]
    if verbs[0] != verbs[1] or places[0] != places[1] or not values[0].isdisjoint(values[1]):
        return False
    return bool(places[0]) or first["verb"].lower().startswith(_ONLY_ONE)
