"""A session's steps cut into pieces, and how the session ended: turns lie between two words of a person, chains are
done in one go; how it ended is told by what the person said last, what was done last and how that went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.behaviour import FeedbackSign, StepKind, StepOutcome, WorkStep

ACTS: Final = frozenset({StepKind.EDIT, StepKind.RUN, StepKind.CALL})
"""Steps that do something, as against looking and planning."""


def turns(steps: Iterable[WorkStep]) -> Iterator[list[WorkStep]]:
    """What was done between two words of a person."""
    turn: list[WorkStep] = []
    for step in steps:
        if step.deed is StepKind.PERSON:
            if turn:
                yield turn
            turn = []
        else:
            turn.append(step)
    if turn:
        yield turn


def chains(steps: Iterable[WorkStep]) -> Iterator[tuple[list[WorkStep], bool]]:
    """What was done in one go, step by step, and whether a step that failed or was refused ended it; the same step
    several times running counts as one."""
    chain: list[WorkStep] = []
    for step in steps:
        if step.deed is StepKind.PERSON or step.outcome is not StepOutcome.DONE:
            if chain:
                yield chain, step.deed is not StepKind.PERSON
            chain = []
        elif step.deed in ACTS:
            if chain and chain[-1].family == step.family:
                chain[-1] = step
            else:
                chain.append(step)
    if chain:
        yield chain, False


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """How a session ended: finished, corrected, abandoned or unclear; ``unsolved`` is what failed last, if it did."""

    session: str
    outcome: str
    at: datetime
    unsolved: WorkStep | None = None


def ended(steps: Sequence[WorkStep]) -> SessionOutcome:
    """How a session ended, by the signs in it."""
    acts = [step for step in steps if step.deed in ACTS]
    signs = [FeedbackSign(step.family) for step in steps if step.deed is StepKind.PERSON]
    last = acts[-1] if acts else None
    session, at = steps[0].session, steps[-1].at
    if signs and signs[-1] is FeedbackSign.STOPS:
        return SessionOutcome(session, "abandoned", at)
    if last is not None and last.outcome is StepOutcome.FAILED and (not signs or signs[-1] is not FeedbackSign.ACCEPTS):
        return SessionOutcome(session, "abandoned", at, last)
    if FeedbackSign.CORRECTS in signs[1:]:
        return SessionOutcome(session, "corrected", at)
    newest = list(turns(steps))[-2:]
    delivered = any(step.family in _DELIVERS and step.outcome is StepOutcome.DONE for turn in newest for step in turn)
    if delivered or (signs and signs[-1] is FeedbackSign.ACCEPTS):
        return SessionOutcome(session, "finished", at)
    return SessionOutcome(session, "unclear", at)


_DELIVERS = frozenset({"git commit", "git push", "gh pr create", "gh pr merge", "glab mr create", "submit"})
