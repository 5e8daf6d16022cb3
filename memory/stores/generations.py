"""Which index is searched, and a new one beside it.

Every generation of the index has a folder (or a collection on a server) of its own, named by embedder, dimensions
and number, and by the journal that it was filled from: an index that another journal left behind is never taken
for this one's. What a generation has still to take in stands in the journal (``unindexed``), so filling it may stop
and go on at any time.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from pathlib import Path
from typing import Protocol

from memory.ports import Embedder, Generation, Index, Journal
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.index_edge import EdgeIndex, remove
from memory.stores.index_server import ANSWERED_SECONDS, ServerIndex, answer, client_of
from memory.stores.tenant_vectors import ROOM

log = logging.getLogger(__name__)


class IndexHome(Protocol):
    """Where indexes lie: in folders, or on a server."""

    async def open(self, name: str, dimensions: int, anew: bool = False) -> tuple[Index, bool]:
        """The index of that name, and whether it was made just now; ``anew`` removes what lies there before."""

    async def there(self, name: str) -> bool:
        """Whether something still lies where that index was opened.

        Raises:
            StoreFault: when that cannot be told.
        """

    async def remove(self, name: str) -> None:
        """Remove an index that is not open; a missing one is removed already."""

    async def discard(self, names: frozenset[str]) -> None:
        """Remove what earlier runs left behind."""


class FolderIndexes:
    """Indexes embedded in this process, each in a folder below one, and so many points of each at hand at most."""

    def __init__(self, folder: Path, at_hand: int = ROOM) -> None:
        self._folder = folder
        self._at_hand = at_hand

    async def open(self, name: str, dimensions: int, anew: bool = False) -> tuple[Index, bool]:
        folder = self._folder / name
        if anew:
            await self.remove(name)
        new = not any(folder.glob("*"))
        return await EdgeIndex.open(folder, dimensions, self._at_hand), new

    async def there(self, name: str) -> bool:
        return any((self._folder / name).glob("*"))

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(remove, self._folder / name)

    async def discard(self, names: frozenset[str]) -> None:
        for folder in self._folder.glob("*-g*"):
            if folder.name not in names:
                await asyncio.to_thread(remove, folder)


class ServerIndexes:
    """Indexes on a Qdrant server, each a collection. Other journals may keep theirs there, so none is discarded.

    One may be opened while the server is away: what is asked of it fails until the server is back.
    """

    def __init__(self, url: str, api_key: str | None = None, replication: int = 1) -> None:
        self._url = url
        self._api_key = api_key
        self._replication = replication
        self._unreached: dict[str, ServerIndex] = {}

    async def open(self, name: str, dimensions: int, anew: bool = False) -> tuple[Index, bool]:
        client = client_of(self._url, self._api_key, timeout=ANSWERED_SECONDS)
        index = ServerIndex(client, f"palimpsest-{name}", dimensions, anew=anew, replication=self._replication)
        try:
            await index.reach()
        except StoreFault as fault:
            if fault.fault is not StoreFaultKind.FAILING:
                await index.close()
                raise
            log.warning("memory opens without its index, and finds little until that is there: %s", fault)
            index.expected = not anew
            self._unreached[name] = index
        except BaseException:
            await index.close()
            raise
        return index, index.created

    async def there(self, name: str) -> bool:
        """See :class:`IndexHome`. What a server has lost since it was reached, it tells by itself when it is asked for
        it."""
        index = self._unreached.get(name)
        if index is None:
            return True
        try:
            await index.reach()
        except StoreFault:
            if not index.gone:
                raise
        del self._unreached[name]
        return not index.gone

    async def remove(self, name: str) -> None:
        client = client_of(self._url, self._api_key)
        try:
            await answer(client.delete_collection(f"palimpsest-{name}"))
        finally:
            await client.close()

    async def discard(self, names: frozenset[str]) -> None:
        """See :class:`IndexHome`."""


class Generations:
    """Opens the current index, begins new ones, and switches between them."""

    def __init__(self, journal: Journal, home: IndexHome) -> None:
        self._journal = journal
        self._home = home

    async def open_current(self, embedder: Embedder) -> tuple[Index, Generation]:
        """The index to search.

        Where there is none, where it was made with another embedder, is damaged or has been deleted, a new and
        empty one takes its place at once: the journal then has everything as ``unindexed``.

        Raises:
            StoreFault: when another process owns it, or the server does not answer.
        """
        known = await self._journal.generations()
        current = next((each for each in known if each.current), None)
        if current is not None and (current.embedder, current.dimensions) == (embedder.name, embedder.dimensions):
            index = await self._reopen(current)
            if index is not None:
                await self._home.discard(frozenset(map(self.name, known)))
                return index, current
        if current is not None:
            why = "its embedder was changed" if current.embedder != embedder.name else "it was damaged or gone"
            log.warning("the index %s is filled anew from the journal: %s", self.name(current), why)
        generation, index = await self.begin(embedder)
        await self.switch(generation)
        return index, generation

    async def begin(self, embedder: Embedder) -> tuple[Generation, Index]:
        """A new index beside the current one, to be filled from the journal's ``unindexed(limit, number)``."""
        generation = await self._journal.begin_generation(embedder.name, embedder.dimensions)
        try:
            index, _ = await self._home.open(self.name(generation), generation.dimensions, anew=True)
        except BaseException:
            await self._journal.drop_generation(generation.number)
            raise
        return generation, index

    async def switch(self, generation: Generation) -> None:
        """From now on this one is searched; all others are given up. Close their indexes first. One whose server is
        away stays there, and is known no more."""
        await self._journal.switch_generation(generation.number)
        for other in await self._journal.generations():
            if other.number != generation.number:
                try:
                    await self._home.remove(self.name(other))
                except StoreFault as fault:
                    log.warning("the index %s is not used any more, and stays: %s", self.name(other), fault)
                await self._journal.drop_generation(other.number)

    async def drop(self, generation: Generation) -> None:
        """Give up an index that is not open: also one that was begun and shall not be finished."""
        await self._home.remove(self.name(generation))
        await self._journal.drop_generation(generation.number)

    async def there(self, generation: Generation) -> bool:
        """Whether an index that was opened still lies where it was: somebody may have deleted its folder."""
        return await self._home.there(self.name(generation))

    def name(self, generation: Generation) -> str:
        """The name of its folder or collection."""
        slug = re.sub(r"[^a-z0-9]+", "-", generation.embedder.lower()).strip("-")[:40]
        identity = f"{generation.embedder}\0{generation.dimensions}".encode()
        mark = hashlib.blake2b(identity, digest_size=4, key=self._journal.key()).hexdigest()
        return f"{slug}-{generation.dimensions}-{mark}-g{generation.number}"

    async def _reopen(self, generation: Generation) -> Index | None:
        """The index as it lies there; None where it is damaged or gone."""
        try:
            index, new = await self._home.open(self.name(generation), generation.dimensions)
        except StoreFault as error:
            if error.fault is StoreFaultKind.CORRUPT:
                return None
            raise
        if new:
            # It was there and is no more: what it held must all be taken in again, which a new one does.
            await index.close()
            return None
        return index
