"""The same thing once: near-identical memories are dropped, and likeness to what was chosen costs rank (MMR).

Where two layers contradict each other, the nearest wins: what a person said in this project, then in all of theirs,
then what the project's people approved, then the organisation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.context.rank import Scored
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
            if _ORDER[near.layer] < _ORDER[far.layer] and far.id not in lost and _are_rivals(far.text, near.text):
                lost.add(far.id)
    return frozenset(lost)


@lru_cache(maxsize=4096)
def _are_rivals(far: str, near: str) -> bool:
    """Whether two facts cannot both be followed. The same pairs come up again and again."""
    first, second = words_of(far), words_of(near)
    if len(first & second) < COMMON * min(len(first), len(second)) or not first & second:
        return _choose_differently(far, near)
    if compare(far, near).clash >= CLASH or compare(near, far).clash >= CLASH:
        return True
    return _choose_differently(far, near)


def _choose_differently(one: str, other: str) -> bool:
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


_Worded = tuple[Scored, frozenset[int]]

_HELD: Final = 0.7
"""The share of a fact's words that a passage must hold to stand for it (dates in facts are written out)."""
_DENIES: Final = re.compile(r"\b(?:no|not|never|cannot)\b|n['’]t\b", re.IGNORECASE)
"""What turns a text around without being one of its words."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """``likeness`` is how much of a score is lost to a whole likeness with something better; ``same`` is the share
    of words from which on two memories are the same; only the best ``considered`` are compared."""

    likeness: float = 0.2
    same: float = 0.85
    considered: int = 40
    settled: int = 24
    """The best of which no two may contradict each other over layers: more of them are never shown at once."""


DIVERSITY = Diversity()


def diverse(scored: Sequence[Scored], diversity: Diversity = DIVERSITY) -> list[Scored]:
    """The best memories in the order in which they should be taken, near-identical ones once, and of the best that
    contradict each other over layers the nearest."""
    taken = _diverse(scored, diversity)
    lost = nearest([each.memory for each in taken[: diversity.settled] if isinstance(each.memory, Fact)])
    return [each for each in taken if each.id not in lost] if lost else taken


def _diverse(scored: Sequence[Scored], diversity: Diversity) -> list[Scored]:
    pool = _facts_in_context([(each, words_of(each.memory.text)) for each in islice(scored, diversity.considered)])
    if not pool:
        return []
    alike = _jaccard_similarities([words for _, words in pool])
    the_same = _without_contradictions(pool, alike >= diversity.same)
    several = (the_same.sum(axis=1) > 1).tolist()
    scores = np.array([each.score for each, _ in pool])  # what is taken, or the same as it, is worth less than anything
    # What each leaves of the others' scores; sixty rounds of few steps, because they are a good part of a search.
    leaves = 1.0 - diversity.likeness * alike
    left = np.ones(len(pool))
    worth = scores.copy()
    taken: list[Scored] = []
    while True:
        best = int(worth.argmax())
        if worth[best] == -np.inf:
            return taken
        taken.append(pool[best][0])
        if several[best]:
            scores[the_same[best]] = -np.inf
        scores[best] = -np.inf
        np.minimum(left, leaves[best], out=left)
        np.multiply(scores, left, out=worth)


def _without_contradictions(pool: Sequence[_Worded], the_same: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which are the same, without those of which one denies what the other says: "it is Bo", "it is not Bo"."""
    several = np.flatnonzero(the_same.sum(axis=1) > 1)
    if several.size:
        denies = np.zeros(len(pool), dtype=bool)
        denies[several] = [len(_DENIES.findall(pool[place][0].memory.text)) % 2 for place in several.tolist()]
        the_same &= denies[:, None] == denies[None, :]
    return the_same


def _jaccard_similarities(texts: Sequence[frozenset[int]]) -> NDArray[np.float64]:
    """Every text with every other: the share of their words that they have in common (Jaccard)."""
    # Numbers for the words, by a dictionary: there are a few hundred, for which sorting them takes longer.
    numbers = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(texts)))}
    places = [numbers[word] for word in chain.from_iterable(texts)]
    holds = np.zeros((len(texts), len(numbers)), dtype=np.float32)
    holds[np.arange(len(texts)).repeat(list(map(len, texts))), places] = 1.0
    shared = (holds @ holds.T).astype(np.float64)
    sizes = shared.diagonal()
    return shared / np.maximum(sizes[:, None] + sizes[None, :] - shared, 1.0)


def _facts_in_context(pool: list[_Worded]) -> list[_Worded]:
    """The pool without the facts whose own words stand in it in a passage of the same message.

    The passage says it in its context; it takes the better score of the two. What was superseded stands for itself,
    and what is contested in the passage's place.
    """
    passages: dict[bytes, list[int]] = {}
    facts: list[tuple[int, Fact]] = []
    for index, (each, _) in enumerate(pool):
        if isinstance(memory := each.memory, Fact):
            facts.append((index, memory))
        else:
            passages.setdefault(memory.source, []).append(index)
    remaining: list[_Worded | None] = list(pool)
    held: list[tuple[int, int]] = []
    contested: dict[int, frozenset[int]] = {}
    for index, fact in facts:
        if fact.source not in passages or fact.state is State.SUPERSEDED:
            continue
        each, terms = pool[index]
        for place in passages[fact.source]:
            holder, wording = pool[place]
            if len(terms & wording) >= _HELD * len(terms):
                if fact.contradicts:
                    remaining[index] = (each._replace(score=max(each.score, holder.score)), terms)
                    contested[place] = contested.get(place, frozenset()) | terms
                else:
                    held.append((index, place))
                break
    for place, terms in contested.items():
        # The passage does not say that there is another side to it; what else it says must not go with it.
        wording = pool[place][1]
        if len(terms & wording) >= _HELD * len(wording):
            remaining[place] = None
    for index, place in held:
        own, standing = pool[index][0], remaining[place]
        if standing is not None:
            remaining[index] = None
            if own.score > standing[0].score:
                remaining[place] = (standing[0]._replace(score=own.score), standing[1])
    return [each for each in remaining if each is not None]


def same(left: frozenset[int], right: frozenset[int], share: float = DIVERSITY.same) -> bool:
    """Whether two texts say the same by their words."""
    return len(left & right) >= share * len(left | right)
