"""Which rules of a project go on about one subject: they were said in several sessions, in ever other words.

Whoever corrects an agent again and again hardly says the same sentence twice ("a print can't do that", "print has no
business here"), so that no two of them say the same; but a word comes back, and what is said with it is related. A word
that many facts of the project have names no subject.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Final

from memory.fact import Fact, FactKind, Sensitivity, State
from memory.language.polarity import without_aside
from memory.language.words import stems
from memory.scope import Layer
from memory.understanding.encoder import Relation

Relate = Callable[[Sequence[tuple[str, str]]], Sequence[Relation]]
"""Reads how the second statement of each pair stands to the first."""

FEWEST: Final = 3
"""Rules that make a subject, each of them said in another session than two others."""
SAID: Final = 2
"""How many of them must have been said as rules; plain facts may bear them out."""
MOST: Final = 10
"""Facts of one word that are read, the newest."""
SUBJECTS: Final = 20
"""Words that are looked at in one night at most, those that the most facts have."""
COMMON: Final = 0.34
"""The share of a project's facts from which on a word that they have names no subject, where there are many of them."""
MANY: Final = 18
TEXTS: Final = 5000
"""Facts of a project that are looked through, the newest."""
UNRELATED: Final = 0.25
"""How likely half of the pairs may at most be to have nothing to do with each other."""
OUTSIDER: Final = 0.5
"""And how likely that may be of one fact and the rest, on the average."""
_RULES: Final = (
    FactKind.CORRECTION,
    FactKind.CONVENTION,
    FactKind.DECISION,
    FactKind.PREFERENCE,
    FactKind.ANTI_PATTERN,
    FactKind.HEURISTIC,
)


def sharing_a_word(texts: Sequence[tuple[str, str]], new: Collection[str]) -> list[tuple[str, ...]]:
    """The ids of facts that have a word in common that one of the new ones has, the largest groups first. ``texts`` are
    a project's facts, oldest first, with their ids."""
    texts = texts[-TEXTS:]
    having: dict[str, list[str]] = defaultdict(list)
    wanted: set[str] = set()
    for id, text in texts:
        own = set(stems(without_aside(text)))
        for word in own:
            having[word].append(id)
        if id in new:
            wanted |= own
    most = len(texts) if len(texts) < MANY else COMMON * len(texts)
    found = {tuple(having[word][-MOST:]) for word in wanted if FEWEST <= len(having[word]) <= most}
    return sorted(found, key=lambda ids: (-len(ids), ids))[:SUBJECTS]


def recurring_subjects(
    groups: Sequence[tuple[str, ...]], facts: Mapping[str, Fact], relate: Relate, sessions: int
) -> list[tuple[str, ...]]:
    """Of groups of facts those that are rules about one subject, said in at least so many sessions; the ids of each
    group, oldest first, and no fact in two of them."""
    found: list[list[Fact]] = []
    for ids in groups:
        rules = [fact for id in ids if (fact := facts.get(id)) is not None and _may_be(fact)]
        known = next((place for place, other in enumerate(found) if any(fact in other for fact in rules)), None)
        if known is not None:
            # What shares a fact with a subject goes on about it, or is about something else.
            both = _related([*found[known], *(fact for fact in rules if fact not in found[known])], relate)
            if len(both) > len(found[known]):
                found[known] = both
                continue
            rules = [fact for fact in rules if all(fact not in other for other in found)]
        rules = _related(rules, relate)
        if len({fact.session for fact in rules}) >= sessions and sum(fact.kind in _RULES for fact in rules) >= SAID:
            found.append(rules)
    return [tuple(fact.id for fact in sorted(rules, key=lambda each: (each.recorded_at, each.id))) for rules in found]


def _related(rules: Sequence[Fact], relate: Relate) -> list[Fact]:
    """The rules that have to do with each other; none where too few have."""
    if len(rules) < FEWEST:
        return []
    rules = sorted(rules, key=lambda fact: (fact.recorded_at, fact.id))
    pairs = list(combinations(range(len(rules)), 2))
    texts = [without_aside(fact.text) for fact in rules]
    relations = relate([(texts[one], texts[other]) for one, other in pairs])
    unrelated = {pair: relation.unrelated for pair, relation in zip(pairs, relations, strict=True)}

    def apart(place: int) -> float:
        own = [value for pair, value in unrelated.items() if place in pair]
        return sum(own) / len(own)

    inside = [place for place in range(len(rules)) if apart(place) <= OUTSIDER]
    between = [unrelated[pair] for pair in combinations(inside, 2)]
    if len(inside) < FEWEST or median(between) > UNRELATED:
        return []
    return [rules[place] for place in inside]


def _may_be(fact: Fact) -> bool:
    return (
        fact.layer is Layer.USER_PROJECT
        and (fact.kind in _RULES or fact.kind is FactKind.FACT)
        and fact.origin.trusted
        and fact.sensitivity is Sensitivity.NORMAL
        and fact.state is State.ACTIVE
        and fact.valid_until is None
        and fact.expires_at is None
        and not fact.contradicts
    )
