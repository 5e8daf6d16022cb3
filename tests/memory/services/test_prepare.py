"""What is decided about a message is decided once, though preparing fails, and stays where memory is switched off."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from memory.conversation import Conversation, Form, Message, Reply, Role, Text, digest
from memory.edits import Act, Append, Edit, Entry
from memory.ports import StoreError
from memory.scope import Scope
from memory.services.context_sources import FrozenPage, Recalled
from memory.services.journaling import ExchangeJournal
from memory.services.prepare import Preparation
from memory.services.sessions.session_matching import SessionMatcher
from memory.session import Arrival, Mode, Prepared, RequestKind, Session, ShownMemory
from memory.settings import MemorySettings
from memory.stores.journal import SqliteJournal
from memory.visibility import visible
from tests import fresh_journal

T = TypeVar("T")
AT = datetime(2026, 3, 4, tzinfo=UTC)
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", AT)


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except StoreError as error:
        return default, f"late: {error}"


def added(edit: Edit) -> str:
    """What an edit adds; these sessions have no others."""
    assert isinstance(edit, Append)
    return edit.text


class Fresh:
    """A page and a recall that are others every time they are asked for, unless they fail or have to wait."""

    def __init__(self) -> None:
        self.count = itertools.count()
        self.failing = False
        self.present: Mapping[str, str] = {}
        self.visible: tuple[str, ...] | None = None
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: Mapping[str, str]
    ) -> Recalled:
        self.asked.set()
        await self.go_on.wait()
        number = next(self.count)
        self.present = present
        self.visible = visible()
        return Recalled(f"[memory {number}]", (ShownMemory(f"id{number}", "text", 1.0, {}, 5),))

    async def page(self, scope: Scope) -> FrozenPage:
        if self.failing:
            raise StoreError("the page cannot be read")
        return FrozenPage(f"[page {next(self.count)}]")


class Bench:
    """The shells over a real journal, which can be opened anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.memory = Fresh()
        self.ids = itertools.count()
        self.start()

    def start(self) -> None:
        fresh_journal.put(self.path)
        self.journal = SqliteJournal(self.path, lambda text: text)
        self.sessions = SessionMatcher(self.journal, lambda: f"{next(self.ids):032x}")
        self.preparation = Preparation(
            MemorySettings(),
            self.sessions,
            self.memory,
            self.memory,
            guard,
            lambda: f"{next(self.ids):032x}",
            lambda: False,
        )
        self.notes = ExchangeJournal(self.journal, guard, lambda: None, self.sessions.place)

    async def restart(self) -> None:
        await self.preparation.settle()
        await self.journal.close()
        self.start()

    async def send(self, conversation: Conversation, arrival: Arrival = ARRIVAL) -> tuple[Edit, ...]:
        """A request that is prepared and answered; its edits."""
        return await self.answer(await self.preparation.prepare(conversation, arrival), conversation)

    async def fail(
        self, conversation: Conversation, arrival: Arrival = ARRIVAL, *, answered: bool = True
    ) -> tuple[Edit, ...]:
        """A request whose preparing failed as a whole; its edits."""
        prepared = await self.preparation.fallback_edits(conversation, arrival, "late: more than 100 ms")
        await self.preparation.settle()
        return await self.answer(prepared, conversation) if answered else prepared.edits

    async def answer(self, prepared: Prepared, conversation: Conversation) -> tuple[Edit, ...]:
        await self.preparation.settle()
        await self.notes.record(prepared, conversation, Reply((Text("Done."),), "stop", complete=True), 200)
        return prepared.edits


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "journal.db")
    yield bench
    await bench.preparation.settle()
    await bench.journal.close()


def said(*texts: str) -> Conversation:
    """A person and a model in turn."""
    messages = []
    for index, text in enumerate(texts):
        role, parts = (Role.USER, Role.ASSISTANT)[index % 2], (Text(text),)
        spoken = text if role is Role.USER else ""
        messages.append(Message(role, parts, digest(role, parts), spoken, Form.SUFFIX if spoken else None))
    return Conversation("openai-chat", "m", tuple(messages))


