"""Exchanges come back as they were, are stored once, and hold no secret."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.conversation import Message, Opaque, Reasoning, Role, Text, ToolCall, ToolResult, digest
from memory.ports import Journaled, Lesson
from memory.session import RequestKind, ShownMemory
from memory.stores.exchanges import BEFORE, DEPTH, OPENING
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import (
    ANN,
    BOB,
    SECRET,
    assistant,
    exchange,
    fact,
    open_journal,
    rows,
    said,
    session,
    stored,
    user,
)


async def all_of(journal: SqlJournal) -> list[Journaled]:
    return await journal.unlearned(10_000)


async def test_an_exchange_comes_back_with_its_messages_and_its_reply(journal: SqlJournal) -> None:
    messages = [said(Role.SYSTEM, "be brief"), user("hi"), assistant("hello"), user("use pnpm")]
    shown = [ShownMemory("m1", "text", 0.5, {"cosine": 0.5}, 3)]
    await journal.commit(exchange("e1", messages, "noted", shown=shown))
    (told,) = await all_of(journal)
    assert told.id == "e1"
    assert told.messages == tuple(messages)
    assert [message.spoken for message in told.messages] == ["", "hi", "", "use pnpm"]
    assert told.fresh == (0, 1, 2, 3)
    assert told.reply == assistant("noted")
    assert told.session == session()
    assert told.kind == "main"
    assert told.shown == ("m1",)


async def test_of_a_request_without_end_its_opening_and_what_stands_before_the_new_is_read_again(
    journal: SqlJournal,
) -> None:
    messages = [user(f"word {number}") for number in range(OPENING + 2 * BEFORE)]
    await journal.commit(exchange("e1", messages, "noted"))
    await journal.commit(exchange("e2", more := [*messages, assistant("noted"), user("and now?")], "noted too"))
    whole, told = await all_of(journal)
    assert (list(whole.messages), whole.between) == (messages, ())
    assert [told.messages[index] for index in told.fresh] == more[-1:]
    left = len(told.between)
    assert list(told.messages) == [*more[:OPENING], *more[OPENING + left :]]
    assert told.between == tuple(message.digest for message in more[OPENING : OPENING + left])
    assert len(told.messages) <= OPENING + BEFORE + 2
    for index, message in enumerate(told.messages):
        assert more[told.turn(index)] == message
    assert told.reply == assistant("noted too")


async def test_every_kind_of_part_survives(journal: SqlJournal) -> None:
    parts = (
        Text("look \ud800"),
        Reasoning("hm", "c2ln"),
        ToolCall("c1", "bash", '{"cmd": "ls"}'),
        ToolResult("c1", (Text("a\nb"), Opaque("document", '{"x": 1e0}')), True),
        Opaque("web_search_call", '{"type": "web_search_call", "n": 1.0}'),
    )
    message = Message(Role.ASSISTANT, parts, digest(Role.ASSISTANT, parts))
    await journal.commit(exchange("e1", [message]))
    (told,) = await all_of(journal)
    assert told.messages[0].parts == (Text("look \\ud800"), *parts[1:])
    assert told.messages[0].digest == message.digest


async def test_only_what_the_session_had_not_had_before_is_fresh(journal: SqlJournal) -> None:
    history = [user("one")]
    await journal.commit(exchange("e1", history, "first"))
    history += [assistant("first"), user("yes")]
    await journal.commit(exchange("e2", history, "second"))
    history += [assistant("second"), user("yes")]
    await journal.commit(exchange("e3", history, "third"))
    assert [told.fresh for told in await all_of(journal)] == [(0,), (2,), (4,)]


async def test_a_reply_that_comes_back_is_not_fresh_in_whatever_form_a_client_sends_it(journal: SqlJournal) -> None:
    parts = (Reasoning("hm"), Text("I look"), ToolCall("c1", "bash", "{}"))
    opening = [user("go")]
    await journal.commit(exchange("e1", opening, parts))
    as_items = [Message(Role.ASSISTANT, (part,), digest(Role.ASSISTANT, (part,))) for part in parts]
    plain = parts[1:]
    as_one = Message(Role.ASSISTANT, plain, digest(Role.ASSISTANT, plain))
    await journal.commit(exchange("e2", [*opening, *as_items, user("on")]))
    await journal.commit(exchange("e3", [*opening, as_one, user("further")]))
    assert [told.fresh for told in await all_of(journal)] == [(0,), (4,), (2,)]


async def test_a_reply_that_was_cut_or_failed_is_kept_but_not_given_to_the_learner(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")], "half a", complete=False))
    await journal.commit(exchange("e2", [user("b")], "error page", status=500))
    await journal.commit(exchange("e3", [user("c")], ()))
    assert [told.reply for told in await all_of(journal)] == [None, None, None]
    assert (await journal.counts()).messages == 5


async def test_a_message_is_stored_once_however_often_it_is_sent(journal: SqlJournal) -> None:
    history: list[Message] = [said(Role.SYSTEM, "be brief")]
    for turn in range(10):
        history.append(user(f"turn {turn}"))
        await journal.commit(exchange(f"e{turn}", history, f"answer {turn}"))
        history.append(assistant(f"answer {turn}"))
    counts = await journal.counts()
    assert (counts.exchanges, counts.messages, counts.behind) == (10, 21, 10)


async def test_the_hashes_of_a_long_session_grow_with_its_turns_and_not_with_their_square(
    journal: SqlJournal,
) -> None:
    history: list[Message] = []
    for turn in range(300):
        history.append(user(f"turn {turn}"))
        await journal.commit(exchange(f"e{turn}", history, f"answer {turn}"))
        history.append(assistant(f"answer {turn}"))
    (stored,) = rows(journal, "SELECT sum(length(tail)), max(depth) FROM exchanges")[0:1]
    whole = sum(16 * (2 * turn + 1) for turn in range(300))
    assert isinstance(stored[0], int)
    assert stored[0] < whole / 20
    assert stored[1] == DEPTH
    (last,) = [told for told in await all_of(journal) if told.id == "e299"]
    told = [message.digest for message in last.messages]
    assert [*told[: last.opening], *last.between, *told[last.opening :]] == [message.digest for message in history[:-1]]


async def test_a_side_request_between_two_turns_does_not_store_the_history_again(journal: SqlJournal) -> None:
    history = [user(f"turn {n}") for n in range(50)]
    await journal.commit(exchange("e1", history))
    await journal.commit(exchange("e2", [user("make a title")], kind=RequestKind.SIDE, extends=False))
    await journal.commit(exchange("e3", [*history, user("next")]))
    assert rows(journal, "SELECT length(tail) FROM exchanges ORDER BY number") == [(800,), (16,), (16,)]
    assert [told.fresh for told in await all_of(journal)][2] == (50,)


async def test_committing_the_same_exchange_again_changes_nothing(journal: SqlJournal) -> None:
    one = exchange("e1", [user("a")], "b")
    await asyncio.gather(journal.commit(one), journal.commit(one), journal.commit(one))
    await journal.commit(one)
    counts = await journal.counts()
    assert (counts.exchanges, counts.messages, counts.sessions) == (1, 2, 1)


async def test_exchanges_of_one_session_that_are_committed_at_once_all_come_back(journal: SqlJournal) -> None:
    history = [user(f"turn {n}") for n in range(30)]
    await asyncio.gather(*(journal.commit(exchange(f"e{n}", history[: n + 1])) for n in range(30)))
    assert {told.id: told.messages for told in await all_of(journal)} == {
        f"e{n}": tuple(history[: n + 1]) for n in range(30)
    }


async def test_a_secret_never_reaches_the_files(journal: SqlJournal) -> None:
    result = ToolResult("c1", (Text(f"KEY={SECRET}"), Opaque("x", f'{{"k": "{SECRET}"}}')))
    parts = (Text(f"my key is {SECRET}"), ToolCall("c1", "env", f'{{"k": "{SECRET}"}}'), result, Reasoning(SECRET))
    message = Message(Role.USER, parts, digest(Role.USER, parts), f"my key is {SECRET}")
    shown = [ShownMemory("m1", f"the key is {SECRET}", 0.5, {}, 3)]
    await journal.commit(exchange("e1", [message], f"I keep {SECRET} safe", shown=shown))
    await journal.learn(Lesson(1, (fact(f"The key is {SECRET}", wrong=SECRET, entities=(SECRET,)),)))
    assert SECRET.encode() not in stored(journal)
    (told,) = await journal.facts_of([fact("").owner])
    assert told.text == "The key is [redacted]"
    assert rows(journal, "SELECT redacted FROM messages ORDER BY number") == [(1,), (1,)]


async def test_a_message_with_a_secret_is_known_again_by_the_hash_it_came_with(journal: SqlJournal) -> None:
    message = user(f"my key is {SECRET}")
    await journal.commit(exchange("e1", [message], "ok"))
    (told,) = await all_of(journal)
    assert told.messages[0].digest == message.digest
    assert told.messages[0].spoken == "my key is [redacted]"
    await journal.commit(exchange("e2", [message, assistant("ok"), user("go on")], "fine"))
    assert (await all_of(journal))[1].fresh == (2,)


async def test_the_same_words_of_two_people_are_kept_apart(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("same words")], "a"))
    await journal.commit(exchange("e2", [user("same words")], "a", of=session("s2", BOB)))
    assert (await journal.counts()).messages == 4


async def test_a_damaged_message_does_not_stop_the_worker(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a"), user("b")]))
    await journal._db.write(lambda c: c.execute("UPDATE messages SET body = ? WHERE number = 1", (b"\0",)))
    journal._opened.clear()  # as after a start
    (told,) = await all_of(journal)
    assert [message.text for message in told.messages] == ["[unreadable]", "b"]


async def test_receipts_are_found_by_id_or_by_a_prefix_of_one_only(journal: SqlJournal) -> None:
    shown = ShownMemory("m1", "text", 0.5, {"cosine": 0.25}, 3)
    first, second = exchange("aa1", [user("a")], shown=[shown]), exchange("ab2", [user("b")])
    await journal.commit(first)
    await journal.commit(second)
    assert await journal.receipt("r-aa") == first.receipt
    assert await journal.receipt("r-ab2") == second.receipt
    assert await journal.receipt("r-a") is None
    assert await journal.receipt("") is None
    assert await journal.receipts(1) == [second.receipt]


# A history is a list of small numbers; a step appends to it, cuts it, edits it in the middle, or goes back to an
# older one (a fork); each step is a request of one of two sessions.
steps = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "append", "cut", "edit", "back"]),
        st.integers(0, 30),
        st.lists(st.integers(0, 3), min_size=1, max_size=4),
        st.booleans(),
    ),
    max_size=14,
)


@settings(max_examples=12, deadline=None)
@given(steps, st.booleans())
def test_whatever_a_client_does_to_its_history_every_request_comes_back_exactly(
    taken: list[tuple[str, int, list[int], bool]], reopen: bool
) -> None:
    async def run(folder: Path) -> None:
        journal = open_journal(folder)
        history: list[int] = []
        old: list[list[int]] = [[]]
        expected: list[tuple[Message, ...]] = []
        for number, (step, at, new, other) in enumerate(taken):
            at = min(at, len(history))
            if step == "append":
                history = history + new
            elif step == "cut":
                history = history[:at] + new
            elif step == "edit":
                history = history[:at] + new + history[at + 1 :]
            else:
                history = list(old[at % len(old)]) + new
            old.append(history)
            messages = [user(str(n)) for n in history]
            expected.append(tuple(messages))
            await journal.commit(exchange(f"e{number}", messages, of=session("s2" if other else "s1", ANN)))
            if reopen and number % 4 == 3:
                await journal.close()
                journal = open_journal(folder)
        assert [told.messages for told in await all_of(journal)] == expected
        await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def test_a_digest_of_another_length_is_refused_before_anything_is_written(journal: SqlJournal) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        await journal.commit(exchange("e1", [Message(Role.USER, (Text("a"),), b"short")]))
    assert (await journal.counts()).sessions == 0
