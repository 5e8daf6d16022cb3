"""Lists for a person: facts by what they are, receipts of a memory and of a session, and what a forget would take."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memory.conversation import Form
from memory.edits import Act, Entry
from memory.fact import FactKind, Origin, State
from memory.member import Releaser
from memory.ports import Lesson
from memory.provenance import QuarantinedSession, SelectedMemories
from memory.session import ShownMemory
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, exchange, fact, owner, passage, session, user

MINE = (owner(),)
ACTIVE = frozenset({State.ACTIVE})


def _by_changer(_: str) -> Releaser:
    return Releaser.CHANGER


async def test_facts_are_listed_by_what_they_are(journal: SqlJournal) -> None:
    facts = [fact(f"number {n}", recorded_at=AT + timedelta(minutes=n)) for n in range(5)]
    facts[1] = replace(facts[1], kind=FactKind.DECISION)
    facts[2] = replace(facts[2], origin=Origin.WEB)
    facts[3] = replace(facts[3], state=State.SUPERSEDED)
    await journal.learn(Lesson(0, tuple(facts)))
    await journal.learn(Lesson(0, (fact("Bob's", scope=BOB),)))

    async def texts(**more: object) -> list[str]:
        given = {"owners": MINE, "states": ACTIVE} | more
        return [each.text.removeprefix("number ") for each in await journal.listed(**given)]  # type: ignore[arg-type]

    assert await texts() == ["4", "2", "1", "0"]
    assert await texts(limit=2, passed=1) == ["2", "1"]
    assert await texts(kinds=[FactKind.DECISION]) == ["1"]
    assert await texts(origins=[Origin.WEB, Origin.TOOL]) == ["2"]
    assert await texts(states=frozenset(State)) == ["4", "3", "2", "1", "0"]
    assert await texts(since=AT + timedelta(minutes=2)) == ["4", "2"]
    assert await texts(owners=()) == [] and await texts(kinds=[]) == []


async def test_contradictions_are_listed(journal: SqlJournal) -> None:
    one, other = fact("one"), fact("other")
    one = replace(one, contradicts=(other.id,))
    await journal.learn(Lesson(0, (one, other, fact("ended", state=State.ARCHIVED, contradicts=(one.id,)))))
    assert [each.id for each in await journal.unsettled(MINE)] == [one.id]
    assert await journal.unsettled((owner(BOB),)) == []


async def test_drafts_that_wait_are_counted(journal: SqlJournal) -> None:
    drafts = [fact(f"number {n}", state=State.DRAFT) for n in range(3)]
    await journal.learn(Lesson(0, (*drafts, fact("held"), fact("Bob's", scope=BOB, state=State.DRAFT))))
    assert await journal.drafts_waiting(MINE) == 3
    assert await journal.drafts_waiting(MINE, [drafts[0].id, "another"]) == 2
    assert await journal.drafts_waiting(()) == 0


async def test_what_is_in_quarantine_is_counted_by_session(journal: SqlJournal) -> None:
    facts = [fact(f"number {n}", session=f"s{n // 2}") for n in range(3)]
    talk = passage("we talked", session="s0")
    await journal.learn(Lesson(0, (*facts, fact("Bob's", scope=BOB)), (talk,)))
    assert await journal.quarantined_sessions(MINE, 10) == []
    await journal.shelve(SelectedMemories((*facts, talk)), _by_changer)
    await journal.shelve(SelectedMemories(tuple(await journal.facts_of((owner(BOB),)))), _by_changer)
    held = [QuarantinedSession("s0", 2, 1), QuarantinedSession("s1", 1, 0)]
    assert await journal.quarantined_sessions(MINE, 10) == held
    assert await journal.quarantined_sessions(MINE, 1) == held[:1]


async def test_receipts_of_a_memory_and_of_a_session_are_the_persons_own(journal: SqlJournal) -> None:
    held = fact("The cluster is heron")
    await journal.learn(Lesson(0, (held,)))
    shown = (ShownMemory(held.id, held.text, 0.9, {}, 5),)
    for number, (of, seen) in enumerate(((session(), shown), (session(), ()), (session("s2", BOB), shown))):
        await journal.commit(exchange(f"e{number}", [user(f"Hello {number}")], of=of, shown=seen))
    assert [each.id for each in await journal.receipts_showing(held.id, ANN)] == ["r-e0"]
    assert [each.id for each in await journal.receipts_showing(held.id, BOB)] == ["r-e2"]
    assert [each.id for each in await journal.receipts_of_session("s1", ANN)] == ["r-e1", "r-e0"]
    assert await journal.receipts_of_session("s1", BOB) == []
    assert [each.id for each in await journal.receipts_of_session("s1", ANN, 1)] == ["r-e1"]
    assert set(await journal.sessions_by_id(["s1", "s2", "s3"])) == {"s1", "s2"}


async def test_of_how_many_sessions_the_page_had_it(journal: SqlJournal) -> None:
    held = fact("The cluster is heron")
    await journal.learn(Lesson(0, (held,)))
    for number, reason in enumerate(("page", "page of a segment", "recall 3 memories")):
        message = user(f"Hello {number}")
        entry = Entry(message.digest, 0, "text", Form.PART, reason, (held.id,), Act.APPEND)
        await journal.enter(session(f"s{number}"), [entry], [message])
    assert await journal.pages_showing(held.id, ANN) == 2 and await journal.pages_showing(held.id, BOB) == 0


async def test_what_a_forget_would_take_is_what_it_takes(journal: SqlJournal) -> None:
    message = user("We use PostgreSQL")
    await journal.commit(exchange("e1", [message]))
    first = fact("We use PostgreSQL", source=message.digest)
    drawn = fact("They use PostgreSQL", derived_from=(first.id,))
    piece = passage("We use PostgreSQL", source=message.digest)
    other = fact("Rosa bakes")
    await journal.learn(Lesson(0, (first, drawn, other), (piece,)))
    would = await journal.would_forget([first.id], MINE)
    assert set(would.ids) == {first.id, drawn.id, piece.id} and would.messages == 1
    assert len(await journal.facts([first.id])) == 1, "to look takes nothing"
    gone = await journal.forget([first.id], AT, MINE)
    assert set(gone.ids) == set(would.ids) and gone.messages == would.messages
    assert (await journal.would_forget([other.id], (owner(BOB),))).ids == ()