def keyed(key: str | None, **more: object) -> Arrival:
    return replace(ARRIVAL, session_key=key, **more)  # type: ignore[arg-type]


FIRST = said("hello")
SECOND = said("hello", "Done.", "go on")
THIRD = said("hello", "Done.", "go on", "Done.", "and then?")

keys = pytest.mark.parametrize("key", ["s1", None])


@keys
async def test_while_a_request_is_decided_about_only_its_owners_memories_are_read(
    key: str | None, bench: Bench
) -> None:
    await bench.send(FIRST, replace(keyed(key), also=("up:/ada/sail",)))
    assert bench.memory.visible is not None
    seen = {owner for owner in bench.memory.visible if "/" not in owner.partition(":")[0]}
    assert seen == {"up:/ada/loom", "u:/ada", "p:/ada/loom", "up:/ada/sail"}
    assert visible() is None
    await bench.send(FIRST, replace(keyed(None), scope=Scope(None, "ada")))
    assert next(owner for owner in bench.memory.visible if owner.startswith("up:")).startswith("up:/ada/session")


@keys
async def test_a_retry_of_a_request_whose_preparing_failed_adds_nothing(key: str | None, bench: Bench) -> None:
    before = await bench.send(FIRST, keyed(key))
    assert await bench.fail(SECOND, keyed(key)) == before
    assert await bench.send(SECOND, keyed(key)) == before
    await bench.restart()
    assert await bench.send(SECOND, keyed(key)) == before
    assert (await bench.send(THIRD, keyed(key)))[: len(before)] == before


@pytest.mark.parametrize(
    ("key", "answered", "restart"),
    # A session without a key of which nothing was answered leaves no trail in the journal.
    [("s1", True, True), ("s1", False, True), ("s1", False, False), (None, True, True), (None, False, False)],
)
async def test_a_session_that_began_with_a_failure_gets_its_page_at_the_next_message(
    key: str | None, answered: bool, restart: bool, bench: Bench
) -> None:
    assert await bench.fail(FIRST, keyed(key), answered=answered) == ()
    if restart:
        await bench.restart()
    assert await bench.send(FIRST, keyed(key)) == ()
    edits = await bench.send(SECOND, keyed(key))
    assert [(edit.message, added(edit)[:5]) for edit in edits] == [(2, "[page"), (2, "[memo")]
    assert await bench.send(THIRD, keyed(key)) == (*edits, *(await bench.send(THIRD, keyed(key)))[2:])


async def test_nothing_is_remembered_to_have_been_added_though_the_journal_cannot_be_read(bench: Bench) -> None:
    find, enter = bench.journal.session_by_key, bench.journal.enter

    async def broken(*args: object) -> None:
        raise StoreError("locked")

    bench.journal.session_by_key = broken  # type: ignore[assignment, method-assign]
    assert await bench.fail(FIRST, keyed("s1"), answered=False) == ()
    bench.journal.session_by_key, bench.journal.enter = find, enter  # type: ignore[method-assign]
    assert await bench.send(FIRST, keyed("s1")) == ()
    await bench.restart()
    assert await bench.send(FIRST, keyed("s1")) == ()


async def test_a_page_that_could_not_be_read_is_given_at_a_later_message_and_never_at_the_same(bench: Bench) -> None:
    bench.memory.failing = True
    before = await bench.send(FIRST)
    assert [added(edit)[:5] for edit in before] == ["[memo"]
    bench.memory.failing = False
    assert await bench.send(FIRST) == before
    after = await bench.send(SECOND)
    assert [(edit.message, added(edit)[:5]) for edit in after[1:]] == [(2, "[page"), (2, "[memo")]
    assert not [edit for edit in (await bench.send(THIRD))[3:] if added(edit).startswith("[page")]


