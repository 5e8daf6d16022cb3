"""The newest turn of each session: how large it was, and what stood in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from memory.conversation import Usage
from memory.scope import Layer
from memory.session import Receipt, RequestKind, Shed, ShownMemory
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, SECRET, assistant, exchange, session, user

PERSON = ANN.owner(Layer.USER) or ""


async def test_sessions_come_with_the_receipt_of_their_newest_turn(journal: SqlJournal) -> None:
    for number in range(3):
        at = AT + timedelta(minutes=number)
        turn = exchange(f"e{number}", [user("Hello")] * (number + 1), of=session("s1", seen_at=at), at=at)
        receipt = Receipt(f"r{number}", at, "s1", RequestKind.MAIN, "ok", "m", tokens=number, window=9, saved=4)
        await journal.commit(replace(turn, receipt=receipt))
    side = exchange("side", [user("Title")], of=session("s1"), kind=RequestKind.SIDE)
    await journal.commit(side)
    later = session("s2", runtime="cline", seen_at=AT + timedelta(hours=1))
    await journal.commit(exchange("other", [user("Hi")], of=later, at=later.seen_at))
    found = await journal.latest(10)
    assert [(held.id, receipt.id) for held, receipt in found] == [("s2", "r-other"), ("s1", "r2")]
    assert (found[1][1].tokens, found[1][1].saved) == (2, 4)
    assert [held.id for held, _ in await journal.latest(10, "cline")] == ["s2"]
    assert len(await journal.latest(1)) == 1


async def test_a_turn_is_given_by_the_beginning_of_an_id_or_by_the_runtimes_own(journal: SqlJournal) -> None:
    said = [user("Hello"), assistant("Yes?"), user(f"My key is {SECRET}")]
    of = session("0123-abcd", key="space:codex:thread-7")
    await journal.commit(exchange("e1", said[:1], of=of))
    await journal.commit(exchange("e2", said, "Noted.", of=of))
    for name in ("0123", "0123-abcd", "thread-7"):
        [turn] = await journal.turns(PERSON, name)
        assert (turn.session.id, turn.dialect, turn.model) == ("0123-abcd", "openai-chat", "model-1")
        assert [kept.message.digest for kept in turn.messages] == [message.digest for message in said]
        assert [kept.redacted for kept in turn.messages] == [False, False, True]
        assert turn.messages[2].message.text == "My key is [redacted]"
        assert turn.reply is not None and turn.reply.message.text == "Noted."
    for name in ("", "0", "012", "thread", "9999", "codex:thread-%"):
        assert await journal.turns(PERSON, name) == []


async def test_a_runtimes_own_id_may_be_short(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("Hello")], of=session("0123-abcd", key="space:generic:s1")))
    [turn] = await journal.turns(PERSON, "s1")
    assert turn.session.id == "0123-abcd"


async def test_nobody_elses_session_is_given(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("Hello")], of=session("abcd-1", BOB)))
    assert await journal.turns(PERSON, "abcd-1") == []
    await journal.commit(exchange("e2", [user("Hello")], of=session("abcd-2")))
    await journal.commit(exchange("e3", [user("Hello")], of=session("abcd-3")))
    assert {turn.session.id for turn in await journal.turns(PERSON, "abcd", 5)} == {"abcd-2", "abcd-3"}


async def test_what_was_done_is_summed_by_model_since_a_time(journal: SqlJournal) -> None:
    def receipt(number: int, **more: Any) -> Receipt:
        told: dict[str, Any] = {"status": "remembered", "model": "m", "page_tokens": 100, "recall_tokens": 20} | more
        return Receipt(f"r{number}", AT + timedelta(days=number), "s1", RequestKind.MAIN, **told)

    shed = Shed("fold", "full", 5000, 900, warm=True)
    told = [
        receipt(0, recall_tokens=7000),
        receipt(1, saved=-120, shown=(ShownMemory("f1", "x", 1.0, {}, 20),)),
        receipt(2, saved=4880, page_tokens=0, recall_tokens=0, shed=shed),
        receipt(3, saved=4880, status="degraded; late", page_tokens=0, recall_tokens=0),
    ]
    usages = [Usage(10), Usage(1000), Usage(900, cached=300), None]
    for number, (each, usage) in enumerate(zip(told, usages, strict=True)):
        turn = exchange(f"e{number}", [user("Hello")] * (number + 1), of=session("s1"), at=each.at)
        await journal.commit(replace(turn, receipt=each, reply=replace(turn.reply, usage=usage)))
    side = exchange("side", [user("Title")], of=session("s1"), kind=RequestKind.SIDE, at=AT + timedelta(days=3))
    await journal.commit(side)
    cold, warm, late = await journal.sums(AT + timedelta(days=1))
    by = [(each.day, each.project, each.reported, each.warm, each.requests) for each in (cold, warm, late)]
    days = [f"{AT + timedelta(days=number):%Y-%m-%d}" for number in (1, 2, 3)]
    of = session("s1").scope
    flags = [(True, False), (True, True), (False, False)]
    assert by == [(day, of.project, *flag, 1) for day, flag in zip(days, flags, strict=True)]
    assert len(await journal.sums(AT, of)) == 4 and await journal.sums(AT, replace(of, user="somebody else")) == []
    assert (cold.model, cold.added, cold.shown, cold.longer, cold.shorter) == ("model-1", 120, 1, 120, 0)
    assert (warm.sheds, warm.shorter, warm.anew, warm.input, warm.cached) == (1, 4880, 600, 900, 300)
    assert (late.degraded, late.shorter, late.input) == (1, 4880, 0)
    assert sum(each.added for each in await journal.sums(AT)) == 7220
    assert await journal.sums(AT + timedelta(days=9)) == []


async def test_sums_that_are_kept_go_on_with_what_comes_and_are_made_anew_where_something_went(
    journal: SqlJournal,
) -> None:
    async def turn(number: int) -> None:
        receipt = Receipt(
            f"r{number}", AT + timedelta(hours=number), "s1", RequestKind.MAIN, "remembered", page_tokens=7
        )
        await journal.commit(
            replace(
                exchange(f"e{number}", [user("Hello")] * (number + 1), of=session("s1"), at=receipt.at), receipt=receipt
            )
        )

    await turn(0)
    assert [each.requests for each in await journal.sums(AT)] == [1]
    await turn(1)
    await turn(26)
    assert sorted(each.requests for each in await journal.sums(AT)) == [1, 2]
    assert [each.requests for each in await journal.sums(AT + timedelta(days=1))] == [1]
    assert sum(each.added for each in await journal.sums(AT)) == 21
    await journal._db.write(lambda connection: connection.execute("DELETE FROM receipts WHERE id = 'r0'"))
    assert sum(each.added for each in await journal.sums(AT)) == 14
    assert sum(each.added for each in await journal.sums(AT - timedelta(days=9))) == 14
