"""Candidates as records: what waits for a person and what was decided, written by an export, read by an import."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import msgspec

from memory.candidate import Candidate, ImportOutcome
from memory.features.approvals.store import ApprovalStore
from memory.scope import Layer, Scope, is_seen_from, owned_by
from memory.services.transfer.records import InvalidRecord, checked, plain

CANDIDATE = "candidate"


class CandidateRecords:
    """Gives candidates out and takes them in."""

    def __init__(self, store: ApprovalStore) -> None:
        self._store = store

    async def records(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        """An owner's candidates behind an id, in the order of the ids."""
        found = await self._store.candidates_after(owner, after, limit)
        return [{"sort": CANDIDATE, **{name: plain(value) for name, value in asdict(each).items()}} for each in found]

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> ImportOutcome:
        """Take one in, behind the facts that bear it out.

        Raises:
            NoRecord: when it is none, or is not the scope's to own.
        """
        candidate = _read(record)
        mine = owned_by(candidate.owner, scope)
        owner = mine[0].owner(mine[1]) if mine is not None else None
        if owner is None:
            raise InvalidRecord(f"its owner {candidate.owner[:80]!r} is none that you may write to")
        if any(known.owner != owner for known in await self._store.candidates_named([candidate.id])):
            raise InvalidRecord(f"a candidate of another owner has the id {candidate.id}")
        return await self._store.take_candidate(
            replace(candidate, owner=owner), lambda of: is_seen_from(of, scope), dry
        )


def _read(record: Mapping[str, Any]) -> Candidate:
    try:
        candidate = msgspec.convert(dict(record), Candidate)
        ids = [str(uuid.UUID(id)) for id in (candidate.id, *candidate.evidence)]
    except ValueError as error:
        raise InvalidRecord(str(error).replace("`$.", "`")[:300]) from None
    checked(candidate)
    if candidate.layer not in (Layer.PROJECT, Layer.ORG):
        raise InvalidRecord(f"layer is {candidate.layer.value!r}; a candidate is for a project or an org")
    if not candidate.text.strip() or not candidate.mark or not candidate.owner:
        raise InvalidRecord("text, mark and owner may not be empty")
    return replace(candidate, id=ids[0], evidence=tuple(ids[1:]))
