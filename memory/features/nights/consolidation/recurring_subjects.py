"""Which rules of a project go on about one subject: they were said in several sessions, in ever other words.

Whoever corrects an agent again and again hardly says the same sentence twice ("a print can't do that", "print has no
business here"), so that no two of them say the same. But each has to do with the others: what is near to a rule, or has
a word in common with it, is read pair by pair, and joined as long as on the average it is related (average linkage).
What was read with doubt bears a subject out, but makes none by itself.

Which facts may be put forward as rules for others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final

from memory.fact import Fact, FactKind, Sensitivity, State
from memory.features.nights.consolidation.snapshot import RepeatedStatement, SimilarPair
from memory.language.polarity import without_aside
from memory.language.words import stems
from memory.scope import Layer
from memory.understanding.encoder import Relation
from memory.understanding.forms import is_for_now

RULES: Final = (FactKind.CORRECTION, FactKind.CONVENTION, FactKind.DECISION, FactKind.ANTI_PATTERN, FactKind.HEURISTIC)
WAS_SAID: Final = (State.ACTIVE, State.DRAFT, State.ARCHIVED)
"""The states of what was said and not taken back: it may have faded, or be said otherwise since."""
_LEADING: Final = (*RULES, FactKind.PREFERENCE)
_BEARING: Final = (*_LEADING, FactKind.FACT)
"""A rule is often told by its reason."""


def may_be_shared(fact: Fact) -> bool:
    """Whether a fact is a rule that a person said in a project, and that holds without an end or an objection."""
    return fact.kind in RULES and may_lead(fact)


def may_lead(fact: Fact) -> bool:
    """Whether a fact may lead others that go on about the same: it is such a rule, or what the person likes in the
    project, and not for the moment only."""
    is_rule = fact.state is State.ACTIVE and fact.kind in _LEADING and not fact.contradicts
    return is_rule and not is_for_now(fact.text) and bears_out(fact)


def bears_out(fact: Fact) -> bool:
    """Whether a fact may bear out a rule that was said otherwise: it is one itself, or was, or was read as one with
    doubt; or it is what somebody likes or holds to be so in the project."""
    return (
        fact.layer is Layer.USER_PROJECT
        and fact.kind in _BEARING
        and fact.origin.trusted
        and fact.sensitivity is Sensitivity.NORMAL
        and fact.state in WAS_SAID
        and fact.valid_until is None
        and fact.expires_at is None
    )


Relate = Callable[[Sequence[tuple[str, str]]], Sequence[Relation]]
"""Reads how the second statement of each pair stands to the first."""
FEWEST: Final = 3
"""Rules that make a subject."""
MOST: Final = 10
"""Rules that are compared with each other at once, the newest."""
FEW: Final = 3
"""The oldest of a subject, by which what else is about it is told."""
REST: Final = 60
"""Further rules of a subject's groups that are looked at for one, the newest."""
GROUPS: Final = 24
"""Groups of rules that are compared in one night at most, the largest."""
COMMON: Final = 0.34
"""The share of a project's facts from which on a word that they have names no subject, where there are many of them."""
MANY: Final = 18
TEXTS: Final = 5000
"""Facts of a project that are looked through for shared words, the newest."""
UNRELATED: Final = 0.2
"""How likely two groups may be, pair by pair and on the average, to have nothing to do with each other."""
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
    groups: Iterable[Group],
    facts: Mapping[str, Fact],
    relate: Relate,
    sessions: int,
    before: Sequence[Collection[str]] = (),
    said_by: Mapping[str, Sequence[RepeatedStatement]] = MappingProxyType({}),
) -> list[Group]:
    """Of groups of facts the rules that go on about one subject, said in at least so many sessions: the ids of each
    subject, oldest first, and no fact in two of them. ``before`` is what bears out each of the candidates that were put
    forward: where a subject goes on about one, the oldest of that are among its ids. ``said_by`` tells in which other
    sessions facts were said."""
    reader = _PairReader(facts, relate)
    found: list[list[str]] = []
    rules = [
        in_time((id for id in group if (fact := facts.get(id)) is not None and bears_out(fact)), facts)
        for group in groups
    ]
    for group in rules:
        for subject in reader.linked(group[-MOST:]):
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
    taken = {id for subject in found for id in subject}
    for subject in found:
        more = reader.related(
            in_time(subject, facts)[:FEW], [id for id in _further(subject, rules, before, facts) if id not in taken]
        )
        subject += more
        taken.update(more)
    ordered = (in_time(ids, facts) for ids in found)
    return [
        tuple(ids)
        for ids in ordered
        if len(sessions_of(ids, facts, said_by)) >= sessions
        and any(may_lead(facts[id]) for id in ids)
        and any(facts[id].kind in RULES for id in ids)
    ]