async def test_who_asks_without_the_page_since_it_was_not_read_is_told(bench: Bench) -> None:
    bench.memory.failing = True
    prepared = await bench.preparation.prepare(FIRST, ARRIVAL)
    assert prepared.edits and prepared.receipt.status.startswith("degraded; without the page: ")
    bench.memory.failing = False
    assert (await bench.preparation.prepare(SECOND, ARRIVAL)).receipt.status.startswith("remembered")


async def test_what_went_on_without_memory_is_not_recalled_for_by_a_request_that_still_waits(bench: Bench) -> None:
    before = await bench.send(FIRST)
    bench.memory.asked.clear()
    bench.memory.go_on.clear()
    waiting = asyncio.create_task(bench.preparation.prepare(SECOND, ARRIVAL))
    await bench.memory.asked.wait()
    assert await bench.fail(SECOND) == before
    bench.memory.go_on.set()
    prepared = await waiting
    assert (prepared.edits, prepared.receipt.shown) == (before, ())


async def test_a_fork_whose_preparing_failed_keeps_what_it_was_forked_with(bench: Bench) -> None:
    before = await bench.send(FIRST, keyed("s1"))
    assert await bench.fail(SECOND, keyed("s2")) == before
    assert await bench.send(SECOND, keyed("s2")) == before
    assert (await bench.journal.counts()).sessions == 2


@keys
@pytest.mark.parametrize("restart", [True, False])
async def test_switched_off_in_the_middle_of_a_session_the_prefix_stays(
    key: str | None, restart: bool, bench: Bench
) -> None:
    before = await bench.send(FIRST, keyed(key))
    assert before
    if restart:
        await bench.restart()
    told = await bench.journal.counts()
    prepared = await bench.preparation.prepare(SECOND, keyed(key, mode=Mode.OFF))
    assert (prepared.edits, prepared.journaled, prepared.receipt.status) == (before, False, "off")
    await bench.answer(prepared, SECOND)
    assert await bench.journal.counts() == told
    assert (await bench.send(THIRD, keyed(key)))[: len(before)] == before


@keys
async def test_switched_off_from_its_beginning_a_session_is_left_alone(key: str | None, bench: Bench) -> None:
    await bench.send(said("another matter"), keyed("other"))
    told = await bench.journal.counts()
    for conversation in (FIRST, SECOND):
        assert await bench.send(conversation, keyed(key, mode=Mode.OFF)) == ()
        assert await bench.fail(conversation, keyed(key, mode=Mode.OFF)) == ()
    assert await bench.journal.counts() == told


async def test_what_the_model_asked_for_by_itself_is_not_recalled_again(bench: Bench) -> None:
    prepared = await bench.preparation.prepare(FIRST, keyed("s1"))
    assert prepared.session is not None
    live = bench.sessions.get(prepared.session.id)
    assert live is not None
    live.decide([Entry(*FIRST.keys()[0], "{}", Form.PART, "hidden", ("id7",), Act.INSERT)])
    await bench.preparation.prepare(SECOND, keyed("s1"))
    assert bench.memory.present == {"id7": "", "id1": "[memory 1]"}


async def test_the_same_message_again_is_told_what_was_decided_when_it_came_first(bench: Bench) -> None:
    first = await bench.preparation.prepare(FIRST, ARRIVAL)
    await bench.answer(first, FIRST)
    assert first.receipt.note == "" and len(first.receipt.shown) == 1
    again = await bench.preparation.prepare(FIRST, ARRIVAL)
    assert again.edits == first.edits and again.receipt.shown == ()
    assert again.receipt.note == "this message came before, and what was decided then stands: 1 memory in 3 tokens"


async def test_so_it_is_where_nothing_was_added_and_why(bench: Bench) -> None:
    await bench.fail(FIRST)
    again = await bench.preparation.prepare(FIRST, ARRIVAL)
    assert again.receipt.note.endswith("what was decided then stands: nothing (late: more than 100 ms)")
