"""Candidates in the journal's database: put forward once, decided by a person, gone with what bore them out.

Which facts bear a candidate out as things stand, and what is left of one from which some are taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory.candidate import Candidate, CandidateDecision, CandidateKind, CandidateState, Proposal
from memory.fact import Fact, State
from memory.learning.candidate_matching import AlreadyHeld, KnownCandidate, NewCandidate, meet
from memory.learning.tombstones import dismissal_of
from memory.scope import Layer, place_of
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.messages import Redact
from memory.stores.queries import QUERIES, many
from memory.stores.rows import fact_of, stamp, when


def silenced(connection: Connection, facts: Sequence[Fact], key: bytes) -> frozenset[str]:
    """The ids of those of some facts that are archived and speak for nothing."""
    archived = {fact.id: fact for fact in facts if fact.state is State.ARCHIVED}
    followers, fresh = dict(archived), list(archived)
    while fresh:
        found = [fact_of(row) for row in ask_many(connection, "following", fresh)]
        new = [fact for fact in found if fact.id not in followers and fact.state in (State.ACTIVE, State.ARCHIVED)]
        followers.update((fact.id, fact) for fact in new)
        fresh = [fact.id for fact in new if fact.state is State.ARCHIVED]
    faded = {row["memory"] for row in ask_many(connection, "evidence_faded", list(followers))}
    dismissed = _dismissed(connection, list(followers.values()), key)
    speaking = [
        fact
        for fact in followers.values()
        if fact.state is State.ACTIVE or (fact.id in faded and fact.id not in dismissed)
    ]
    heard = {fact.id for fact in speaking}
    while speaking:
        for id in speaking.pop().supersedes:
            before = followers.get(id)
            if before is not None and id not in heard and id not in dismissed:
                heard.add(id)
                speaking.append(before)
    return frozenset(archived.keys() - heard)


def bearing_out(connection: Connection, candidate: Candidate, key: bytes) -> list[Fact]:
    """The facts that bear a candidate out. Knowledge is borne out by what was said and was not changed since."""
    facts = [fact_of(row) for row in ask_many(connection, "facts_get", candidate.evidence)]
    if candidate.kind is not CandidateKind.KNOWLEDGE:
        return facts
    gone = silenced(connection, facts, key)
    return [fact for fact in facts if fact.state is not State.SUPERSEDED and fact.id not in gone]


def withdraw(connection: Connection, candidate: Candidate, ids: Sequence[str]) -> None:
    """These facts bear a candidate out no more, and are not among what is counted."""
    left = [id for id in candidate.evidence if id not in ids]
    gone = len(candidate.evidence) - len(left)
    sessions = {
        row["session"] for name in ("facts_get", "snapshot_said_by") for row in ask_many(connection, name, left)
    }
    counted = {
        "id": candidate.id,
        "sources": max(candidate.sources - gone, 0),
        "sessions": min(candidate.sessions, len(sessions)),
        "state": candidate.state.value,
    }
    connection.executemany(QUERIES["candidate_evidence_drop"], [(candidate.id, id) for id in ids])
    connection.execute(QUERIES["candidate_counted"], counted)


def _dismissed(connection: Connection, facts: Sequence[Fact], key: bytes) -> set[str]:
    """The ids of those in whose words a person has dismissed a draft."""
    by_hash = {fact.id: dismissal_of(key, fact.owner, fact.text) for fact in facts if fact.state is State.ARCHIVED}
    found = {bytes(row["hash"]) for row in ask_many(connection, "tombstone_find", list(by_hash.values()))}
    return {id for id, hash in by_hash.items() if hash in found}


_COUNTED = ("sources", "sessions", "state")


class Candidates(JournalPart):
    """The part of the journal that keeps what waits for a person."""

    _key: bytes

    async def propose(self, owner: str, proposals: Sequence[Proposal], at: datetime) -> list[str]:
        """Put something forward to an owner outside any night; the ids of what is new to them or waits again."""

        def work(connection: Connection) -> list[str]:
            results = [put_forward(connection, owner, each, at, self._redact.of_owner(owner)) for each in proposals]
            return [id for id, is_new, fields in filter(None, results) if is_new or "state" in fields]

        return await self._db.write(work)

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners, those with the most evidence first."""

        def work(connection: Connection) -> list[Candidate]:
            rows = connection.execute(many("candidates_of", len(owners)), tuple(owners)).fetchall()
            return with_evidence(connection, [row for row in rows if row["state"] in states])

        return await self._db.read(work) if owners else []

    async def candidates_first(self, owners: Sequence[str], limit: int, submitted: str = "") -> list[Candidate]:
        """The candidates of some owners that wait, without those that are ``submitted`` to an organisation, those with
        the most evidence first, ``limit`` at most."""
        return await self._find_candidates("candidates_first", owners, submitted, limit)

    async def candidates_decided(self, owners: Sequence[str], limit: int) -> list[Candidate]:
        """The candidates of some owners that were decided, ``limit`` at most, the newest decision first."""
        return await self._find_candidates("candidates_decided", owners, limit)

    async def _find_candidates(self, query: str, owners: Sequence[str], *last: str | int) -> list[Candidate]:
        def work(connection: Connection) -> list[Candidate]:
            return with_evidence(connection, connection.execute(many(query, len(owners)), (*owners, *last)).fetchall())

        return await self._db.read(work) if owners else []

    async def submitted(
        self, to: str, states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """What was submitted to the maintainers of an organisation, by the owner of what it shares; what was submitted
        first comes first."""

        def work(connection: Connection) -> list[Candidate]:
            rows = connection.execute(QUERIES["candidates_submitted"], (to,)).fetchall()
            return with_evidence(connection, [row for row in rows if row["state"] in states])

        return await self._db.read(work)

    async def submit(self, candidate: Candidate, to: str, by: str, at: datetime) -> Candidate:
        """Ask the maintainers of an organisation to approve a candidate as it is told: the candidate as it is then."""
        asked = replace(candidate, submitted_to=to, submitted_by=by, submitted_at=at)

        def work(connection: Connection) -> Candidate:
            clean = self._redact.of_owner(candidate.owner)
            fields = _submitted_fields(asked) | {
                "id": asked.id,
                "title": clean(asked.title),
                "text": clean(asked.text),
                "layer": asked.layer.value,
            }
            connection.execute(QUERIES["candidate_submit"], fields)
            [whole] = with_evidence(connection, by_id(connection, [asked.id]))
            return whole

        return await self._db.write(work)

    async def bearing_out(self, candidate: Candidate) -> list[Fact]:
        """The facts that bear a candidate out as things stand."""
        return await self._db.read(lambda connection: bearing_out(connection, candidate, self._key))

    async def withdraw_evidence(self, ids: Sequence[str]) -> None:
        """These facts bear no knowledge out that was put forward, from now on."""

        def work(connection: Connection) -> None:
            rows = {row["id"]: row for row in ask_many(connection, "candidates_with", ids)}
            for candidate in with_evidence(connection, list(rows.values())):
                if candidate.kind is CandidateKind.KNOWLEDGE:
                    withdraw(connection, candidate, ids)

        await self._db.write(work)

    async def decide(
        self, candidate: Candidate, state: CandidateState, at: datetime, reason: str = "", by: str = ""
    ) -> Candidate:
        """A person has decided, and nothing else changes but to whom it is submitted: the candidate as it is then."""

        def work(connection: Connection) -> Candidate:
            decision = CandidateDecision(candidate, state, reason, by=by)
            return decided(connection, decision, at, self._redact.of_owner(candidate.owner))

        return await self._db.write(work)

    async def shared(self, owner: str) -> list[Fact]:
        """What persons have approved for all who share an owner, in the order in which they did."""
        return await self._rows("shared_facts", fact_of, owner)

    async def candidates_waiting(self, owners: Sequence[str] | None = None, submitted: str = "") -> int:
        """How many candidates of some owners, without those that are ``submitted`` to an organisation, or of all, wait
        for a person."""

        def work(connection: Connection) -> int:
            found = (
                connection.execute(QUERIES["candidates_waiting_all"])
                if owners is None
                else connection.execute(many("candidates_waiting", len(owners)), (*owners, submitted))
            )
            (waiting,) = found.fetchone()
            return int(waiting)

        return await self._db.read(work) if owners is None or owners else 0


def decided(connection: Connection, decision: CandidateDecision, at: datetime, redact: Redact) -> Candidate:
    """Write a person's decision: the candidate as it is then."""
    candidate = decision.candidate
    fields = {
        "id": candidate.id,
        "state": decision.state.value,
        "at": stamp(at),
        "reason": redact(decision.reason),
        "title": redact(candidate.title),
        "text": redact(candidate.text),
        "layer": candidate.layer.value,
        "fact": decision.fact,
        "by": decision.by,
        **_submitted_fields(candidate),
    }
    connection.execute(QUERIES["candidate_decided"], fields)
    [whole] = with_evidence(connection, by_id(connection, [candidate.id]))
    return whole


def put_forward(
    connection: Connection, owner: str, proposal: Proposal, at: datetime, redact: Redact
) -> tuple[str, bool, dict[str, list[Any]]] | None:
    """Put something forward: the candidate's id, whether it is new, and of what was counted what it was and what it
    became. None where there is no more for it than there was, or nothing is left of its evidence."""
    if proposal.evidence and not ask_many(connection, "facts_get", proposal.evidence):
        return None
    before = with_evidence(connection, connection.execute(many("candidates_of", 1), (owner,)).fetchall())
    met = meet(proposal, before, _approved_for_owner(connection, owner, proposal.layer))
    row = _row(proposal, owner, at, redact)
    match met:
        case AlreadyHeld():
            return None
        case NewCandidate():
            connection.execute(QUERIES["candidate_add"], row)
            bear_out(connection, proposal.id, proposal.evidence)
            return proposal.id, True, {}
        case KnownCandidate(id, grown, waits):
            if not (grown or waits):
                return None
            known = next(each for each in before if each.id == id)
            connection.execute(QUERIES["candidate_grown"], row | {"id": id})
            bear_out(connection, id, proposal.evidence)
            was = {"sources": known.sources, "sessions": known.sessions, "state": known.state.value}
            counted = {name: [was[name], row[name]] for name in _COUNTED if was[name] != row[name]}
            return (id, False, counted) if counted else None


def candidate_of(row: Row | Mapping[str, Any], evidence: tuple[str, ...] = ()) -> Candidate:
    """A candidate out of its table."""
    return Candidate(
        id=row["id"],
        owner=row["owner"],
        kind=CandidateKind(row["kind"]),
        mark=row["mark"],
        title=row["title"],
        text=row["text"],
        what=row["what"],
        sources=row["sources"],
        sessions=row["sessions"],
        layer=Layer(row["layer"]),
        made_at=datetime.fromisoformat(row["made_at"]),
        evidence=evidence,
        state=CandidateState(row["state"]),
        decided_at=when(row["decided_at"]),
        reason=row["reason"],
        sources_then=row["sources_then"],
        sessions_then=row["sessions_then"],
        fact=row["fact"],
        submitted_to=row["submitted_to"],
        submitted_by=row["submitted_by"],
        submitted_at=when(row["submitted_at"]),
        decided_by=row["decided_by"],
    )


def by_id(connection: Connection, ids: Sequence[str]) -> list[Row]:
    """The rows of candidates."""
    return ask_many(connection, "candidates_get", ids)


def with_evidence(connection: Connection, rows: Sequence[Row]) -> list[Candidate]:
    """Candidates with the ids of what bears them out."""
    evidence: dict[str, list[str]] = {}
    for row in ask_many(connection, "evidence_of", [row["id"] for row in rows]):
        evidence.setdefault(row["candidate"], []).append(row["memory"])
    return [candidate_of(row, tuple(evidence.get(row["id"], ()))) for row in rows]


def bear_out(connection: Connection, candidate: str, evidence: Sequence[str]) -> None:
    """These facts bear a candidate out."""
    connection.executemany(QUERIES["candidate_evidence_add"], [(candidate, id) for id in evidence])


def _approved_for_owner(connection: Connection, owner: str, layer: Layer) -> list[str]:
    """What has been approved for those whom something of an owner is meant for."""
    place = place_of(owner)
    shared = place[0].owner(layer) if place is not None else None
    return [row["text"] for row in connection.execute(QUERIES["shared_texts"], (shared,))] if shared else []


def _submitted_fields(candidate: Candidate) -> dict[str, Any]:
    return {
        "submitted_to": candidate.submitted_to,
        "submitted_by": candidate.submitted_by,
        "submitted_at": stamp(candidate.submitted_at) if candidate.submitted_at else None,
    }


def _row(proposal: Proposal, owner: str, at: datetime, redact: Redact) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "owner": owner,
        "kind": proposal.kind.value,
        "mark": proposal.mark,
        "layer": proposal.layer.value,
        "title": redact(proposal.title),
        "text": redact(proposal.text),
        "what": proposal.what,
        "sources": proposal.sources,
        "sessions": proposal.sessions,
        "state": CandidateState.WAITING.value,
        "made_at": stamp(at),
        "decided_at": None,
        "reason": "",
        "sources_then": 0,
        "sessions_then": 0,
        "fact": "",
        "decided_by": "",
    }
