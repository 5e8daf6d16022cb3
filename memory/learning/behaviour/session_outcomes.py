"""How sessions end, by the signs in them: what the person said last, what was done last and how it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.behaviour import FeedbackSign, StepKind, StepOutcome, WorkStep
from memory.learning.behaviour.turns import ACTS, turns


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
