"""Which rules of a project go on about one subject: they were said in several sessions, in ever other words.

Whoever corrects an agent again and again hardly says the same sentence twice, and of what they say not all is learnt.
So the messages are grouped, not the facts: each two are compared with the agent's words before them, and joined as long
as on the average they push back on the same (average linkage). What was learnt of a group's messages bears its subject
out, with all of its messages.

Which facts may be put forward as rules for others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.fact import Fact, FactKind, Sensitivity, State
from memory.features.nights.consolidation.snapshot import RepeatedStatement, Subject
from memory.scope import Layer
from memory.understanding.forms import is_for_now
from memory.understanding.network import Floats
from memory.understanding.recurring_corrections import FEWEST, MOST_OF, TOGETHER, Pushback, linked

RULES: Final = (FactKind.CORRECTION, FactKind.CONVENTION, FactKind.DECISION, FactKind.ANTI_PATTERN, FactKind.HEURISTIC)
WAS_SAID: Final = (State.ACTIVE, State.DRAFT, State.ARCHIVED)
"""The states of what was said and not taken back: it may have faded, or be said otherwise since."""
_LEADING: Final = (*RULES, FactKind.PREFERENCE)
_BEARING: Final = (*_LEADING, FactKind.FACT)
"""A rule is often told by its reason."""
FEWEST_LEARNT: Final = 2
"""Messages of a subject of which something was learnt."""
FEW: Final = 3
"""The oldest facts of a candidate, by which it is told what goes on about it."""


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


@dataclass(frozen=True, slots=True)
class Message:
    """What a person said to an agent, with its words before, in a ``turn`` of a ``session``; and what was ``learnt`` of
    it, by id."""

    pushback: Pushback
    session: str
    turn: int
    learnt: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, int]:
        """Where it was said: one message may have taught several facts."""
        return self.session, self.turn


Compare = Callable[[Sequence[Pushback]], Floats]
"""The log-odds that each two of some messages push back on the same, shape (n, n)."""


def recurring_subjects(
    messages: Sequence[Message],
    facts: Mapping[str, Fact],
    compare: Compare,
    pushes_back: Callable[[Pushback], bool],
    sessions: int,
) -> list[Subject]:
    """What some messages of a project go on about, said in at least so many sessions: no fact is in two subjects.
    ``pushes_back`` reads one of which nothing was learnt."""
    bearing = {id for each in messages for id in each.learnt if id in facts and bears_out(facts[id])}
    # What was learnt and taken back counts no more, however it was said.
    messages = [each for each in messages if not each.learnt or not bearing.isdisjoint(each.learnt)]
    found = []
    groups = linked(compare([each.pushback for each in messages]), [each.session for each in messages], TOGETHER)
    for group in groups:
        own = [each for at in group if (each := messages[at]).learnt or pushes_back(each.pushback)]
        learnt = in_time({id for each in own for id in each.learnt} & bearing, facts)
        where = frozenset(each.session for each in own)
        if (
            # An agent that reports alike is answered in all ways; what it keeps doing wrong is answered in one.
            len(own) >= MOST_OF * len(group)
            and len({each.place for each in own}) >= FEWEST
            and len(where) >= sessions
            and len({each.place for each in own if not bearing.isdisjoint(each.learnt)}) >= FEWEST_LEARNT
            and any(may_lead(facts[id]) for id in learnt)
            and any(facts[id].kind in RULES for id in learnt)
        ):
            found.append(Subject(tuple(learnt), where))
            bearing.difference_update(learnt)
    return found


def sessions_of(
    ids: Iterable[str], facts: Mapping[str, Fact], said_by: Mapping[str, Sequence[RepeatedStatement]]
) -> set[str]:
    """The sessions in which facts, or what they absorbed, were said."""
    return {session for id in ids for session in (facts[id].session, *(each.session for each in said_by.get(id, ())))}


def goes_on_about(ids: Collection[str], evidence: Collection[str], facts: Mapping[str, Fact]) -> bool:
    """Whether a subject goes on about what was put forward for some evidence: it has most of the oldest of it."""
    first = first_of(evidence, facts)
    return 2 * len(set(first).intersection(ids)) > len(first)


def first_of(evidence: Iterable[str], facts: Mapping[str, Fact]) -> list[str]:
    """The oldest of some evidence that may lead."""
    return in_time((id for id in evidence if (fact := facts.get(id)) is not None and may_lead(fact)), facts)[:FEW]


def in_time(ids: Iterable[str], facts: Mapping[str, Fact]) -> list[str]:
    """Ids of facts, the oldest first."""
    return sorted(ids, key=lambda each: (facts[each].recorded_at, each))
