"""Everything that memory holds of a person, whole, so that it can be taken elsewhere and read again.

It is given in pieces in the order of the ids, so that a reader can go on where it stopped, and two exports of the
same memory are the same to the byte. What the journal keeps of the exchanges themselves is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory.edits import handle
from memory.fact import Fact, Passage
from memory.hooks.chain import Features
from memory.scope import Layer, Scope
from memory.services.page.files import PageFiles
from memory.services.person.commands import NotFound
from memory.services.transfer.records import FACT, FORMAT, PASSAGE, Uses, record_of


class ExportJournal(Protocol):
    """What an export needs of the journal."""

    async def facts_after(self, owner: str, after: str, limit: int) -> list[Fact]:
        """An owner's facts whose ids come behind ``after``, in order, whatever their state."""

    async def passages_after(self, owner: str, after: str, limit: int) -> list[Passage]:
        """An owner's passages whose ids come behind ``after``, in order."""

    async def uses_of(self, ids: Sequence[str]) -> Mapping[str, Uses]:
        """In which sessions memories were shown and used."""

    async def pins_of(self, person: str) -> list[tuple[bytes, int, str]]:
        """What a person wants whole: digest, part, since when."""

    async def buried(self) -> int:
        """How many tombstones there are."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What an export is made of beside the memories: whose they are, the contents that are pinned, the person's own
    words on the pages, and how many tombstones there are."""

    owners: tuple[str, ...]
    pins: tuple[dict[str, Any], ...]
    pages: tuple[dict[str, Any], ...]
    tombstones: int
    format: int = FORMAT


class Exporter:
    """Gives everything out."""

    def __init__(
        self,
        journal: ExportJournal,
        pages: PageFiles,
        features: Features,
    ) -> None:
        self._features = features
        self._journal = journal
        self._pages = pages

    async def inventory(self, scope: Scope, owners: Sequence[str]) -> Inventory:
        """What there is to export for a person, with what they have changed on their pages until now."""
        person = scope.owner(Layer.USER)
        pins = await self._journal.pins_of(person) if person else []
        await self._pages.take_all_edits(owners)
        own = [
            {"sort": "page", "owner": owner, "text": text}
            for owner, text in (await self._pages.all_own(owners)).items()
        ]
        pinned = [
            {"sort": "pin", "owner": person, "digest": key.hex(), "part": part, "at": at, "handle": handle(key, part)}
            for key, part, at in pins
        ]
        return Inventory(tuple(sorted(owners)), tuple(pinned), tuple(own), await self._journal.buried())

    async def records(
        self, sort: str, owner: str, owners: Sequence[str], after: str = "", limit: int = 1000
    ) -> list[dict[str, Any]]:
        """The next memories of an owner, as records.

        Raises:
            NotFound: when the owner is none of those that may be seen, or there are no memories of such a sort.
        """
        if owner not in owners:
            raise NotFound(f"there is no owner {owner!r} among those that may be seen")
        if sort == FACT:
            facts = await self._journal.facts_after(owner, after, limit)
            uses = await self._journal.uses_of([fact.id for fact in facts])
            return [record_of(fact, uses.get(fact.id)) for fact in facts]
        if sort == PASSAGE:
            return [record_of(passage) for passage in await self._journal.passages_after(owner, after, limit)]
        if (feature := self._features.exporting(sort)) is not None:
            return await feature.export(owner, after, limit)
        sorts = ", ".join((FACT, PASSAGE, *self._features.exported))
        raise NotFound(f"there are no memories of the sort {sort!r}; there are: {sorts}")
