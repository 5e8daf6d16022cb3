"""What a night looks at, and the sheet on which its passes write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from memory.candidate import Candidate
from memory.fact import Category, Fact, FactKind, Origin, Passage, State
from memory.features.nights.consolidation.diff import ChangeAction, FactChange, Touch
from memory.ports import SummaryLine


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two facts that are alike: their ids and the cosine of their vectors."""

    one: str
    other: str
    cosine: float


@dataclass(frozen=True, slots=True)
class RepeatedStatement:
    """That something was said so many ``times`` in a session."""

    kind: FactKind
    session: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Subject:
    """What some messages go on about: the ``ids`` of the facts that were learnt of them, oldest first, and the
    ``sessions`` in which they were said."""

    ids: tuple[str, ...]
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One owner's memories as far as a night has to look at them. What is archived is among them only where it was said
    all the same: it faded, or was said again, and nobody has taken it back.

    ``facts`` are those that are new since the last night, what is like them, and what may have faded; ``pairs`` are
    the likenesses of which one side is new; ``active`` counts all active facts by category; ``derived`` are the ids
    that lasting knowledge was drawn from already. ``said`` and ``lines`` belong to the days that are to be summarised;
    ``said_by`` tells in which sessions facts, and what they were drawn from, were said; ``unread`` are old memories
    that nobody was shown; ``heard`` are the passages since the last night; ``paraphrases`` are pairs of rules that say
    the same in other words, with how likely that is; ``drafts`` have waited for too long; ``subjects`` are what
    messages of several sessions go on about, and ``wordings`` tell of the oldest fact of each how its rule is worded
    best; ``candidates`` is the knowledge that was put forward before.
    """

    owner: str
    facts: Mapping[str, Fact]
    pairs: Sequence[SimilarPair] = ()
    active: Mapping[Category, int] = field(default_factory=dict)
    derived: frozenset[str] = frozenset()
    fading: Sequence[str] = ()
    said: Sequence[Passage] = ()
    learned: Sequence[Fact] = ()
    lines: Mapping[date, Sequence[SummaryLine]] = field(default_factory=dict)
    unread: Sequence[Fact | Passage] = ()
    said_by: Mapping[str, Sequence[RepeatedStatement]] = field(default_factory=dict)
    heard: Sequence[Passage] = ()
    paraphrases: Sequence[SimilarPair] = ()
    drafts: Sequence[str] = ()
    subjects: Sequence[Subject] = ()
    candidates: Sequence[Candidate] = ()
    wordings: Mapping[str, str] = field(default_factory=dict)


class WorkingFacts:
    """The facts as they become while a pass works on them, and the changes that it has written down."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        self._start = facts
        self.facts = dict(facts)
        self.changes: list[FactChange] = []

    def write(self, action: ChangeAction, why: str, *facts: Fact) -> None:
        """These facts become so, together."""
        touched = []
        for fact in facts:
            touched.append(Touch(self.facts.get(fact.id), fact))
            self.facts[fact.id] = fact
        self.changes.append(FactChange(action, why, tuple(touched)))

    def active(self, id: str) -> Fact | None:
        """The fact of that id where it takes part in recall."""
        fact = self.facts.get(id)
        return fact if fact is not None and fact.state is State.ACTIVE else None

    def touched(self) -> set[str]:
        """The ids of what the changes made or changed."""
        return {touch.after.id for change in self.changes for touch in change.touched if touch.after is not None}

    def lost(self) -> Counter[Category]:
        """How many facts of each category take part in recall no more."""
        return Counter(
            fact.category
            for id in self.touched()
            if (fact := self._start.get(id)) is not None
            and fact.state is State.ACTIVE
            and self.facts[id].state is not State.ACTIVE
        )


_TRUST = {origin: place for place, origin in enumerate(Origin)}


def trust_of(fact: Fact) -> int:
    """The place of a fact's origin in the order of trust; 0 is trusted most."""
    return _TRUST[fact.origin]


def trusted_as(fact: Fact, other: Fact) -> bool:
    """Whether a fact's word counts at least as much as another's."""
    return fact.origin.counts_as(other.origin)


def lowest(facts: Sequence[Fact]) -> Origin:
    """The origin that is trusted least among some facts."""
    return max((fact.origin for fact in facts), key=_TRUST.__getitem__)
