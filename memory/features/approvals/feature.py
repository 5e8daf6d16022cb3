"""Candidates, behind the hooks: given out by an export, taken in by an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.candidate import ImportOutcome
from memory.features.approvals.records import CANDIDATE, CandidateRecords
from memory.hooks.feature import Core, Feature
from memory.scope import Scope

_TAKEN = {ImportOutcome.TAKEN: "taken", ImportOutcome.KNOWN: "known", ImportOutcome.GONE: "forgotten"}


class Approvals(Feature):
    """The feature."""

    name = "approvals"
    exported = CANDIDATE
    counted = "candidates"

    def __init__(self, core: Core) -> None:
        self._records = CandidateRecords(core.journal)

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        return await self._records.records(owner, after, limit)

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        return _TAKEN[await self._records.take(record, scope, dry)]


FEATURE = Approvals