def sessions_of(
    ids: Iterable[str], facts: Mapping[str, Fact], said_by: Mapping[str, Sequence[RepeatedStatement]]
) -> set[str]:
    """The sessions in which facts, or what they absorbed, were said."""
    return {session for id in ids for session in (facts[id].session, *(each.session for each in said_by.get(id, ())))}


def goes_on_about(ids: Collection[str], evidence: Collection[str], facts: Mapping[str, Fact]) -> bool:
    """Whether a subject goes on about what was put forward for some evidence: it has most of the oldest of it."""
    first = _first(evidence, facts)
    return 2 * len(set(first).intersection(ids)) > len(first)


def in_time(ids: Iterable[str], facts: Mapping[str, Fact]) -> list[str]:
    """Ids of facts, the oldest first."""
    return sorted(ids, key=lambda each: (facts[each].recorded_at, each))


def _first(evidence: Iterable[str], facts: Mapping[str, Fact]) -> list[str]:
    return in_time((id for id in evidence if (fact := facts.get(id)) is not None and may_lead(fact)), facts)[:FEW]


def _further(
    subject: Collection[str],
    groups: Iterable[Sequence[str]],
    before: Sequence[Collection[str]],
    facts: Mapping[str, Fact],
) -> list[str]:
    """What else may be about a subject: the oldest of what was put forward in some of its words, which bring the rest
    of that with them, and what its groups have beside it."""
    words = _words(subject, facts)
    first = [id for evidence in before for id in _first(evidence, facts) if words & _words([id], facts)]
    around = in_time(
        {id for group in groups if len(set(subject).intersection(group)) >= FEWEST for id in group}.difference(
            subject, *before
        ),
        facts,
    )
    return list(dict.fromkeys([*first, *around[:FEW], *around[-REST:]]))


def _words(ids: Iterable[str], facts: Mapping[str, Fact]) -> set[str]:
    return {word for id in ids for word in stems(without_aside(facts[id].text))}


class _PairReader:
    """Reads each pair once."""

    def __init__(self, facts: Mapping[str, Fact], relate: Relate) -> None:
        self._facts = facts
        self._relate = relate
        self._unrelated: dict[tuple[str, str], float] = {}

    def linked(self, ids: Iterable[str]) -> list[list[str]]:
        """Those of some rules that belong together, in groups of at least as many as make a subject."""
        ordered = in_time(ids, self._facts)
        if len(ordered) < FEWEST:
            return []
        self._read(combinations(ordered, 2))
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

    def related(self, anchors: Sequence[str], ids: Sequence[str]) -> list[str]:
        """Those of some rules that have to do with the anchors on the average."""
        self._read((anchor, id) for id in ids for anchor in anchors)
        return [id for id in ids if self._apart(anchors, [id]) <= UNRELATED]

    def _read(self, pairs: Iterable[tuple[str, str]]) -> None:
        new = [(a, b) for a, b in pairs if (a, b) not in self._unrelated and (b, a) not in self._unrelated]
        texts = {id: without_aside(self._facts[id].text) for pair in new for id in pair}
        # Which of two is the wider one does not matter here.
        both_ways = [*((texts[one], texts[other]) for one, other in new), *((texts[b], texts[a]) for a, b in new)]
        relations = [each.unrelated for each in self._relate(both_ways)] if new else []
        half = len(new)
        self._unrelated |= dict(zip(new, map(min, relations[:half], relations[half:]), strict=True))

    def _apart(self, ones: Sequence[str], others: Sequence[str]) -> float:
        known = self._unrelated
        values = [known[(one, other) if (one, other) in known else (other, one)] for one in ones for other in others]
        return sum(values) / len(values)
