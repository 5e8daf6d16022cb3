"""What is old leaves the journal, and nothing that is still needed goes with it."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.conversation import Form, Message, Text
from memory.edits import Act, Entry
from memory.ports import Lesson, Overview
from memory.scope import Layer
from memory.session import Session, ShownMemory
from memory.stores import retention
from memory.stores.database import Database
from memory.stores.journal import SqlJournal
from memory.stores.queries import QUERIES
from tests.memory.stores.derived_facts import (
    ANN,
    AT,
    assistant,
    exchange,
    fact,
    open_journal,
    passage,
    rows,
    session,
    stored,
    user,
)

DAY = timedelta(days=1)
NOW = AT + 100 * DAY
WORKS = ("learned", "tiered")
PERSON = ANN.owner(Layer.USER) or ""


async def rest() -> None:
    await asyncio.sleep(0)


async def let_go(journal: SqlJournal, before: datetime = NOW - 30 * DAY) -> tuple[int, int]:
    return await journal.delete_old(before, WORKS, rest)


async def read_all(journal: SqlJournal) -> None:
    """As if every work had been done."""
    newest = max((each.number for each in await journal.unlearned(10_000)), default=0)
    if newest:
        await journal.learn(Lesson(newest))
        await journal.write_overviews(newest, "", {})


def seen(id: str, at: datetime, forked_from: str | None = None) -> Session:
    return session(id, seen_at=at, forked_from=forked_from)


def texts(journal: SqlJournal) -> bytes:
    return stored(journal)


def count(journal: SqlJournal, table: str) -> int:
    ((number,),) = rows(journal, f"SELECT count(*) FROM {table}")
    return int(number)


async def move_cursors(journal: SqlJournal, number: int) -> None:
    """As if the workers had come so far, by another process."""
    rows = [("learned", number), ("tiered", number)]
    await journal._db.write(lambda connection: connection.executemany(QUERIES["meta_set"], rows))


async def turns(journal: SqlJournal, id: str) -> Sequence[Message]:
    (turn,) = await journal.turns(PERSON, id)
    return [kept.message for kept in turn.messages]


async def test_a_session_that_is_long_over_goes_and_what_it_taught_stays(journal: SqlJournal) -> None:
    old = seen("s1", AT)
    shown = [ShownMemory("m1", "text", 0.5, {}, 3)]
    await journal.commit(exchange("e1", [user("use pnpm")], "noted", of=old, shown=shown))
    await journal.enter(old, [Entry(user("use pnpm").digest, 0, "recalled", Form.PART, "recall", ("m1",))])
    learned = fact("uses pnpm", source=user("use pnpm").digest)
    await journal.learn(Lesson(1, (learned,), (passage("use pnpm"),)))
    await journal.write_overviews(1, "", {})
    assert await let_go(journal) == (1, 2)
    assert (await journal.facts([learned.id])) == [learned]
    assert count(journal, "passages") == 1
    for table in ("exchanges", "messages", "receipts", "ledger", "mentions"):
        assert count(journal, table) == 0, table
    # It is known again, and what it has said is nothing new.
    assert await journal.session_by_key("ns:s1") == old
    assert count(journal, "seen") > 0


@pytest.mark.sqlite
async def test_the_room_of_what_goes_is_given_back(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    assert isinstance(journal._db, Database)
    long = " ".join(f"word{n}" for n in range(20_000))
    await journal.commit(exchange("e1", [user("fine"), assistant(long)], "noted", of=seen("s1", AT)))
    await read_all(journal)
    await journal._db.scrub()
    before = journal._db.path.stat().st_size
    await let_go(journal)
    assert journal._db.path.stat().st_size < before
    await journal.close()


async def test_what_was_not_read_yet_stays(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("use pnpm")], of=seen("s1", AT)))
    assert await let_go(journal) == (0, 0)
    await journal.learn(Lesson(1))
    assert await let_go(journal) == (0, 0)
    await journal.write_overviews(1, "", {})
    assert (await let_go(journal))[0] == 1


async def test_the_exchanges_are_not_gone_through_while_none_is_to_go(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.commit(exchange("e1", [user("use pnpm")], of=seen("s1", NOW)))  # the newest of one that lives
    await journal.commit(exchange("e2", [user("use yarn")], of=seen("s2", NOW), at=NOW))
    await read_all(journal)
    with monkeypatch.context() as unread:
        unread.setitem(QUERIES, "retention_exchanges", "not to be asked")
        assert await let_go(journal) == (0, 0)
    await journal.commit(exchange("e3", [user("use npm")], of=seen("s3", AT)))
    await read_all(journal)
    assert (await let_go(journal))[0] == 1


async def test_a_session_that_lives_keeps_its_newest_exchange_whole(journal: SqlJournal) -> None:
    messages: list[Message] = []
    for turn in range(6):
        messages.append(user(f"question {turn}"))
        at = AT + turn * DAY
        await journal.commit(exchange(f"e{turn}", messages, f"answer {turn}", of=seen("s1", at), at=at))
        messages.append(assistant(f"answer {turn}"))
    last = seen("s1", NOW)
    await journal.enter(last, [])
    await read_all(journal)
    assert (await let_go(journal))[0] == 5
    assert await turns(journal, "s1") == messages[:-1]
    # The next turn builds on it.
    messages.append(user("and now?"))
    await journal.commit(exchange("e9", messages, "so", of=last, at=NOW))
    assert await turns(journal, "s1") == messages


async def test_what_another_session_still_holds_stays(journal: SqlJournal) -> None:
    shared = [user("the long opening that both have")]
    await journal.commit(exchange("e1", shared, "one", of=seen("s1", AT)))
    fork = seen("s2", NOW, forked_from="s1")
    await journal.commit(exchange("e2", [*shared, assistant("one"), user("on")], "two", of=fork, at=NOW))
    await read_all(journal)
    assert await let_go(journal) == (1, 0)
    assert await turns(journal, "s2") == [*shared, assistant("one"), user("on")]


async def test_what_a_living_session_was_given_can_still_be_had_whole(journal: SqlJournal) -> None:
    large = user("a large paste " * 50)
    await journal.commit(exchange("e1", [large], "read", of=seen("s1", AT)))
    living = seen("s2", NOW)
    entry = Entry(large.digest, 0, "a stub", Form.PART, "fold", (), Act.REPLACE)
    await journal.enter(living, [entry])
    await journal.pin_part(PERSON, assistant("read").digest, 0, NOW)
    await read_all(journal)
    assert await let_go(journal) == (1, 0)
    assert (await journal.messages_by_digest(PERSON, large.digest.hex()))[0].message == large


async def test_the_overviews_of_what_goes_go_too(journal: SqlJournal) -> None:
    question, reply = user("what is it?"), assistant("a very long answer")
    await journal.commit(exchange("e1", [question], "a very long answer", of=seen("s1", AT)))
    await read_all(journal)
    made = {(question.digest, 0): Overview(5, "line", "text", 1), (reply.digest, 0): Overview(5, "line", "text", 1)}
    await journal.write_overviews(1, PERSON, made)
    assert count(journal, "overviews") == 2
    await let_go(journal)
    assert count(journal, "overviews") == 0


async def test_what_was_forgotten_stays_forgotten(journal: SqlJournal) -> None:
    told = user("my cat is called Ada")
    await journal.commit(exchange("e1", [told], of=seen("s1", AT)))
    learned = fact("cat Ada", source=told.digest)
    await journal.learn(Lesson(1, (learned,)))
    await journal.write_overviews(1, "", {})
    await journal.forget([learned.id], AT)
    await let_go(journal)
    await journal.commit(exchange("e2", [told], of=seen("s2", NOW), at=NOW))
    (again,) = await journal.unlearned(10)
    assert again.messages[0].parts == (Text("[forgotten]"),)


async def test_exchanges_that_come_meanwhile_lose_nothing(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    histories: dict[str, list[Message]] = {}
    for n in range(20):
        messages = [user("the same opening"), assistant("yes"), user(f"one of {n}")]
        histories[f"s{n}"] = messages
        await journal.commit(exchange(f"e{n}", messages, f"reply {n}", of=seen(f"s{n}", AT)))
    await read_all(journal)

    async def come_back(n: int) -> None:
        for _ in range(n):
            await asyncio.sleep(0)
        messages = [*histories[f"s{n}"], assistant(f"reply {n}"), user("again")]
        histories[f"s{n}"] = messages
        await journal.commit(exchange(f"again{n}", messages, "so", of=seen(f"s{n}", NOW), at=NOW))

    await asyncio.gather(let_go(journal), *(come_back(n) for n in range(20)))
    for each in await journal.unlearned(100):
        assert list(each.messages) == histories[each.session.id]
    await journal.close()


async def test_an_exchange_that_comes_when_it_is_given_up_loses_nothing(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MESSAGES", 1)
    opening = user("an opening that comes again")
    await journal.commit(exchange("e1", [user("what goes first"), opening], of=seen("s1", AT)))
    await read_all(journal)
    ready, rests, slow = threading.Event(), itertools.count(), asyncio.Event()
    held: list[asyncio.Task[bool]] = []

    async def hold() -> None:
        """Have the disk take its time, once the exchange and its first message have gone."""
        if next(rests) == 1:
            held.append(asyncio.create_task(journal._db.write(lambda _: ready.wait(60))))
            slow.set()
        await asyncio.sleep(0)

    letting_go = asyncio.create_task(journal.delete_old(NOW - 30 * DAY, WORKS, hold))
    await slow.wait()
    for _ in range(10):
        await asyncio.sleep(0)  # the next message stands behind that
    letting_go.cancel()
    coming = asyncio.create_task(journal.commit(exchange("e2", [opening], of=seen("s2", NOW), at=NOW)))
    for _ in range(10):
        await asyncio.sleep(0)
    ready.set()
    await asyncio.wait({letting_go, coming, *held})
    assert letting_go.cancelled()
    assert await turns(journal, "s2") == [opening]


async def test_what_is_pinned_or_forgotten_meanwhile_stays(journal: SqlJournal) -> None:
    pinned, private = user("keep this whole"), user("my cat is called Ada")
    await journal.commit(exchange("e1", [pinned, private], of=seen("s1", AT)))
    learned = fact("cat Ada", source=private.digest)
    await journal.learn(Lesson(1, (learned,)))
    await journal.write_overviews(1, "", {})

    async def meanwhile() -> None:
        await journal.pin_part(PERSON, pinned.digest, 0, NOW)
        await journal.forget([learned.id], NOW)

    assert await journal.delete_old(NOW - 30 * DAY, WORKS, meanwhile) == (1, 1)  # only the reply
    assert (await journal.messages_by_digest(PERSON, pinned.digest.hex()))[0].message == pinned
    await journal.commit(exchange("e2", [private], of=seen("s2", NOW), at=NOW))
    assert b"Ada" not in (await turns(journal, "s2"))[0].text.encode()


SAID = st.sampled_from(["a", "b", "c", "d"])


@settings(max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 2), SAID, st.integers(0, 60)), min_size=1, max_size=14), st.integers(0, 60))
def test_what_stays_reads_as_before(steps: list[tuple[int, str, int]], cut: int) -> None:
    """Whatever goes, each exchange that stays gives back the request that it had."""

    async def check(folder: Path) -> None:
        journal = open_journal(folder)
        histories: dict[int, list[Message]] = {}
        wanted: dict[str, tuple[Message, ...]] = {}
        for number, (which, text, day) in enumerate(sorted(steps, key=lambda step: step[2])):
            history = histories.setdefault(which, [])
            history.append(user(text))
            at = AT + day * DAY
            await journal.commit(exchange(f"e{number}", history, "ok", of=seen(f"s{which}", at), at=at))
            wanted[f"e{number}"] = tuple(history)
            history.append(assistant("ok"))
        await move_cursors(journal, 1000)
        await let_go(journal, AT + cut * DAY)
        await move_cursors(journal, 0)
        left = await journal.unlearned(100)
        assert all(each.messages == wanted[each.id] for each in left)
        assert all(each.at >= AT + cut * DAY or each.session.seen_at >= AT + cut * DAY for each in left)
        await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))
