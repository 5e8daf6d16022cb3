"""How sessions end, by the signs in them: what the person said last, what was done last and how it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.behaviour import Deed, Outcome, Sign, Step
from memory.learning.behaviour.turns import ACTS, turns


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended: finished, corrected, abandoned or unclear; ``unsolved`` is what failed last, if it did."""

    session: str
    outcome: str
    at: datetime
    unsolved: Step | None = None


def ended(steps: Sequence[Step]) -> Ended:
    """How a session ended, by the signs in it."""
    acts = [step for step in steps if step.deed in ACTS]
    said = [Sign(step.family) for step in steps if step.deed is Deed.PERSON]
    last = acts[-1] if acts else None
    session, at = steps[0].session, steps[-1].at
    if said and said[-1] is Sign.STOPS:
        return Ended(session, "abandoned", at)
    if last is not None and last.outcome is Outcome.FAILED and (not said or said[-1] is not Sign.ACCEPTS):
        return Ended(session, "abandoned", at, last)
    if Sign.CORRECTS in said[1:]:
        return Ended(session, "corrected", at)
    newest = list(turns(steps))[-2:]
    delivered = any(step.family in _DELIVERS and step.outcome is Outcome.DONE for turn in newest for step in turn)
    if delivered or (said and said[-1] is Sign.ACCEPTS):
        return Ended(session, "finished", at)
    return Ended(session, "unclear", at)


_DELIVERS = frozenset({"git commit", "git push", "gh pr create", "gh pr merge", "glab mr create", "submit"})
