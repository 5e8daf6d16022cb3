"""Which rules of a project go on about one subject: they were said in several sessions, in ever other words.

Whoever corrects an agent again and again hardly says the same sentence twice ("a print can't do that", "print has no
business here"), so that no two of them say the same. But each has to do with the others: what is near to a rule, or has
a word in common with it, is read pair by pair, and joined as long as on the average it is related (average linkage).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

from memory.fact import Fact, FactKind, Sensitivity, State
from memory.features.nights.consolidation.snapshot import SimilarPair
from memory.language.polarity import without_aside
from memory.language.words import stems
from memory.scope import Layer
from memory.understanding.encoder import Relation

Relate = Callable[[Sequence[tuple[str, str]]], Sequence[Relation]]
"""Reads how the second statement of each pair stands to the first."""
FEWEST: Final = 3
"""Rules that make a subject."""
MOST: Final = 10
"""Rules that are compared with each other at once, the newest."""
GROUPS: Final = 24
"""Groups of rules that are compared in one night at most, the largest."""
COMMON: Final = 0.34
"""The share of a project's facts from which on a word that they have names no subject, where there are many of them."""
MANY: Final = 18
TEXTS: Final = 5000
"""Facts of a project that are looked through for shared words, the newest."""
UNRELATED: Final = 0.2
"""How likely two groups may be, pair by pair and on the average, to have nothing to do with each other."""
_RULES: Final = (
    FactKind.CORRECTION,
    FactKind.CONVENTION,
    FactKind.DECISION,
    FactKind.PREFERENCE,
    FactKind.ANTI_PATTERN,
    FactKind.HEURISTIC,
)
Group = tuple[str, ...]


def worth_comparing(texts: Sequence[tuple[str, str]], near: Iterable[SimilarPair], new: Collection[str]) -> list[Group]:
    """The ids of facts that may be about one subject, the largest groups first: what is near to a new one, and what has
    one of its words. ``texts`` are a project's facts with their ids, oldest first; of ``near`` pairs one side is new.
    """
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
    found = {tuple(having[word]) for word in wanted if FEWEST <= len(having[word]) <= most}
    order = {id: place for place, (id, _) in enumerate(texts)}
    around: dict[str, set[str]] = defaultdict(set)
    for pair in near:
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            if one in new and one in order and other in order:
                around[one] |= {one, other}
    found |= {tuple(sorted(ids, key=order.__getitem__)) for ids in around.values() if len(ids) >= FEWEST}
    return sorted(found, key=lambda ids: (-len(ids), ids))[:GROUPS]


def recurring_subjects(
    groups: Iterable[Group], facts: Mapping[str, Fact], relate: Relate, sessions: int
) -> list[Group]:
    """Of groups of facts the rules that go on about one subject, said in at least so many sessions: the ids of each
    subject, oldest first, and no fact in two of them."""
    reader = _PairReader(facts, relate)
    found: list[list[str]] = []
    for group in groups:
        rules = [id for id in group if (fact := facts.get(id)) is not None and _may_be(fact)][-MOST:]
        for subject in reader.linked(rules):
            known = next((place for place, other in enumerate(found) if not set(other).isdisjoint(subject)), None)
            if known is None:
                found.append(subject)
                continue
            # What shares a rule with a subject goes on about it, or is about something else.
            both = max(reader.linked(dict.fromkeys([*found[known], *subject])), key=len, default=[])
            if len(both) > len(found[known]) and all(
                set(both).isdisjoint(other) for place, other in enumerate(found) if place != known
            ):
                found[known] = both
    ordered = (sorted(ids, key=lambda each: (facts[each].recorded_at, each)) for ids in found)
    return [tuple(ids) for ids in ordered if len({facts[id].session for id in ids}) >= sessions]


class _PairReader:
    """Reads each pair once."""

    def __init__(self, facts: Mapping[str, Fact], relate: Relate) -> None:
        self._facts = facts
        self._relate = relate
        self._unrelated: dict[tuple[str, str], float] = {}

    def linked(self, ids: Iterable[str]) -> list[list[str]]:
        """Those of some rules that belong together, in groups of at least as many as make a subject."""
        ordered = sorted(ids, key=lambda each: (self._facts[each].recorded_at, each))
        if len(ordered) < FEWEST:
            return []
        pairs = [pair for pair in combinations(ordered, 2) if pair not in self._unrelated]
        texts = {id: without_aside(self._facts[id].text) for id in ordered}
        # Which of two is the wider one does not matter here.
        both_ways = [*((texts[one], texts[other]) for one, other in pairs), *((texts[b], texts[a]) for a, b in pairs)]
        relations = [each.unrelated for each in self._relate(both_ways)] if pairs else []
        half = len(pairs)
        self._unrelated |= dict(zip(pairs, map(min, relations[:half], relations[half:]), strict=True))
        clusters = [[id] for id in ordered]
        while len(clusters) > 1:
            apart, one, other = min(
                (self._apart(clusters[one], clusters[other]), one, other)
                for one, other in combinations(range(len(clusters)), 2)
            )
            if apart > UNRELATED:
                break
            clusters[one] += clusters.pop(other)
        return [cluster for cluster in clusters if len(cluster) >= FEWEST]

    def _apart(self, ones: Sequence[str], others: Sequence[str]) -> float:
        known = self._unrelated
        values = [known[(one, other) if (one, other) in known else (other, one)] for one in ones for other in others]
        return sum(values) / len(values)


def _may_be(fact: Fact) -> bool:
    return (
        fact.layer is Layer.USER_PROJECT
        and fact.kind in _RULES
        and fact.origin.trusted
        and fact.sensitivity is Sensitivity.NORMAL
        and fact.state is State.ACTIVE
        and fact.valid_until is None
        and fact.expires_at is None
        and not fact.contradicts
    )
