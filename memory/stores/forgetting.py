"""A person's ``forget``, everywhere in the journal at once.

What goes: the memories that were named; facts derived from them; of a fact, the passages and the text of the
message that it came from; of a passage, the facts that its message taught as well. Ledger entries that hold one of
them are emptied, receipts cleaned, what a message left elsewhere is wiped (see ``traces``), the lines of other messages
that hold the very text are taken out (see ``repeated``), the counts of terms taken back, and every index is told to let
go.

A canonical fact that a night made takes with it what was archived because it stood for it: that is the same statement.
Knowledge that goes since one of its sources does gives back the other one whose place it had taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from memory.edits import Act
from memory.fact import Fact, MemoryTier, Passage
from memory.learning.candidate_matching import says_the_same
from memory.ports import FACT_DECISIONS, Forgotten
from memory.provenance import owner_before
from memory.scope import Layer, place_of
from memory.stores import forgotten_repeats
from memory.stores.base import JournalPart, ask_many
from memory.stores.behaviour import forget_observed
from memory.stores.checkouts import forget_checkouts
from memory.stores.connection import Connection
from memory.stores.erasure import ErasedTraces, LineEraser, MessageTraces, RemainingMessage, rewrite, wipe
from memory.stores.facts import add_texts
from memory.stores.forgotten_repeats import RepeatedMessage, RepeatEraser
from memory.stores.forgotten_research import delete, holding, strike
from memory.stores.history_cache import OpenedMessages
from memory.stores.messages import placeholder
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import RecentCommits
from memory.stores.rows import fact_of, listed, names, passage_of, stamp


def absorbed(connection: Connection, ids: Iterable[str]) -> list[Fact]:
    """The archived facts that some facts stand for, and those that these stood for before."""
    found: dict[str, Fact] = {}
    fresh = list(ids)
    while fresh:
        rows = [row for row in ask_many(connection, "night_absorbed", fresh) if row["id"] not in found]
        found.update((row["id"], fact_of(row)) for row in rows)
        fresh = [row["id"] for row in rows]
    return list(found.values())


def borne_out_without(fact: Fact, gone: Mapping[str, Fact]) -> bool:
    """Whether a fact that was drawn from something that is forgotten stays: only what a person has approved does, as
    long as there is something else that bears it out and it does not say what is forgotten."""
    if fact.tier is not MemoryTier.SHARED or set(fact.derived_from) <= gone.keys():
        return False
    return not any(says_the_same(fact.text, each.text) for each in gone.values())


def erase_from_nights(connection: Connection, gone: Sequence[str]) -> None:
    """Forget what nights did to some memories, and what was put forward since they bore it out, before these go; what
    they stood for and what stays takes part again."""
    for row in ask_many(connection, "night_absorbed", gone):
        if row["id"] not in gone:
            connection.execute(QUERIES["night_release"], (row["id"],))
            connection.execute(QUERIES["outbox_add"], (row["id"], "fact"))
    for row in ask_many(connection, "candidates_with", gone):
        connection.execute(QUERIES["candidate_drop"], (row["id"],))
    for id in gone:
        for name in ("night_forget_changes", "night_forget_lines", "crystallized_forget"):
            connection.execute(QUERIES[name], (id,))


Terms = Callable[[Fact | Passage], Iterable[int]]
"""A memory → the terms that were counted for it when it was learned."""


def no_terms(memory: Fact | Passage) -> Iterable[int]:
    """For a store in which no terms are counted."""
    return ()


class ErasureStore(JournalPart):
    """The part of the journal that lets go."""

    _terms: Terms
    _newly: RecentCommits
    _opened: OpenedMessages

    async def forget(
        self, ids: Sequence[str], at: datetime, owners: Sequence[str] | None = None, tombstones: Sequence[bytes] = ()
    ) -> Forgotten:
        def look(connection: Connection) -> _ErasureTargets:
            return _sought(connection, ids, owners)

        # All that a person ever said is read; a reply that waits for the writer does not wait for that.
        sought = await self._db.read(look)

        def work(connection: Connection) -> Forgotten:
            return self._forget(connection, ids, at, owners, tombstones, sought=sought)

        gone = await self._db.write(work)
        self._opened.clear()
        self._newly.clear()
        scrubbed = await self._db.scrub()
        return replace(gone, scrubbed=scrubbed)

    async def would_forget(self, ids: Sequence[str], owners: Sequence[str]) -> Forgotten:
        """What :meth:`forget` would take of it: the memories that go together, and how many messages. What stands in
        ledgers and receipts is looked for only when it goes."""

        def work(connection: Connection) -> Forgotten:
            facts, passages, messages = _all_to_forget(connection, ids, owners)
            return Forgotten(tuple(facts.values()), tuple(passages.values()), len(messages))

        return await self._db.read(work)

    def _forget(
        self,
        connection: Connection,
        ids: Sequence[str],
        at: datetime,
        owners: Sequence[str] | None,
        tombstones: Sequence[bytes],
        beside: Sequence[tuple[int, bytes]] = (),
        struck: Sequence[RemainingMessage] = (),
        sought: _ErasureTargets | None = None,
    ) -> Forgotten:
        """``beside`` are messages (person, digest) that go though no memory came from them, ``struck`` are those of
        which only some parts go, ``sought`` is where the texts were found to stand beside."""
        facts, passages, messages = _all_to_forget(connection, ids, owners)
        messages = list(dict.fromkeys([*messages, *beside]))
        research = holding(connection, ids, {passage.session for passage in passages.values()}, messages, owners)
        for id in research:
            pieces = connection.execute(QUERIES["research_pieces"], (id,))
            passages.update((row["id"], passage_of(row)) for row in pieces)
        gone = [*facts, *passages, *research]
        memories: list[Fact | Passage] = [*facts.values(), *passages.values()]
        texts = [text for memory in memories for text in texts_of(memory)]
        changed = ErasedTraces()
        _empty_entries(connection, gone, texts, changed)
        for left in struck:
            strike(connection, left)
        for traces in _texts_by_person(connection, messages, texts, struck):
            wipe(connection, traces, gone, changed)
            for digest in traces.messages:
                connection.execute(QUERIES["forget_message"], (placeholder(), traces.person, digest))
        erase_from_nights(connection, gone)
        forget_observed(connection, list(facts), messages)
        forget_checkouts(connection, gone)
        delete(connection, research)
        for id in facts:
            connection.execute(QUERIES["forget_fact"], (id,))
        for id in passages:
            connection.execute(QUERIES["forget_passage"], (id,))
        for id in gone:
            connection.execute(QUERIES["forget_uses"], (id,))
            connection.execute(QUERIES["outbox_add"], (id, "gone"))
        unlink(connection, gone)
        changed.receipts |= clean_receipts(connection, gone)
        connection.executemany(QUERIES["forget_mentions"], [(id,) for id in gone])
        self._count_back(connection, memories)
        connection.executemany(QUERIES["tombstone_add"], [(key, stamp(at)) for key in tombstones])
        if sought is not None:
            more, _ = forgotten_repeats.find(connection, sought.persons, sought.repeats, sought.newest)
            forgotten_repeats.strike(connection, sought.persons, sought.repeats, [*sought.found, *more], changed)
        return Forgotten(
            tuple(facts.values()),
            tuple(passages.values()),
            len(messages) + len(struck),
            len(changed.entries),
            len(changed.receipts),
            tuple(sorted(changed.sessions)),
            research=tuple(research),
        )

    def _count_back(self, connection: Connection, memories: Sequence[Fact | Passage]) -> None:
        texts: Counter[str] = Counter()
        terms: dict[str, Counter[int]] = {}
        for memory in memories:
            counted, owner = set(self._terms(memory)), owner_before(memory.owner)
            if counted:
                texts[owner] -= 1
                terms.setdefault(owner, Counter()).subtract(counted)
        add_texts(connection, texts, terms)


@dataclass(frozen=True, slots=True)
class _ErasureTargets:
    """Where what is to be forgotten stands beside the messages that it came from, among messages up to ``newest``."""

    persons: tuple[int, ...]
    repeats: RepeatEraser
    found: Sequence[RepeatedMessage]
    newest: int


def _sought(connection: Connection, ids: Sequence[str], owners: Sequence[str] | None) -> _ErasureTargets:
    facts, passages, messages = _all_to_forget(connection, ids, owners)
    memories: list[Fact | Passage] = [*facts.values(), *passages.values()]
    texts = [text for memory in memories for text in texts_of(memory)]
    persons = {person for person, _ in messages}
    for id in holding(connection, ids, {passage.session for passage in passages.values()}, messages, owners):
        for row in ask_many(connection, "research_get", [id]):
            texts += [row["question"], row["description"], *orjson.loads(row["reports"])]
            persons.update(each["number"] for each in connection.execute(QUERIES["person_get"], (row["person"],)))
    for memory in memories:
        persons.update(_person_of(connection, owner_before(memory.owner)))
    repeats, ordered = RepeatEraser(texts), tuple(sorted(persons))
    return _ErasureTargets(ordered, repeats, *forgotten_repeats.find(connection, ordered, repeats))


def _person_of(connection: Connection, owner: str) -> list[int]:
    """The person whose own memory it is; of what several share, nobody."""
    place = place_of(owner)
    name = place[0].owner(Layer.USER) if place is not None else None
    return [row["number"] for row in connection.execute(QUERIES["person_get"], (name or "",))]


def _all_to_forget(
    connection: Connection, ids: Sequence[str], owners: Sequence[str] | None
) -> tuple[dict[str, Fact], dict[str, Passage], list[tuple[int, bytes]]]:
    """All that goes with these ids: facts, passages, and the messages (person, digest) they came from."""

    def ours(memory: Fact | Passage) -> bool:
        return owners is None or memory.owner in owners

    facts = {fact.id: fact for row in ask_many(connection, "facts_get", ids) if ours(fact := fact_of(row))}
    passages = {
        passage.id: passage for row in ask_many(connection, "passages_get", ids) if ours(passage := passage_of(row))
    }
    for passage in list(passages.values()):
        for person in _person_of_source(connection, passage):
            taught = connection.execute(QUERIES["forget_facts_of_message"], (passage.source, person))
            facts.update((fact.id, fact) for row in taught if ours(fact := fact_of(row)))
    facts.update((fact.id, fact) for fact in absorbed(connection, facts) if ours(fact))
    fresh = list(facts)
    while fresh:
        derived = [row["id"] for row in ask_many(connection, "forget_derived", fresh) if row["id"] not in facts]
        found = {row["id"]: fact_of(row) for row in ask_many(connection, "facts_get", derived)}
        fresh = [id for id, fact in found.items() if not borne_out_without(fact, facts)]
        facts.update((id, found[id]) for id in fresh)
    messages: dict[tuple[int, bytes], None] = {}
    gone: list[Fact | Passage] = [*facts.values(), *passages.values()]
    for memory in gone:
        for person in _person_of_source(connection, memory):
            messages[(person, memory.source)] = None
            beside = connection.execute(QUERIES["forget_passages_of_message"], (memory.source, person))
            passages.update((row["id"], passage_of(row)) for row in beside)
    return facts, passages, list(messages)


def _person_of_source(connection: Connection, memory: Fact | Passage) -> list[int]:
    """Whose message a memory came from: one, or none where it came from no message."""
    if not memory.source:
        return []
    return [row["person"] for row in connection.execute(QUERIES["forget_persons_message"], (memory.session,))]


def texts_of(memory: Fact | Passage) -> list[str]:
    """What a memory says, wherever it may stand."""
    return [text for text in (memory.text, memory.wrong if isinstance(memory, Fact) else "") if text]


def _texts_by_person(
    connection: Connection,
    messages: Sequence[tuple[int, bytes]],
    texts: Sequence[str],
    struck: Sequence[RemainingMessage],
) -> list[MessageTraces]:
    """What to look for beside the messages, person by person."""
    found: dict[int, MessageTraces] = {}
    eraser = LineEraser(texts)
    for person, digest in messages:
        found.setdefault(person, MessageTraces(person, list(texts), eraser)).add(connection, digest)
    for left in struck:
        found.setdefault(left.person, MessageTraces(left.person, list(texts), eraser)).strike(left)
    return list(found.values())


def unlink(connection: Connection, gone: Sequence[str]) -> None:
    """Other facts no longer say that they were drawn from what is gone, or follow or contradict it, and no decision
    names it."""
    for row in ask_many(connection, "forget_derived_links", gone):
        left = names(tuple(id for id in listed(row["derived_from"]) if id not in gone))
        connection.execute(QUERIES["forget_derived_link"], (left, row["id"]))
    for row in ask_many(connection, "forget_links", gone):
        supersedes, contradicts = (
            names(tuple(id for id in listed(row[side]) if id not in gone)) for side in ("supersedes", "contradicts")
        )
        connection.execute(QUERIES["forget_link"], (supersedes, contradicts, row["id"]))
    _forget_decisions(connection, frozenset(gone))


def _forget_decisions(connection: Connection, gone: frozenset[str]) -> None:
    """What was decided of facts that are gone, or named them, cannot be taken back any more."""
    for row in connection.execute(QUERIES["meta_below"], (len(FACT_DECISIONS), FACT_DECISIONS)).fetchall():
        kept = orjson.loads(row["value"])
        left = [each for each in kept if gone.isdisjoint(_texts_in_json(each))]
        if len(left) < len(kept):
            connection.execute(QUERIES["meta_set"], (row["name"], orjson.dumps(left)))


def _texts_in_json(value: Any) -> Iterator[str]:
    """Every text in a JSON value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in_json(each)


