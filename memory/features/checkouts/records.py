"""Where memories were learnt, as records: written by an export, read by an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta

from memory.checkout import BranchStage, Checkout, Citation, LearnedAt
from memory.services.transfer.records import InvalidRecord

LEARNT = "checkout"

_Text = Annotated[str, Meta(max_length=4096)]
_Commit = Annotated[str, Meta(pattern="^([0-9a-f]{40,64})?$")]


class _AnchorRecord(msgspec.Struct):
    id: Annotated[str, Meta(min_length=1, max_length=64)]
    owner: _Text
    repository: _Text
    branch: _Text = ""
    commit: _Commit = ""
    anchor: _Commit = ""
    staged: bool = False
    cites: list[Citation] = []


def record_of(learnt: LearnedAt) -> dict[str, Any]:
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
        NoRecord: when a field is missing or is not of its kind.
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

    async def of(self, ids: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt."""
        known = self._known
        unread = [id for id in ids if id not in known]
        if len(known) + len(unread) > MOST:
            known = self._known = {}
            unread = list(ids)
        for start in range(0, len(unread), AT_ONCE):
            some = unread[start : start + AT_ONCE]
            read = await self._journal.learnt(some)
            # What was written meanwhile has put another dictionary in the place of this one.
            known.update((id, read.get(id)) for id in some)
        return {id: row for id in ids if (row := known.get(id)) is not None}

    def written(self) -> None:
        """Something was written: what is at hand may be old."""
        self._known = {}
