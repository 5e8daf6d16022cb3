"""Where memories were learnt, as this feature needs it of the journal: at hand, read once beside the requests that ask
for it, and as records that an export writes and an import reads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Protocol, TypedDict

import msgspec
from msgspec import Meta

from memory.checkout import Branch, BranchStage, Checkout, Citation, LearnedAt
from memory.fact import Fact, Passage
from memory.hooks.route_request import Fields
from memory.services.transfer.records import InvalidRecord

log = logging.getLogger(__name__)

AT_ONCE: Final = 24
"""Memories that are asked for at once: so many the journal looks up here and now."""
MOST: Final = 4096


class LearnedAtJournal(Protocol):
    """What this needs of the journal."""

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt, by their ids, as far as that is known."""


class Rows:
    """The rows that were read since anything was written."""

    def __init__(self, journal: LearnedAtJournal) -> None:
        self._journal = journal
        self._known: dict[str, LearnedAt | None] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        """By memory the read that is under way for ``_known``."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def of(self, ids: Sequence[str], seconds: float) -> dict[str, LearnedAt | None]:
        """Where memories were learnt, None for those learnt nowhere, as far as that is read within so many seconds.
        What is not goes on being read, for the next request."""
        if len(self._known.keys() | set(ids)) > MOST:
            self.written()
        known, reading = self._known, self._reading
        unread = [id for id in ids if id not in known]
        if unread:
            new = [id for id in unread if id not in reading]
            if new:
                task = asyncio.create_task(self._read(new, known, reading))
                reading.update(dict.fromkeys(new, task))
                self._tasks.add(task)
                task.add_done_callback(self._ended)
            # Neither the time nor a request that is given up ends a read.
            await asyncio.wait({reading[id] for id in unread}, timeout=seconds)
        return {id: known[id] for id in ids if id in known}

    def written(self) -> None:
        """Something was written: what is at hand, or being read, may be old."""
        self._known, self._reading = {}, {}

    async def stop(self) -> None:
        """Read no further."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(
        self, ids: Sequence[str], known: dict[str, LearnedAt | None], reading: dict[str, asyncio.Task[None]]
    ) -> None:
        try:
            for start in range(0, len(ids), AT_ONCE):
                some = ids[start : start + AT_ONCE]
                found = await self._journal.learnt(some)
                known |= {id: found.get(id) for id in some}
        finally:
            for id in ids:
                reading.pop(id, None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("where memories were learnt could not be read: %s", type(error).__name__)


class CheckoutJournal(Protocol):
    @property
    def works(self) -> bool: ...
    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]: ...
    async def unlooked(self, repository: str, limit: int) -> list[tuple[str, str]]: ...
    async def looked(self, cited: Mapping[str, Sequence[Citation]]) -> None: ...
    async def awaiting(self, repository: str, limit: int) -> list[LearnedAt]: ...
    async def branches(self, repository: str) -> list[Branch]: ...
    async def anchors(self, repository: str, branch: str) -> list[tuple[str, str, str]]: ...
    async def follow(
        self,
        branches: Sequence[Branch],
        renamed: Mapping[str, str],
        ended: Mapping[str, tuple[str, Sequence[str]]],
        anchors: Mapping[str, str],
        repository: str,
    ) -> frozenset[str]: ...
    async def learnt_on(self, branch: str, owners: Sequence[str], limit: int) -> list[str]: ...
    async def counted(self, owners: Sequence[str], limit: int) -> list[Any]: ...
    async def learnt_after(self, owner: str, after: str, limit: int) -> list[LearnedAt]: ...
    async def learn_where(self, learnt: LearnedAt) -> bool: ...
    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]: ...
    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]: ...


LEARNT = "checkout"

_Text = Annotated[str, Meta(max_length=4096)]
_Commit = Annotated[str, Meta(pattern="^([0-9a-f]{40,64})?$")]


class _AnchorRecord(msgspec.Struct):
    """Where a memory was learnt. ``id`` is the memory's, ``anchor`` the first commit of its branch by which others know
    it; ``staged`` says that it holds on that branch only; ``cites`` are the places in the code that it names."""

    id: Annotated[str, Meta(min_length=1, max_length=64)]
    owner: _Text
    repository: _Text
    branch: _Text = ""
    commit: _Commit = ""
    anchor: _Commit = ""
    staged: bool = False
    cites: list[Citation] = []


class RecordSort(TypedDict):
    """What sort of record it is."""

    sort: Literal["checkout"]


CheckoutRecord = Annotated[dict[str, Any], Fields("CheckoutRecord", _AnchorRecord, RecordSort)]


def record_of(learnt: LearnedAt) -> CheckoutRecord:
    """Where a memory was learnt, as a record. What was merged since is the project's."""
    at = learnt.checkout
    anchor_record = _AnchorRecord(
        learnt.memory,
        learnt.owner,
        at.repository,
        at.branch,
        at.commit,
        learnt.anchor,
        at.staged and learnt.stage is not BranchStage.MERGED,
        list(learnt.cites),
    )
    record: dict[str, Any] = msgspec.to_builtins(anchor_record)
    return {"sort": LEARNT, **record}


def learnt_of(record: Mapping[str, Any]) -> LearnedAt:
    """The inverse of :func:`record_of`.

    Raises:
        InvalidRecord: when a field is missing or is not of its kind.
    """
    try:
        record_fields = msgspec.convert(dict(record), _AnchorRecord)
    except ValueError as error:
        raise InvalidRecord(str(error).replace("`$.", "`")[:300]) from None
    here = Checkout(record_fields.repository, record_fields.branch, record_fields.commit, record_fields.staged)
    return LearnedAt(
        record_fields.id,
        record_fields.owner,
        here,
        record_fields.anchor,
        tuple(record_fields.cites),
        looked=bool(record_fields.cites),
    )