def _empty_entries(connection: Connection, gone: Sequence[str], texts: Sequence[str], changed: ErasedTraces) -> None:
    """Empty the ledger entries that hold one of the memories; where a segment begins, only the lines that tell of
    it go, if they can be found: the rest is what the session goes on with."""
    lines = LineEraser(texts)
    for row in ask_many(connection, "forget_entries", gone):
        left = lines.without(row["text"]) if row["act"] == Act.CUT else ""
        rewrite(connection, row, row["session"], "" if left == row["text"] else left, gone, changed)


def clean_receipts(connection: Connection, gone: Sequence[str]) -> set[int]:
    """The receipts that showed something; that an exchange was shown it is forgotten too."""
    cleaned: set[int] = set()
    for row in ask_many(connection, "forget_shown", gone):
        left = names(tuple(id for id in listed(row["shown"]) if id not in gone))
        connection.execute(QUERIES["forget_shown_in"], (left, row["number"]))
        if row["receipt"] is not None and row["receipt"] not in cleaned:
            cleaned.add(row["receipt"])
            data = orjson.loads(row["body"])
            data["shown"] = [shown for shown in data["shown"] if shown["memory"] not in gone]
            connection.execute(QUERIES["forget_receipt"], (orjson.dumps(data).decode(), row["receipt"]))
    return cleaned
