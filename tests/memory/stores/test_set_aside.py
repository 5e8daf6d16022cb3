"""What is set aside outlives the process, holds no secret, and is in the journal once, whatever else came of it."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psycopg
import pytest

from memory.conversation import Form, Message, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import Act, ContentTier, Entry
from memory.ports import Lesson, SetAsideErasure
from memory.scope import Layer, Scope
from memory.session import Exchange, HiddenRound, Shed, ShownMemory
from memory.stores import messages, spill
from memory.stores.connection import Connection
from memory.stores.database import Database
from memory.stores.errors import StoreFault, StoreFaultKind, sqlite_fault
from memory.stores.exchange_draft import ExchangeDraft
from memory.stores.exchanges import WrittenExchange
from memory.stores.journal import SqlJournal
from memory.stores.postgresql.database import PostgresDatabase
from tests.memory.stores.derived_facts import (
    SECRET,
    assistant,
    conversation,
    exchange,
    fact,
    open_journal,
    said,
    session,
    stored,
    user,
)


def files(home: Path) -> list[Path]:
    return sorted((home / "store" / "aside").iterdir())


@asynccontextmanager
async def opened(home: Path, **settings: object) -> AsyncIterator[SqlJournal]:
    journal = open_journal(home, **settings)
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def locked(home: Path) -> AsyncIterator[SqlJournal]:
    """A journal whose file somebody else holds."""
    async with opened(home, busy_seconds=0.01) as journal:
        database = journal._db
        if isinstance(database, PostgresDatabase):
            with psycopg.connect(database.url) as writing:
                writing.execute("LOCK TABLE writers IN EXCLUSIVE MODE")
                yield journal
            return
        assert isinstance(database, Database)
        other = sqlite3.connect(database.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield journal
        finally:
            other.close()


def entry(text: str, memories: tuple[str, ...] = (), act: Act = Act.APPEND) -> Entry:
    return Entry(user("hi").digest, 0, text, Form.PART, "recall", memories, act, 0, ContentTier.L1)


async def left_behind(home: Path, *exchanges: Exchange, entries: tuple[Entry, ...] = ()) -> None:
    """A process that could not journal these exchanges, and is gone."""
    async with locked(home) as journal:
        for each in exchanges:
            with pytest.raises(StoreFault):
                await journal.commit(each)
            await journal.set_aside(each, entries)
        assert journal.aside == len(exchanges)


async def everything(journal: SqlJournal, told: Exchange) -> tuple[object, ...]:
    return (
        await journal.unlearned(10),
        await journal.receipts(10),
        await journal.ledger("s1"),
        await journal.session_by_trail("ns", told.conversation.trail()),
        await journal.newest_usage("s1", "model-1"),
    )


async def test_what_was_set_aside_is_journaled_by_the_next_process_as_if_it_had_been_at_once(tmp_path: Path) -> None:
    east = timezone(timedelta(hours=9))
    parts = (Reasoning("hm", "signed"), Text("done"), ToolCall("c", "run", '{"a": 1}'))
    messages = [said(Role.SYSTEM, "be brief"), user("hi"), assistant("hello")]
    told = exchange("e1", messages, parts, at=datetime(2026, 3, 4, 23, tzinfo=east), of=session("s1"))
    shed = Shed("fold", "large", 10, 20, True, 0.5, ("a line",))
    more = replace(told.receipt, shed=shed, hidden=(HiddenRound(("memory_get",)),), steps={"recall": 1.5})
    told = replace(told, receipt=more)
    result = replace(messages[1], parts=(ToolResult("c", (Text("ok"),), True),), digest=b"r" * 16)
    after = exchange("e2", [*messages, assistant("done"), result], "then", of=session("s1"))
    async with opened(tmp_path / "at once") as journal:
        await journal.commit(told)
        await journal.commit(after)
        await journal.enter(told.session, [entry("told")])
        at_once = await everything(journal, told)
    await left_behind(tmp_path / "aside", told, after, entries=(entry("told"),))
    async with opened(tmp_path / "aside") as journal:
        assert await journal.take_back() == 2
        assert journal.aside == 0
        assert await everything(journal, told) == at_once
        [first, _] = await journal.unlearned(10)
    assert first.at.utcoffset() == timedelta(hours=9)
    assert files(tmp_path / "aside") == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which file a descriptor is of")
async def test_where_the_journal_is_flushed_to_the_disk_so_is_what_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []

    def fsync(place: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{place}").readlink().name)

    monkeypatch.setattr(os, "fsync", fsync)
    for synchronous in ("NORMAL", "FULL"):
        async with opened(tmp_path / synchronous, synchronous=synchronous) as journal:
            await journal.set_aside(exchange("e1", [user("hi")]))
        [kept] = files(tmp_path / synchronous)
    assert flushed == [f"{kept.name}.part", "aside"]


async def test_what_was_committed_after_all_is_in_the_journal_once(tmp_path: Path) -> None:
    told = exchange("e1", [user("hi")])
    async with opened(tmp_path) as journal:
        await journal.set_aside(told, [entry("told")])
        [kept] = files(tmp_path)
        copy = kept.read_bytes()
        await journal.commit(told)
        assert journal.aside == 0
        await journal.set_aside(told)
        assert journal.aside == 0, "it is there already"
    kept.write_bytes(copy)  # killed before it could be taken away
    async with opened(tmp_path) as journal:
        assert journal.aside == 1
        assert await journal.take_back() == 0
        assert len(await journal.unlearned(10)) == 1
        assert await journal.ledger("s1") == (entry("told"),)


async def test_a_decision_that_was_written_meanwhile_stays_where_it_is(tmp_path: Path) -> None:
    first, second = entry("first", act=Act.REPLACE), entry("second", act=Act.REPLACE)
    await left_behind(tmp_path, exchange("e1", [user("hi")]), entries=(first,))
    async with opened(tmp_path) as journal:
        await journal.enter(session(), [first])
        await journal.enter(session(), [second])
        await journal.take_back()
        assert await journal.ledger("s1") == (first, second)


async def test_no_secret_is_set_aside_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    shown = [ShownMemory("m1", f"the key is {SECRET}", 0.5, {}, 3)]
    await left_behind(tmp_path, exchange("e1", [user(f"my key is {SECRET}")], f"so it is {SECRET}", shown=shown))
    [kept] = files(tmp_path)
    assert SECRET.encode() not in kept.read_bytes()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    async with opened(tmp_path) as journal:
        await journal.take_back()
        [told] = await journal.unlearned(10)
    assert told.messages[0].text == "my key is [redacted]"
    assert told.reply is not None
    assert told.reply.text == "so it is [redacted]"


async def test_of_a_decision_with_a_secret_only_what_may_be_stored_is_written(tmp_path: Path) -> None:
    hidden = replace(entry(f"it is {SECRET}", act=Act.INSERT), stored="it is [redacted]")
    at_rest = replace(hidden, text="it is [redacted]", stored=None)
    await left_behind(tmp_path, exchange("e1", [user("hi")]), entries=(hidden,))
    [kept] = files(tmp_path)
    assert SECRET.encode() not in kept.read_bytes()
    async with opened(tmp_path) as journal:
        await journal.take_back()
        await journal.enter(session(), [hidden])
        assert await journal.ledger("s1") == (at_rest,)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
async def test_what_cannot_be_read_is_counted_and_the_rest_is_taken_back(tmp_path: Path, damage: str) -> None:
    await left_behind(tmp_path, *(exchange(f"e{number}", [user(f"hi {number}")]) for number in range(3)))
    whole = files(tmp_path)[1].read_bytes()
    broken = {
        "cut": whole[: len(whole) // 2],
        "changed": whole[:-2] + b"xx",
        "empty": b"",
        "other": b"\xff" * 100,
    }[damage]
    files(tmp_path)[1].write_bytes(broken)
    (tmp_path / "store" / "aside" / "00000000000000000001-e9.part").write_bytes(whole)
    async with opened(tmp_path) as journal:
        assert (await journal.take_back(), journal.broken) == (2, 1)
        assert [each.id for each in await journal.unlearned(10)] == ["e0", "e2"]
    [left] = files(tmp_path)
    assert left.name.endswith("-e1.broken") and left.read_bytes() == broken
    async with opened(tmp_path) as journal:
        assert (journal.aside, await journal.take_back(), journal.broken) == (0, 0, 0), "it is counted once"
    assert files(tmp_path) == [left]


async def test_what_a_later_version_set_aside_waits_for_it(tmp_path: Path) -> None:
    await left_behind(tmp_path, exchange("e1", [user("hi")]))
    [kept] = files(tmp_path)
    later = kept.read_bytes().replace(b"palimpsest\x00\x01", b"palimpsest\x00\x02", 1)
    kept.write_bytes(later)
    async with opened(tmp_path) as journal:
        assert (await journal.take_back(), journal.broken) == (0, 1)
    assert files(tmp_path) == [kept] and kept.read_bytes() == later


@pytest.mark.parametrize("fault", [KeyError("x"), AssertionError("x"), StoreFault("x", StoreFaultKind.OTHER)])
async def test_one_that_cannot_be_written_is_left_and_the_rest_is_taken_back(tmp_path: Path, fault: Exception) -> None:
    await left_behind(tmp_path, *(exchange(f"e{number}", [user(f"hi {number}")]) for number in range(3)))
    kept = files(tmp_path)[1]
    async with opened(tmp_path) as journal:
        append = journal._append

        def failing(connection: Connection, draft: ExchangeDraft, session: int, person: int) -> WrittenExchange | None:
            if draft.id == "e1":
                raise fault
            return append(connection, draft, session, person)

        journal._append = failing  # type: ignore[method-assign]
        assert (await journal.take_back(), journal.broken) == (2, 1)
        assert (journal.aside, await journal.take_back(), journal.broken) == (0, 0, 1), "it is tried once"
    assert files(tmp_path) == [kept]
    async with opened(tmp_path) as journal:
        assert await journal.take_back() == 1
    assert files(tmp_path) == []


@pytest.mark.parametrize("fault", [StoreFaultKind.FULL, StoreFaultKind.FAILING, StoreFaultKind.LOCKED])
async def test_one_that_cannot_be_read_is_counted_also_where_the_next_is_not_taken_yet(
    tmp_path: Path, fault: StoreFaultKind
) -> None:
    await left_behind(tmp_path, *(exchange(f"e{number}", [user(f"hi {number}")]) for number in range(2)))
    files(tmp_path)[0].write_bytes(b"")
    async with opened(tmp_path) as journal:
        append = journal._append

        def full(connection: Connection, draft: ExchangeDraft, session: int, person: int) -> WrittenExchange | None:
            raise StoreFault("no space", fault)

        journal._append = full  # type: ignore[method-assign]
        with pytest.raises(StoreFault, match="no space"):
            await journal.take_back()
        assert journal.broken == 1, "it is told at once"
        journal._append = append  # type: ignore[method-assign]
        assert (await journal.take_back(), await journal.take_back(), journal.broken) == (1, 0, 1)


async def test_what_is_still_being_written_is_not_taken_for_one_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def full(path: Path, record: bytes, flush: bool) -> None:
        begun.set()
        go_on.wait()
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(spill, "_write", full)
    async with opened(tmp_path) as journal:
        putting = asyncio.create_task(journal.set_aside(exchange("e1", [user("hi")])))
        await asyncio.to_thread(begun.wait)
        taking = asyncio.create_task(journal.take_back())
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(StoreFault) as refused:
            await putting
        assert (refused.value.fault, await taking, journal.aside) == (StoreFaultKind.FULL, 0, 0)


async def test_who_gives_up_waiting_for_a_draft_takes_nothing_from_the_commit_that_makes_it(tmp_path: Path) -> None:
    made = asyncio.Event()
    async with opened(tmp_path) as journal:
        drafted = journal._drafted

        async def slowly(told: Exchange, opened: Callable[[Message], None]) -> ExchangeDraft:
            await made.wait()
            return await drafted(told, opened)

        journal._drafted = slowly  # type: ignore[method-assign, assignment]
        told = exchange("e1", [user("hi")])
        committing = asyncio.create_task(journal.commit(told))
        setting_aside = asyncio.create_task(journal.set_aside(told))
        for _ in range(3):
            await asyncio.sleep(0)
        setting_aside.cancel()
        await asyncio.wait({setting_aside})
        made.set()
        await committing
        assert len(await journal.unlearned(10)) == 1


async def test_what_is_no_file_of_ours_is_no_exchange(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "aside"
    (folder / "1-folder").mkdir(parents=True)
    (folder / "2.part").mkdir()
    (folder / "notes.txt").write_text("mine")
    async with opened(tmp_path) as journal:
        assert (journal.aside, await journal.take_back()) == (0, 0)
    assert [file.name for file in files(tmp_path)] == ["1-folder", "2.part", "notes.txt"]


async def test_what_the_journal_does_not_take_yet_stays_aside(tmp_path: Path) -> None:
    await left_behind(tmp_path, exchange("e1", [user("hi")]))
    async with locked(tmp_path) as journal:
        with pytest.raises(StoreFault, match="locked"):
            await journal.take_back()
        assert journal.aside == 1
    async with opened(tmp_path) as journal:
        assert await journal.take_back() == 1


@pytest.mark.parametrize("again", [False, True])
async def test_what_is_journaled_late_is_not_its_sessions_newest(tmp_path: Path, again: bool) -> None:
    opening = [user("a")]
    whole = opening if again else [*opening, assistant("done"), user("b")]
    later = exchange("e2", whole, at=datetime(2026, 3, 4, 17, 31, tzinfo=timezone(timedelta(hours=1))))
    await left_behind(tmp_path, exchange("e1", opening, at=later.arrival.at - timedelta(milliseconds=60_001)))
    async with opened(tmp_path) as journal:
        await journal.commit(later)
        reported = await journal.newest_usage("s1", "model-1")
        assert reported is not None
        assert await journal.take_back() == 1
        trail = conversation([*whole, assistant("done"), user("c")]).trail()
        assert await journal.session_by_trail("ns", trail) == (session("s1"), len(whole) + 1, True)
        assert await journal.session_by_trail("ns", conversation(opening).trail()) == (session("s1"), 1, again)
        assert await journal.newest_usage("s1", "model-1") == reported
        await journal.commit(exchange("e3", [*whole, user("d")], at=later.arrival.at))
        assert await journal.session_by_trail("ns", trail) == (session("s1"), len(whole) + 1, False)


async def test_no_more_is_set_aside_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MOST", 2)
    async with locked(tmp_path) as journal:
        for number in range(2):
            await journal.set_aside(exchange(f"e{number}", [user("hi")]))
        with pytest.raises(StoreFault, match="2 exchanges wait") as refused:
            await journal.set_aside(exchange("e2", [user("hi")]))
        assert refused.value.fault is StoreFaultKind.FULL
        monkeypatch.setattr(spill, "MOST", 9)
        monkeypatch.setattr(spill, "MOST_BYTES", sum(file.stat().st_size for file in files(tmp_path)) + 100)
        with pytest.raises(StoreFault, match="2 exchanges wait"):
            await journal.set_aside(exchange("e2", [user("hi")]))
        await journal.set_aside(exchange("e1", [user("hi")]))  # it is aside already
        assert journal.aside == 2


async def test_a_folder_that_cannot_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with locked(tmp_path) as journal:
        (tmp_path / "store" / "aside").write_text("no folder")
        with pytest.raises(StoreFault, match="cannot be written"):
            await journal.set_aside(exchange("e1", [user("hi")]))
        assert journal.aside == 0
        (tmp_path / "store" / "aside").unlink()
        await journal.set_aside(exchange("e1", [user("hi")]))
        assert journal.aside == 1


async def test_where_a_segment_begins_only_the_lines_go_that_tell_of_what_was_forgotten_meanwhile(
    tmp_path: Path,
) -> None:
    dog, cat = fact("The dog is called Quirinus.", id="f1"), fact("The cat is called Elpis.", id="f2")
    async with opened(tmp_path) as journal:
        await journal.commit(exchange("e0", [user("hi")]))
        [told] = await journal.unlearned(1)
        await journal.learn(Lesson(told.number, (dog, cat)))
    note = f"We build a boat.\n- {dog.text} (2026-03-04)\n- {cat.text}"
    cut = entry(note, ("f1", "f2"), Act.CUT)
    unknown = replace(cut, occurrence=1, text="Of what nobody knows.", memories=("f3",))
    await left_behind(tmp_path, exchange("e1", [user("hi"), user("ho")]), entries=(cut, unknown))
    async with opened(tmp_path) as journal:
        await journal.forget(["f1"], told.at)
        assert await journal.take_back() == 1
        left = replace(cut, text=f"We build a boat.\n- {cat.text}", memories=("f2",))
        assert await journal.ledger("s1") == (left, replace(unknown, text="", memories=()))


async def test_what_was_forgotten_meanwhile_does_not_come_back(tmp_path: Path) -> None:
    secretly = user("My dog is called Quirinus.")
    async with opened(tmp_path) as journal:
        await journal.commit(exchange("e0", [secretly]))
        [told] = await journal.unlearned(1)
        memory = fact("The dog is called Quirinus.", id="f1", source=secretly.digest)
        await journal.learn(Lesson(told.number, (memory,)))
    shown = [ShownMemory("f1", memory.text, 0.5, {}, 3)]
    later = exchange("e1", [secretly, assistant("done"), user("hi")], shown=shown)
    await left_behind(tmp_path, later, entries=(entry("The dog is called Quirinus.", ("f1",)),))
    elsewhere = exchange("e2", [secretly], of=session("s2"))
    async with locked(tmp_path) as journal:
        await journal.set_aside(elsewhere)
    async with opened(tmp_path) as journal:
        await journal.forget(["f1"], told.at)
        assert await journal.take_back() == 2
        assert [entry.text for entry in await journal.ledger("s1")] == [""]
        texts = [message.text for each in await journal.unlearned(10) for message in each.messages]
        assert not any("Quirinus" in text for text in texts)
        assert [receipt.shown for receipt in await journal.receipts(10)] == [(), (), ()]
        await journal._db.scrub()
        assert b"Quirinus" not in stored(journal)


async def test_what_is_damaged_goes_with_what_is_forgotten_and_what_waits_is_told(tmp_path: Path) -> None:
    await left_behind(tmp_path, *(exchange(f"e{number}", [user(f"hi {number}")]) for number in range(4)))
    first, second, third, _ = files(tmp_path)
    first.rename(first.with_name(f"{first.name}.broken"))
    second.write_bytes(second.read_bytes()[:-9])
    later = third.read_bytes().replace(b"palimpsest\x00\x01", b"palimpsest\x00\x02", 1)
    third.write_bytes(later)
    async with opened(tmp_path) as journal:
        assert (await journal.take_back(), journal.broken) == (1, 2)
        assert await journal.forget_aside() == SetAsideErasure(gone=2, wait=1)
        assert (files(tmp_path), journal.broken) == ([third], 1)
        assert await journal.forget_aside() == SetAsideErasure(wait=1)
    third.unlink()
    await left_behind(tmp_path, exchange("e9", [user("hi 9")]))
    async with locked(tmp_path) as journal:
        assert await journal.forget_aside() == SetAsideErasure(wait=1)


async def test_what_is_damaged_stays_where_it_may_be_anothers(tmp_path: Path) -> None:
    await left_behind(tmp_path, exchange("e1", [user("hi")]))
    [damaged] = files(tmp_path)
    damaged = damaged.rename(damaged.with_name(f"{damaged.name}.broken"))
    async with opened(tmp_path) as journal:
        for name in ("ann", "bob"):
            owner = Scope(user=name, project="p").owner(Layer.USER_PROJECT) or ""
            await journal.learn(Lesson(0, documents={owner: 1}, terms={owner: {1: 1}}))
        left = await journal.forget_aside()
        assert left == SetAsideErasure(stay=1) and damaged.exists()
        assert "1 exchange is damaged and left" in left.sentences()[0] and str(tmp_path) not in left.sentences()[0]


async def test_setting_aside_waits_for_no_thread_that_others_may_have_taken(tmp_path: Path) -> None:
    go_on = threading.Event()
    loop = asyncio.get_running_loop()
    async with locked(tmp_path) as journal:
        others = [loop.run_in_executor(None, go_on.wait) for _ in range(64)]
        others += [loop.run_in_executor(pool, go_on.wait) for pool in (journal._spill._pool, messages._HEAVY_SEALING)]
        try:
            async with asyncio.timeout(30):
                await journal.set_aside(exchange("e1", [user("hi " * messages.LIGHT)]))
            assert len(files(tmp_path)) == 1
        finally:
            go_on.set()
            await asyncio.gather(*others)


async def test_setting_aside_does_not_wait_for_a_forget(tmp_path: Path) -> None:
    told = exchange("e1", [user("hi")])
    async with opened(tmp_path) as journal:
        async with journal._gate.closed():
            committing = asyncio.create_task(journal.commit(told))
            await asyncio.sleep(0)
            async with asyncio.timeout(30):
                await journal.set_aside(told)
            assert len(files(tmp_path)) == 1
        await committing
        assert journal.aside == 0


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_FULL])
def test_a_quota_or_a_disk_that_fails_is_tried_again_as_a_full_one_is(code: int) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    assert sqlite_fault(error, "journal.db").passing
