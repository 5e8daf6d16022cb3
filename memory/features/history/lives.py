"""A fact's life: what it followed and what followed it, and how strong it was and will be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from memory.fact import Fact
from memory.services.person.id_lookup import NotFound
from memory.strength import curve

MAX_CHAIN_FACTS = 200
"""Facts of a chain that are told at most."""

YEAR = timedelta(days=365)


class HistoryJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id, as far as they belong to these owners."""

    async def followers(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact]:
        """The facts of some owners that follow one of these."""

    async def use_times(self, id: str) -> list[datetime]:
        """When the sessions were in which a memory was used, in order."""


@dataclass(frozen=True, slots=True)
class Link:
    """A fact of a chain, with the ids of those in it that took its place."""

    fact: Fact
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Strengths at evenly spaced times, from the making of a fact to a year from now; ``uses`` are the times of its
    use that are known."""

    times: tuple[datetime, ...]
    strengths: tuple[float, ...]
    uses: tuple[datetime, ...]


class FactHistories:
    """Looks along a fact's life."""

    def __init__(self, journal: HistoryJournal) -> None:
        self._journal = journal

    async def history(self, id: str, owners: Sequence[str]) -> list[Link]:
        """The chain that a fact stands in, in the order in which they began to hold: all that it followed, and all
        that followed it.

        Raises:
            NotFound: when no fact of these owners has this id.
        """
        chain = {fact.id: fact for fact in await self._journal.facts([id], owners)}
        if not chain:
            raise NotFound(f"{id} is a passage of a talk, which nothing supersedes; only facts have a history")
        edge = list(chain.values())
        while edge and len(chain) < MAX_CHAIN_FACTS:
            before = [each for fact in edge for each in fact.supersedes]
            near = [
                *await self._journal.facts(before, owners),
                *await self._journal.followers([fact.id for fact in edge], owners),
            ]
            edge = [fact for fact in near if fact.id not in chain]
            chain.update((fact.id, fact) for fact in edge)
        ordered = sorted(chain.values(), key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id))
        return [Link(fact, tuple(each.id for each in ordered if fact.id in each.supersedes)) for fact in ordered]

    async def strength(self, id: str, owners: Sequence[str], now: datetime, points: int) -> Curve:
        """How strong a fact was since it was made, and will be in a year if nobody uses it.

        Raises:
            NotFound: when no fact of these owners has this id.
        """
        found = await self._journal.facts([id], owners)
        if not found:
            raise NotFound(f"{id} is a passage of a talk, which has no strength of its own; only facts have")
        [fact] = found
        uses = [at for at in await self._journal.use_times(id) if at > fact.recorded_at]
        begin, end = min(fact.recorded_at, now), now + YEAR
        times = [begin + (end - begin) * place / (points - 1) for place in range(points)]
        use_times = uses if fact.used_at is None or fact.used_at in uses else [*uses, fact.used_at]
        return Curve(tuple(times), tuple(curve(fact, uses, times)), tuple(use_times))
