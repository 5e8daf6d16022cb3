"""Where memories came from, and what is put into quarantine, in the journal's database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson

from memory.fact import Fact, MemoryTier, Passage, State
from memory.member import Releaser
from memory.provenance import (
    QUARANTINE,
    MemorySource,
    QuarantinedSession,
    SelectedBy,
    SelectedMemories,
    Selection,
    highest_shelf,
    owner_before,
    quarantined,
)
from memory.research import QUESTIONS, TRAILS
from memory.scope import place_of
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection
from memory.stores.forgetting import borne_out_without
from memory.stores.history_cache import split
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import history_of
from memory.stores.rows import fact_of, passage_of


class Provenance(JournalPart):
    """The part of the journal that knows where memories came from."""

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""
        return await self._db.read(lambda connection: _source(connection, memory))

    async def chosen(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """The memories of some owners that came from somewhere, and what was derived from them."""
        return await self._db.read(lambda connection: _chosen(connection, selection, owners))

    async def shelve(self, chosen: SelectedMemories, by: Callable[[str], Releaser] | None) -> frozenset[str]:
        """Put memories into quarantine, with who may release those of an owner, or (None) take them back; whose they
        are."""

        def work(connection: Connection) -> frozenset[str]:
            return frozenset(_shelve(connection, chosen, by))

        return await self._db.write(work)

    async def quarantined_sessions(self, owners: Sequence[str], limit: int) -> list[QuarantinedSession]:
        """Of which sessions some owners have facts in quarantine, those with most first."""
        there = orjson.dumps(quarantined(owners)).decode()
        return await self._rows(
            "quarantine_sessions",
            lambda row: QuarantinedSession(row["session"], int(row["facts"]), int(row["passages"])),
            there,
            limit,
        )

    async def quarantined_facts(self, owners: Sequence[str], session: str, limit: int) -> list[Fact]:
        """The first facts of a session that some owners have in quarantine."""
        there = orjson.dumps(quarantined(owners)).decode()

        def work(connection: Connection) -> list[Fact]:
            rows = connection.execute(QUERIES["quarantine_first"], (there, session, limit))
            return [fact_of(row) for row in rows]

        return await self._db.read(work)

    async def in_quarantine(self) -> int:
        """How many memories are in quarantine."""
        return await self._db.read(
            lambda connection: int(connection.execute(QUERIES["quarantine_count"]).fetchone()[0])
        )


def _source(connection: Connection, memory: Fact | Passage) -> MemorySource:
    place = place_of(owner_before(memory.owner))
    derived = memory.derived_from if isinstance(memory, Fact) else ()
    project = (place[0].project if place else None) or ""
    row = connection.execute(QUERIES["came_from"], {"session": memory.session, "source": memory.source}).fetchone()
    if row is None:
        return MemorySource(memory.id, memory.origin, session=memory.session, project=project, derived_from=derived)
    with_it = None
    if memory.source and row["exchange"] is not None:
        with_it = connection.execute(QUERIES["came_with"], (row["exchange"],)).fetchone()
    return MemorySource(
        memory.id,
        memory.origin,
        program=row["runtime"],
        credential=row["credential"],
        session=row["session"],
        client_session=row["key"].split(":", 2)[-1],
        project=row["project"] or project,
        request=with_it["id"] if with_it else "",
        model=with_it["model"] if with_it else "",
        at=datetime.fromisoformat(with_it["at"]) if with_it else None,
        derived_from=derived,
    )


def _chosen(connection: Connection, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
    if (project := selection.by.get(SelectedBy.PROJECT)) is not None:
        owners = [owner for owner in owners if _project_of(owner) == project]
    data: dict[str, Any] = {
        "owners": orjson.dumps([*owners]).decode(),
        "since": selection.since.timestamp() if selection.since else None,
        "until": selection.until.timestamp() if selection.until else None,
        "sessions": orjson.dumps(sorted(selection.sessions)).decode(),
        "origins": orjson.dumps(sorted(selection.origins)).decode(),
        "program": selection.by.get(SelectedBy.PROGRAM, ""),
        "credential": selection.by.get(SelectedBy.CREDENTIAL, ""),
        "session": selection.by.get(SelectedBy.SESSION, ""),
    }
    facts = [fact_of(row) for row in connection.execute(QUERIES["came_facts"], data)]
    passages = [passage_of(row) for row in connection.execute(QUERIES["came_passages"], data)]
    research = [row["id"] for row in connection.execute(QUERIES["came_research"], data)]
    if (request := selection.by.get(SelectedBy.REQUEST)) is not None:
        messages = _new_messages_of_request(connection, request)
        facts = [fact for fact in facts if (fact.session, fact.source) in messages]
        passages = [passage for passage in passages if (passage.session, passage.source) in messages]
        research = []
    passages += _research_passages(connection, research, {each.id for each in passages})
    derived = _derived_facts(connection, {fact.id: fact for fact in facts}, frozenset(owners))
    every = [*facts, *derived]
    ids = {fact.id for fact in every}
    return SelectedMemories(
        (*facts, *passages),
        tuple(derived),
        tuple(research),
        tuple(fact.id for fact in every if fact.tier is MemoryTier.SHARED),
        tuple(dict.fromkeys(id for fact in every for id in fact.supersedes if id not in ids)),
    )


def _project_of(owner: str) -> str | None:
    owner = owner_before(owner)
    for collection in (QUESTIONS, TRAILS):
        owner = owner.removeprefix(collection)
    place = place_of(owner)
    return place[0].project if place else None


def _new_messages_of_request(connection: Connection, request: str) -> set[tuple[str, bytes]]:
    """What was new in a request: session and digest of each message, and of the reply."""
    found = set()
    for row in connection.execute(QUERIES["came_request"], {"request": request}):
        history = split(history_of(connection, row["number"]))
        digests = [history[index] for index in orjson.loads(row["fresh"]) if index < len(history)]
        found |= {(row["session"], digest) for digest in (*digests, row["reply"]) if digest}
    return found


def _research_passages(connection: Connection, research: Sequence[str], known: set[str]) -> list[Passage]:
    rows = [row for id in research for row in connection.execute(QUERIES["research_pieces"], (id,))]
    return [passage_of(row) for row in rows if row["id"] not in known]


def _derived_facts(connection: Connection, facts: dict[str, Fact], owners: frozenset[str]) -> list[Fact]:
    """What was drawn from some facts, and from that, but for what a person approved and something else bears out."""
    known, fresh, found = dict(facts), list(facts), list[Fact]()
    while fresh:
        ids = [row["id"] for row in ask_many(connection, "forget_derived", fresh) if row["id"] not in known]
        new = [fact_of(row) for row in ask_many(connection, "facts_get", ids)]
        new = [fact for fact in new if fact.owner in owners and not borne_out_without(fact, known)]
        known.update((fact.id, fact) for fact in new)
        found += new
        fresh = [fact.id for fact in new]
    return found


def _shelve(connection: Connection, chosen: SelectedMemories, by: Callable[[str], Releaser] | None) -> set[str]:
    owners = set()

    def moved(owner: str) -> str:
        before = owner_before(owner)
        owners.add(before)
        return before if by is None else f"{QUARANTINE}{by(before)}{before}"

    for memory in (*chosen.memories, *chosen.derived):
        owner, sort = moved(memory.owner), "fact" if isinstance(memory, Fact) else "turn"
        connection.execute(QUERIES["shelve_fact" if sort == "fact" else "shelve_passage"], (owner, memory.id))
        for name in ("shelve_lines", "shelve_error_keys", "shelve_observation"):
            connection.execute(QUERIES[name], (owner, memory.id))
        archived = isinstance(memory, Fact) and memory.state is State.ARCHIVED
        connection.execute(QUERIES["outbox_add"], (memory.id, "gone" if by is not None or archived else sort))
    for row in ask_many(connection, "candidates_with", chosen.ids):
        # It is where the part of its evidence is that the fewest may release.
        evidence = connection.execute(QUERIES["evidence_owners"], (row["id"],)).fetchall()
        shelf = highest_shelf(each["owner"] for each in evidence)
        before = owner_before(row["owner"])
        owners.add(before)
        connection.execute(QUERIES["shelve_candidate"], (shelf + before, row["id"]))
    for id in chosen.research:
        for row in connection.execute(QUERIES["research_owner"], (id,)).fetchall():
            connection.execute(QUERIES["shelve_research"], (moved(row["owner"]), id))
    return owners
