"""Steps down that are taken together, because whatever stands behind the first of them is read anew anyway."""

from __future__ import annotations

from collections.abc import Iterable

from memory.actions import Place
from memory.context.planned import Replacement
from memory.context.stub import stub
from memory.context.worth import Step
from memory.edits import Tier


class Batch:
    """Steps that are taken together; of one piece the last holds."""

    def __init__(self, total: int) -> None:
        self.left = total
        self.removed = 0
        self.steps: dict[Place, Step] = {}
        self.saved: dict[Place, int] = {}

    def take(self, ways: Iterable[Step], target: int) -> None:
        """Take steps in their order until no more than the target is left. What was taken before is not again."""
        for step in ways:
            if self.left <= target:
                return
            before = self.steps.get(step.piece.place)
            if before is None or (before.tier is Tier.L1 and step.tier is Tier.L0):
                self._add(step, step.saved)

    def keep(self, other: Batch, begin: int) -> None:
        """What another took from a message on."""
        for place, step in other.steps.items():
            if place[0] >= begin:
                self._add(step, other.saved[place])

    def _add(self, step: Step, saved: int) -> None:
        place = step.piece.place
        self.steps[place] = step
        self.saved[place] = self.saved.get(place, 0) + saved
        self.left -= saved
        self.removed += saved


def replacement(step: Step, excerpt: str) -> Replacement:
    """What stands in the place of a piece that went this step down, with the lines of it that stay."""
    piece = step.piece
    if piece.kind == "call":
        text, tier = (piece.overview, Tier.L1) if step.tier is Tier.L1 else (piece.line, Tier.L0)
    else:
        tier = Tier.L1 if excerpt else Tier.L0
        text = stub(tier, piece.line, excerpt, piece.tokens, piece.handle)
    return Replacement(*piece.place, tier, text, step.why)
