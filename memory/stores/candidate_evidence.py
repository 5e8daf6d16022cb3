"""Which facts bear a candidate out as things stand, and what is left of one from which some are taken.

An archived fact was said all the same where it faded in a night, or where what was said again stands for it. What a
person took out of memory by hand, or dismissed as of the moment, speaks for nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.candidate import Candidate, CandidateKind
from memory.fact import Fact, State
from memory.learning.tombstones import dismissal_of
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of


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
