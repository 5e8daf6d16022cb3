"""Facts and passages in the journal's database, and how rare the words in them are."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

import orjson

from memory.fact import Fact, Passage
from memory.ports import Lesson, TermRarity
from memory.stores.base import FEW, JournalPart, ask_many
from memory.stores.behaviour import write_observed
from memory.stores.checkouts import write_checkout
from memory.stores.connection import Connection
from memory.stores.graph import write_names
from memory.stores.memory_cache import KnownMemories
from memory.stores.memory_uses import begin_uses, count_uses
from memory.stores.queries import QUERIES, holding, many, write_several
from memory.stores.recent_commits import RecentCommits
from memory.stores.rows import fact_of, fact_row, names, passage_of, passage_row


class QueueStates(NamedTuple):
    """The states of the outbox and of what is due to the graph before and behind a write: where they are still the ones
    behind it, nothing came but with it."""

    outbox: int
    due: int
    outbox_behind: int = -1
    due_behind: int = -1

    def until(self, outbox: int, due: int) -> QueueStates:
        """The same with the states behind it, as they are once it is committed: a table into which anything came
        counts that once more then."""
        return self._replace(outbox_behind=outbox + (outbox != self.outbox), due_behind=due + (due != self.due))


class Facts(JournalPart):
    """The part of the journal that knows facts, passages and terms."""

    _known: KnownMemories
    _newly: RecentCommits

    async def learn(self, lesson: Lesson) -> None:
        """See :class:`memory.ports.Journal`. A lesson of an exchange that was learned from already changes nothing;
        number 0 is a lesson that no exchange taught."""

        many = len(lesson.facts) + len(lesson.passages) > FEW
        facts, passages = await asyncio.to_thread(self._stored_rows, lesson) if many else self._stored_rows(lesson)
        stored = _stored_verbatim(lesson, facts, passages)
        # The names of what was redacted are looked for in what was stored.
        named = {id: (memory.owner, lesson.names[id]) for id, memory in stored.items() if id in lesson.names}
        came = QueueStates(self._db.state("outbox"), self._db.state("graph_due"))

        def work(connection: Connection) -> None:
            nonlocal came
            came = QueueStates(self._db.state("outbox"), self._db.state("graph_due"))
            if lesson.number and not connection.execute(QUERIES["cursor_set"], ("learned", lesson.number)).rowcount:
                return
            for fact in facts:
                connection.execute(QUERIES["fact_write"], fact)
            begin_uses(connection, ((fact.id, fact.session) for fact in lesson.facts))
            write_several(connection, "passage_write", passages)
            for sort, memories in (("fact", lesson.facts), ("turn", lesson.passages)):
                if memories:
                    ids = _json(memory.id for memory in memories)
                    connection.execute(QUERIES["outbox_add_all"], (sort, ids))
            if named:
                write_names(connection, named)
            count_uses(connection, lesson.uses)
            add_texts(connection, lesson.documents, lesson.terms)
            if lesson.observed is not None:
                write_observed(connection, lesson.observed, self._redact.of_owner(lesson.observed.owner))
            if lesson.checkout is not None:
                write_checkout(connection, lesson, lesson.checkout, self._redact)
            came = came.until(self._db.state("outbox"), self._db.state("graph_due"))

        epoch = self._known.epoch
        await self._db.write(work)
        if lesson.number:
            self._newly.moved("learned", lesson.number)
        # They are asked for at once by what indexes them. What was redacted is read as it is stored.
        self._known.put([passage_from_row(each) for each in lesson.passages if each.id in stored], epoch)
        if stored and len(stored) == len(facts) + len(passages):
            self._taught(lesson, came, all(id in named for id in stored))

    def _stored_rows(self, lesson: Lesson) -> tuple[list[dict[str, Any]], list[tuple[Any, ...]]]:
        """A lesson's facts and passages as they are stored, without secrets."""
        facts = [fact_row(fact, self._redact.of_owner(fact.owner)) for fact in lesson.facts]
        passages = [
            tuple(passage_row(passage, self._redact.of_owner(passage.owner)).values()) for passage in lesson.passages
        ]
        return facts, passages

    @abstractmethod
    def _taught(self, lesson: Lesson, came: QueueStates, named: bool) -> None:
        """A lesson was written, word for word; where its memories were ``named`` they stand in the graph."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        return await self._by_ids("facts_get", fact_of, ids, owners)

    async def facts_of(self, owners: Sequence[str], limit: int = 1000) -> list[Fact]:
        return await self._rows("facts_of", fact_of, limit, owners=owners)

    async def put_away(self, owner: str, below: float, limit: int = 10_000) -> list[Fact]:
        return await self._rows("facts_put_away", fact_of, owner, below, limit)

    async def page_facts(self, owners: Sequence[str], limit: int) -> list[Fact]:
        return await self._rows("facts_for_page", fact_of, limit, owners=owners)

    async def find_facts(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Fact]:
        """See :class:`memory.ports.Journal`. Case is ignored for ASCII letters, as LIKE does."""
        pattern, ends = holding(text), text + "\U0010ffff"

        def work(connection: Connection) -> list[Fact]:
            begin = connection.execute(many("facts_beginning", len(owners)), (*owners, text, ends, limit)).fetchall()
            found = {row["number"]: row["recorded"] for row in begin}
            # One owner after the other: what is read in the order of time is read no further than it is asked for.
            for owner in owners:
                rows = connection.execute(QUERIES["facts_holding"], (owner, pattern, pattern, limit))
                found.update((row["number"], row["recorded"]) for row in rows)
            newest = sorted(found, key=lambda number: (found[number], number), reverse=True)[:limit]
            rows = connection.execute(many("facts_numbered", len(newest)), newest)
            return [fact_of(row) for row in rows]

        return await self._db.read(work)

    async def find_passages(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Passage]:
        """See :class:`memory.ports.Journal`. Reads every passage: for what a person asks for, not for recall."""

        def work(connection: Connection) -> list[Passage]:
            query = many("passages_find", len(owners))
            return [passage_of(row) for row in connection.execute(query, (*owners, holding(text), limit))]

        return await self._db.read(work)

    async def begins(self, prefix: str, owners: Sequence[str], limit: int = 10) -> list[str]:
        def work(connection: Connection) -> list[str]:
            ends = prefix + "\U0010ffff"
            rows = connection.execute(QUERIES["ids_between"], (prefix, ends, prefix, ends))
            return list(islice((row["id"] for row in rows if row["owner"] in owners), limit))

        return await self._db.read(work)

    async def owners(self) -> list[str]:
        return await self._rows("owners_all", lambda row: row["name"])

    async def memories_by_owner(self) -> dict[str, int]:
        """How many memories each owner has that can be found, but for those who have none."""
        return dict(await self._rows("owners_memories", lambda row: (row["name"], int(row["texts"]))))

    async def update(self, fact: Fact) -> bool:
        def work(connection: Connection) -> bool:
            if not connection.execute(many("facts_get", 1), (fact.id,)).fetchone():
                return False
            self._write_fact(connection, fact)
            return True

        return await self._db.write(work)

    async def pin(self, id: str, pinned: bool) -> bool:
        return await self._db.write(lambda connection: _changed(connection, "fact_pin", (pinned, id)))

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        return await self._by_ids("passages_get", passage_of, ids, owners)

    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]:
        """See :class:`memory.ports.Journal`. Whose they are is looked at here, wherever they were read."""
        epoch = self._known.epoch
        found = self._known.of(ids)
        unread = [id for id in ids if id not in found]
        if unread:

            def work(connection: Connection) -> list[Fact | Passage]:
                facts = [fact_of(row) for row in ask_many(connection, "facts_get", unread)]
                rest = set(unread).difference(fact.id for fact in facts)
                return [*facts, *(passage_of(row) for row in ask_many(connection, "passages_get", list(rest)))]

            read = await self._few(work, len(unread))
            self._known.put(read, epoch)
            found.update((memory.id, memory) for memory in read)
        return [memory for memory in found.values() if memory.owner in owners]

    async def between(
        self, owners: Sequence[str], since: datetime, until: datetime, limit: int
    ) -> tuple[list[Fact], list[Passage]]:
        """See :class:`memory.ports.Journal`. Looks at every passage of the owners: not for recall."""
        day = timedelta(days=1)
        around = [(since - day).date().isoformat(), (until + 2 * day).date().isoformat()]

        def work(connection: Connection) -> tuple[list[Fact], list[Passage]]:
            bounds = since.timestamp(), until.timestamp()
            facts = connection.execute(many("facts_between", len(owners)), (*owners, *bounds, limit))
            found = [fact_of(row) for row in facts]
            moments = since.isoformat(), until.isoformat()
            rows = connection.execute(many("passages_between", len(owners)), (*owners, *around, *moments, limit))
            return found, [passage_of(row) for row in rows]

        return await self._db.read(work)

    async def taught(self, owner: str, sources: Sequence[bytes]) -> frozenset[bytes]:
        def work(connection: Connection) -> frozenset[bytes]:
            return frozenset(row["source"] for row in ask_many(connection, "passages_taught", sources, (owner,)))

        return await self._few(work, len(sources))

    async def neighbours(
        self, places: Sequence[tuple[str, int]], reach: int, owners: Sequence[str] | None = None
    ) -> list[Passage]:
        ranges = _json([session, turn - reach, turn + reach] for session, turn in places)

        def work(connection: Connection) -> list[Passage]:
            rows = connection.execute(QUERIES["passages_near"], (ranges,)).fetchall()
            known = self._known.of([row["id"] for row in rows])
            found = [known.get(row["id"]) or passage_of(row) for row in rows]
            return [each for each in found if isinstance(each, Passage) and (owners is None or each.owner in owners)]

        return await self._db.look(work) if places else []

    async def rarity(self, owners: Sequence[str], terms: Sequence[int]) -> TermRarity:
        parameters = {"owners": _json(owners), "terms": _json(dict.fromkeys(terms))}

        def work(connection: Connection) -> TermRarity:
            found: dict[int | None, int] = {
                row["term"]: row["texts"] for row in connection.execute(QUERIES["rarity"], parameters)
            }
            texts = found.pop(None)
            return TermRarity(texts, {term: count for term, count in found.items() if term is not None})

        return await self._db.look(work)

    async def texts_below(self, owners: Sequence[str], beginnings: Sequence[str]) -> int:
        """How many memories can be found of these owners, and of all whose name begins so."""
        asked = [(owner, "", "") for owner in owners]
        # Each ends before the first text that begins with the next character.
        asked += [("", start, start[:-1] + chr(ord(start[-1]) + 1)) for start in beginnings]

        def work(connection: Connection) -> int:
            return sum(int(connection.execute(QUERIES["texts_below"], each).fetchone()["texts"]) for each in asked)

        return await self._db.read(work)

    def _write_fact(self, connection: Connection, fact: Fact) -> None:
        connection.execute(QUERIES["fact_write"], fact_row(fact, self._redact.of_owner(fact.owner)))
        connection.execute(QUERIES["outbox_add"], (fact.id, "fact"))


def passage_from_row(passage: Passage) -> Passage:
    """A passage as it comes out of its table."""
    return replace(passage, at=datetime.fromisoformat(passage.at.isoformat()))


def add_texts(connection: Connection, documents: Mapping[str, int], terms: Mapping[str, Mapping[int, int]]) -> None:
    """Count indexed texts and the terms in them; numbers below zero take away."""
    for owner in dict.fromkeys((*documents, *terms)):
        connection.execute(QUERIES["texts_add"], {"owner": owner, "texts": documents.get(owner, 0)})
        counted = terms.get(owner, {})
        if counted:
            connection.execute(QUERIES["terms_add"], (_json([*counted.items()]), owner))
        if min(counted.values(), default=0) < 0:
            connection.execute(QUERIES["terms_drop"], (owner,))


def _json(values: Iterable[object]) -> str:
    return orjson.dumps([*values]).decode()


def _changed(connection: Connection, name: str, parameters: object) -> bool:
    return connection.execute(QUERIES[name], parameters).rowcount > 0


def _stored_verbatim(
    lesson: Lesson, facts: Sequence[Mapping[str, Any]], passages: Sequence[Sequence[Any]]
) -> dict[str, Fact | Passage]:
    """Those of a lesson's memories that are stored as it tells them, by their ids: no secret stood in them."""
    told = zip(lesson.facts, facts, strict=True)
    kept = {fact.id: fact for fact, row in told if row["text"] == fact.text and row["entities"] == names(fact.entities)}
    return kept | {each.id: each for each, row in zip(lesson.passages, passages, strict=True) if each.text == row[1]}
