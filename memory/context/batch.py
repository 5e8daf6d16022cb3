"""Steps down that are taken together, because whatever stands behind the first of them is read anew anyway."""

from __future__ import annotations

from collections.abc import Iterable

from memory.actions import Place
from memory.context.retention_value import Downgrade
from memory.context.shed_plan import Replacement
from memory.context.stub import stub
from memory.edits import ContentTier


class Batch:
    """Steps that are taken together; of one piece the last holds."""

    def __init__(self, total: int) -> None:
        self.left = total
        self.removed = 0
        self.steps: dict[Place, Downgrade] = {}
        self.saved: dict[Place, int] = {}

    def take(self, ways: Iterable[Downgrade], target: int) -> None:
        """Take steps in their order until no more than the target is left. What was taken before is not again."""
        for step in ways:
            if self.left <= target:
                return
            before = self.steps.get(step.piece.place)
            if before is None or (before.tier is ContentTier.L1 and step.tier is ContentTier.L0):
                self._add(step, step.saved)

    def keep(self, other: Batch, begin: int) -> None:
        """What another took from a message on."""
        for place, step in other.steps.items():
            if place[0] >= begin:
                self._add(step, other.saved[place])

    def _add(self, step: Downgrade, saved: int) -> None:
        place = step.piece.place
        self.steps[place] = step
        self.saved[place] = self.saved.get(place, 0) + saved
        self.left -= saved
        self.removed += saved


def replacement(step: Downgrade, excerpt: str) -> Replacement:
    """What stands in the place of a piece that went this step down, with the lines of it that stay."""
    piece = step.piece
    if piece.kind == "call":
        text, tier = (piece.overview, ContentTier.L1) if step.tier is ContentTier.L1 else (piece.line, ContentTier.L0)
    else:
        tier = ContentTier.L1 if excerpt else ContentTier.L0
        text = stub(tier, piece.line, excerpt, piece.tokens, piece.handle)
    return Replacement(*piece.place, tier, text, step.why)
