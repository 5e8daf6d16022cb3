"""Keep what each leg of recall has been worth to each user, and weigh the legs for a request by it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Protocol

from memory.context.rank import WEIGHTS, Weights
from memory.context.thompson_sampling import recorded, sampled
from memory.lru import LruDict
from memory.ports import StoreError, Tally
from memory.session import ShownMemory

log = logging.getLogger(__name__)

KNOWN = 256
"""Users whose counts are at hand."""

TOGETHER_SECONDS = 1.0
"""How long what was heard waits for more of it, to be written down in one write."""


class LegTallyJournal(Protocol):
    """What this needs of the journal."""

    async def tallies(self, owner: str) -> dict[str, Tally]:
        """How the legs of recall have done for an owner."""

    async def tally(self, owner: str, tallies: Mapping[str, Tally]) -> None:
        """Write it."""


class LegWeights:
    """Weighs legs. An owner is one of the layer *user*: ``u:…``."""

    def __init__(self, journal: LegTallyJournal) -> None:
        self._journal = journal
        self._known: LruDict[str, dict[str, Tally]] = LruDict(KNOWN)
        self._waiting: dict[str, list[tuple[Mapping[str, float], bool]]] = {}
        self._writing: asyncio.Task[None] | None = None
        self._at_once = asyncio.Event()

    async def weights(self, owners: Sequence[str], request: str) -> Weights:
        """The weights for a request of somebody with these owners; the same for the same ``request``."""
        owner = user_of(owners)
        if owner is None or not (tallies := await self._of(owner)):
            return WEIGHTS
        return sampled(tallies, Random(zlib.crc32(request.encode("utf-8", "surrogatepass"))))

    def heard(self, owner: str, shown: ShownMemory, was_used: bool) -> None:
        """A memory that was shown to a user was used, or was not. Never waits: it is written down beside."""
        self._waiting.setdefault(owner, []).append((shown.why, was_used))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def settle(self) -> None:
        """Wait until all of it is written down."""
        self._at_once.set()
        if self._writing is not None:
            await asyncio.wait({self._writing})
        self._at_once.clear()

    async def _write(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TOGETHER_SECONDS):
                await self._at_once.wait()
        while self._waiting:
            owner, shown = self._waiting.popitem()
            try:
                await self.record_all(owner, shown)
            except StoreError as error:
                # Weights are a matter of habit: what could not be counted once does no harm.
                log.warning("how recall did is not counted: %s", error)

    async def record_all(self, owner: str, shown: Iterable[tuple[Mapping[str, float], bool]]) -> None:
        """Each memory that one request was given was used, or was not: the parts of its score as they were shown
        (``Shown.why``; other parts than legs are passed over), in one write."""
        before = await self._of(owner)
        tallies = recorded(before, shown)
        if tallies != before:
            self._known[owner] = tallies
            await self._journal.tally(owner, tallies)

    async def _of(self, owner: str) -> dict[str, Tally]:
        known = self._known.get(owner)
        if known is None:
            known = self._known.put(owner, await self._journal.tallies(owner))
        return known


def user_of(owners: Sequence[str]) -> str | None:
    """The owner of the layer *user* among some."""
    return next((owner for owner in owners if owner.startswith("u:")), None)
