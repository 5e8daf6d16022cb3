"""What a night changes, as a value that can be read, applied and taken back.

A change touches a few facts together, and of each it has what it was and what it becomes; so whoever applies it can
see whether something else has happened to a fact meanwhile, and whoever takes it back knows what to put there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memory.candidate import Proposal
from memory.fact import Category, Fact
from memory.features.nights.consolidation.compaction import ShortenedMemory
from memory.features.nights.consolidation.courtesy_removal import ShortenedPassage
from memory.ports import SummaryLine


class ChangeAction(StrEnum):
    """What a change does."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    ARCHIVE = "archive"
    GIST = "gist"
    ASSIMILATE = "assimilate"
    CURATE = "curate"
    COMPACT = "compact"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Touch:
    """One fact of a change: None before where it is made, None after where it is taken away."""

    before: Fact | None
    after: Fact | None


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of some facts that belong together. ``why`` has numbers and no text of any memory, so that what is
    forgotten does not stay here."""

    action: ChangeAction
    why: str
    touched: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class DiscardedPass:
    """A pass that was thrown out whole: it would have taken ``lost`` of ``held`` active facts of a category."""

    name: str
    category: Category
    lost: int
    held: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A night of one owner."""

    owner: str
    changes: tuple[FactChange, ...] = ()
    lines: tuple[SummaryLine, ...] = ()
    candidates: tuple[Proposal, ...] = ()
    thrown: tuple[DiscardedPass, ...] = ()
    previews: tuple[ShortenedMemory, ...] = ()
    plain: tuple[ShortenedPassage, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write and nothing to tell."""
        return not (self.changes or self.lines or self.candidates or self.thrown or self.previews or self.plain)


def applied(facts: Mapping[str, Fact], changes: Iterable[FactChange]) -> dict[str, Fact]:
    """Some facts after some changes; a change of which a fact is no longer what it was is left out whole."""
    now = dict(facts)
    for change in changes:
        if all(touch.before is None or now.get(touch.before.id) == touch.before for touch in change.touched):
            for touch in change.touched:
                if touch.after is not None:
                    now[touch.after.id] = touch.after
                elif touch.before is not None:
                    del now[touch.before.id]
    return now
