"""Habits out of the steps of many sessions: what is done one after the other, and after what; which conventions are
kept; how sessions ended.

Looking (reading, searching) and planning are left out of sequences: everything begins with them. A sequence is done in
one go: a person's words, a step that failed and one that was refused end it, so that what was broken half-way is no
instance of it; and what is broken more often than it is kept is no habit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.behaviour import StepKind, StepOutcome, WorkStep
from memory.learning.behaviour.turns import SessionOutcome, chains, ended, turns

MAX_SEQUENCE_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class Bounds:
    """What makes a habit: in so many ``sessions`` at least; ``kept`` so often where it was begun; a trigger was
    followed in a share ``after`` of so many ``occasions``; a convention holds in a share ``rule`` of so many edits.
    What was not done in any of the ``lately`` newest sessions that had occasion to is a habit no longer."""

    sessions: int = 3
    kept: float = 0.33
    after: float = 0.5
    occasions: int = 4
    rule: float = 0.85
    edits: int = 6
    lately: int = 10


@dataclass(frozen=True, slots=True)
class StepSequence:
    """Steps that are done one after the other, ``times`` in all, in so many ``sessions``; ``kept`` is in which share of
    the cases in which all but the last were done the last was done too."""

    families: tuple[str, ...]
    shapes: tuple[str, ...]
    sessions: int
    times: int
    kept: float
    last: WorkStep


@dataclass(frozen=True, slots=True)
class Trigger:
    """What is done after something else within one turn: ``times`` out of so many ``occasions``."""

    when: str
    then: str
    shape: str
    sessions: int
    times: int
    occasions: int
    last: WorkStep


@dataclass(frozen=True, slots=True)
class Convention:
    """A question about how edits are made, and the answer that ``times`` out of ``edits`` gave."""

    question: str
    answer: str
    sessions: int
    times: int
    edits: int
    last: WorkStep


@dataclass(frozen=True, slots=True)
class Habits:
    """What the steps of an owner's sessions show, each kind with the best supported first."""

    sequences: tuple[StepSequence, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    conventions: tuple[Convention, ...] = ()
    ended: tuple[SessionOutcome, ...] = ()
    sessions: int = 0
    steps: int = 0


def mine(steps: Iterable[WorkStep], bounds: Bounds = Bounds()) -> Habits:
    """The habits in some steps, in the order in which they were done."""
    sessions: dict[str, list[WorkStep]] = defaultdict(list)
    number = 0
    for step in steps:
        sessions[step.session].append(step)
        number += 1
    return Habits(
        tuple(sequences(sessions, bounds)),
        tuple(_triggers(sessions, bounds)),
        tuple(_conventions(sessions, bounds)),
        tuple(map(ended, sessions.values())),
        len(sessions),
        number,
    )


@dataclass(slots=True)
class _HabitCounts:
    times: int = 0
    sessions: set[str] = field(default_factory=set)
    shapes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    last: WorkStep | None = None

    def add(self, steps: Sequence[WorkStep]) -> None:
        self.times += 1
        self.last = steps[-1]
        self.sessions.add(self.last.session)
        self.shapes[tuple(step.shape for step in steps)] += 1


def sequences(sessions: Mapping[str, Sequence[WorkStep]], bounds: Bounds) -> list[StepSequence]:
    """The recurring sequences of two to four steps; none that only stands in a longer one as well supported."""
    counted: dict[tuple[str, ...], _HabitCounts] = defaultdict(_HabitCounts)
    begun: Counter[tuple[str, ...]] = Counter()
    for steps in sessions.values():
        for chain, interrupted in chains(steps):
            _count_sequences(chain, interrupted, counted, begun)
    found = [
        StepSequence(
            families,
            each.shapes.most_common(1)[0][0],
            len(each.sessions),
            each.times,
            round(each.times / max(begun[families[:-1]], 1), 3),
            each.last,
        )
        for families, each in counted.items()
        if len(each.sessions) >= bounds.sessions
        and each.times >= bounds.kept * begun[families[:-1]]
        and each.last is not None
    ]
    # What stands in one that was given up is given up with it.
    whole = [
        sequel
        for sequel in found
        if not any(_is_mostly_within(sequel, other) for other in found)
        and _was_done_lately(sequel.families[0], counted[sequel.families], sessions, bounds)
    ]
    return sorted(whole, key=lambda each: (-each.sessions, -each.times, each.families))


def _count_sequences(
    chain: Sequence[WorkStep],
    interrupted: bool,
    counted: dict[tuple[str, ...], _HabitCounts],
    begun: Counter[tuple[str, ...]],
) -> None:
    """Count every sequence of a chain without a step twice in it, each occurrence once. What was interrupted was not
    given up: how it would have gone on is not known, so it does not count as begun."""
    taken: dict[tuple[str, ...], int] = {}
    for start in range(len(chain)):
        families: tuple[str, ...] = ()
        for end in range(start, min(start + MAX_SEQUENCE_STEPS, len(chain))):
            family = chain[end].family
            if family in families:
                break
            families = (*families, family)
            if taken.get(families, -1) >= start:
                continue
            taken[families] = end
            begun[families] += not (interrupted and end == len(chain) - 1)
            if len(families) > 1:
                counted[families].add(chain[start : end + 1])


def _was_done_lately(
    first: str, counted: _HabitCounts, sessions: Mapping[str, Sequence[WorkStep]], bounds: Bounds
) -> bool:
    """Whether one of the newest sessions in which the first step was taken had the whole."""
    newest: list[str] = []
    for session, steps in reversed(list(sessions.items())):
        if any(_extension(step.family) == first or step.family == first for step in steps):
            newest.append(session)
            if len(newest) == bounds.lately:
                break
    return not counted.sessions.isdisjoint(newest)


def _is_mostly_within(sequel: StepSequence, other: StepSequence) -> bool:
    size = len(sequel.families)
    if size >= len(other.families) or other.sessions < 0.75 * sequel.sessions:
        return False
    return any(
        other.families[place : place + size] == sequel.families for place in range(len(other.families) - size + 1)
    )


def _triggers(sessions: Mapping[str, Sequence[WorkStep]], bounds: Bounds) -> list[Trigger]:
    occasions: Counter[str] = Counter()
    counted: dict[tuple[str, str], _HabitCounts] = defaultdict(_HabitCounts)
    for steps in sessions.values():
        for turn in turns(steps):
            edited: dict[str, int] = {}
            for place, step in enumerate(turn):
                if step.deed is StepKind.EDIT and step.outcome is StepOutcome.DONE:
                    edited.setdefault(_extension(step.family), place)
            for when, place in edited.items():
                occasions[when] += 1
                done = {step.family: step for step in turn[place:] if step.deed is StepKind.RUN and _was_run(step)}
                for family, step in done.items():
                    counted[when, family].add([step])
    found = [
        Trigger(
            when, then, each.shapes.most_common(1)[0][0][0], len(each.sessions), each.times, occasions[when], each.last
        )
        for (when, then), each in counted.items()
        if each.last is not None
        and len(each.sessions) >= bounds.sessions
        and occasions[when] >= bounds.occasions
        and each.times >= bounds.after * occasions[when]
    ]
    found = [each for each in found if _was_done_lately(each.when, counted[each.when, each.then], sessions, bounds)]
    return sorted(found, key=lambda each: (-each.sessions, -each.times, each.when, each.then))


def _was_run(step: WorkStep) -> bool:
    """A test that fails was run all the same; what was refused was not."""
    return step.outcome is not StepOutcome.REFUSED


def _extension(family: str) -> str:
    """``edit *_test.go`` is an edit of ``*.go`` too."""
    head, dot, extension = family.rpartition(".")
    return f"edit *.{extension}" if dot and head.startswith(("edit *", "edit test_*")) else family


def _conventions(sessions: Mapping[str, Sequence[WorkStep]], bounds: Bounds) -> list[Convention]:
    counts: Counter[str] = Counter()
    counted: dict[tuple[str, str], _HabitCounts] = defaultdict(_HabitCounts)
    for steps in sessions.values():
        for step in steps:
            for question, answer in step.traits.items() if step.outcome is StepOutcome.DONE else ():
                counts[question] += 1
                counted[question, answer].add([step])
    found = [
        Convention(question, answer, len(each.sessions), each.times, counts[question], each.last)
        for (question, answer), each in counted.items()
        if each.last is not None
        and len(each.sessions) >= bounds.sessions
        and counts[question] >= bounds.edits
        and each.times >= bounds.rule * counts[question]
    ]
    return sorted(found, key=lambda each: (-each.sessions, -each.times, each.question))
