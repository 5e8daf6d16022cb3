"""The part of the journal that belongs to approvals: what decisions make of facts, and what stands in shared files.

Candidates as records: what waits for a person and what was decided, written by an export, read by an import.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

import msgspec

from memory.candidate import Candidate, CandidateDecision, ImportOutcome
from memory.fact import Fact
from memory.scope import Layer, Scope, is_seen_from, owned_by
from memory.services.transfer.records import InvalidRecord, checked, plain
from memory.stores.base import ask_many
from memory.stores.candidates import bear_out, by_id, decided, with_evidence
from memory.stores.connection import Connection
from memory.stores.derived_facts import make_fact, write_columns
from memory.stores.journal import FeaturePart
from memory.stores.messages import Redact
from memory.stores.queries import QUERIES, many
from memory.stores.rows import fact_row, stamp


class ApprovalStore(FeaturePart):
    """Candidates that rise, that are exported and imported; the lines of shared files."""

    async def candidates_after(self, owner: str, after: str, limit: int) -> list[Candidate]:
        """An owner's candidates whose ids come behind ``after``, in order, whatever has become of them."""

        def work(connection: Connection) -> list[Candidate]:
            rows = connection.execute(QUERIES["candidates_after"], (owner, after, limit)).fetchall()
            return with_evidence(connection, rows)

        return await self._db.read(work)

    async def candidates_named(self, ids: Sequence[str]) -> list[Candidate]:
        """Candidates by id, whoever's."""
        return await self._db.read(lambda connection: with_evidence(connection, by_id(connection, ids)))

    async def take_candidate(
        self, candidate: Candidate, sees: Callable[[str], bool], dry: bool = False
    ) -> ImportOutcome:
        """Keep a candidate as it is told, decided or not; with ``dry`` only say what would become of it. It is borne
        out only by facts of owners that its person ``sees``; without ``sources`` these are counted."""

        def work(connection: Connection) -> ImportOutcome:
            same = (candidate.owner, candidate.mark)
            if by_id(connection, [candidate.id]) or connection.execute(QUERIES["candidate_marked"], same).fetchone():
                return ImportOutcome.KNOWN
            if dry:
                # What bears it out may be taken in by the same import, and is not there yet.
                return ImportOutcome.TAKEN
            there = [row for row in ask_many(connection, "facts_get", candidate.evidence) if sees(row["owner"])]
            if len(there) < len(candidate.evidence):
                return ImportOutcome.GONE
            told = candidate
            if not candidate.sources:
                told = replace(candidate, sources=len(there), sessions=len({row["session"] for row in there}))
            connection.execute(QUERIES["candidate_add"], _redacted_fields(told, self._redact.of_owner(told.owner)))
            bear_out(connection, candidate.id, candidate.evidence)
            return ImportOutcome.TAKEN

        return await self._db.write(work)

    async def rise(
        self, added: Sequence[Fact], changed: Sequence[Fact], decisions: Sequence[CandidateDecision], at: datetime
    ) -> list[Candidate]:
        """Write what a person's decisions make of facts, with the decisions, whole or not at all: facts that are new,
        and others of which anything but their text and their owner has changed. The candidates as they are then."""

        def work(connection: Connection) -> list[Candidate]:
            for fact in added:
                make_fact(connection, fact, self._redact.of_owner(fact.owner), self._terms)
            for fact in changed:
                row = connection.execute(many("facts_get", 1), (fact.id,)).fetchone()
                if row is not None:
                    write_columns(connection, fact_row(fact, str), row["state"])
            return [decided(connection, each, at, self._redact.of_owner(each.candidate.owner)) for each in decisions]

        return await self._db.write(work)

    async def became(self, facts: Sequence[str]) -> list[Candidate]:
        """The candidates, whoever's, that became one of these facts."""

        def work(connection: Connection) -> list[Candidate]:
            return with_evidence(connection, ask_many(connection, "candidates_became", facts))

        return await self._db.read(work)

    async def approved_skills(self) -> list[Candidate]:
        """The skills that are approved, whoever's."""

        def work(connection: Connection) -> list[Candidate]:
            return with_evidence(connection, connection.execute(QUERIES["candidates_skills"]).fetchall())

        return await self._db.read(work)

    async def crystallized(self, owner: str) -> frozenset[str]:
        """The shared facts of an owner whose lines were written into its file."""

        def work(connection: Connection) -> frozenset[str]:
            return frozenset(row["fact"] for row in connection.execute(QUERIES["crystallized_of"], (owner,)))

        return await self._db.read(work)

    async def set_crystallized(self, owner: str, facts: Sequence[str]) -> None:
        """The lines of these stand in an owner's file, and no others."""

        def work(connection: Connection) -> None:
            connection.execute(QUERIES["crystallized_drop"], (owner,))
            connection.executemany(QUERIES["crystallized_add"], [(fact, owner) for fact in facts])

        await self._db.write(work)


def _redacted_fields(candidate: Candidate, redact: Redact) -> dict[str, Any]:
    body = {each.name: getattr(candidate, each.name) for each in fields(candidate) if each.name != "evidence"}
    decided = stamp(candidate.decided_at) if candidate.decided_at else None
    clean = {name: redact(body[name]) for name in ("title", "text", "reason")}
    return body | clean | {"made_at": stamp(candidate.made_at), "decided_at": decided}


CANDIDATE = "candidate"

_HANDED_ON = frozenset({"submitted_to", "submitted_by", "submitted_at", "decided_by"})
"""What is empty of a candidate that a person decides alone."""


class CandidateRecords:
    """Gives candidates out and takes them in."""

    def __init__(self, store: ApprovalStore) -> None:
        self._store = store

    async def records(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        """An owner's candidates behind an id, in the order of the ids; who submitted and decided one is told where
        somebody did."""
        return [
            {
                "sort": CANDIDATE,
                **{name: plain(value) for name, value in asdict(each).items() if value or name not in _HANDED_ON},
            }
            for each in await self._store.candidates_after(owner, after, limit)
        ]

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
