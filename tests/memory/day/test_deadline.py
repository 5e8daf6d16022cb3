"""One deadline for everything that is done for a request: what is late is left out, and what was done goes on."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
import pytest_asyncio

from memory.context.sight import Sight
from memory.conversation import Conversation, Form, Message, Role, Text, digest
from memory.day import prepare
from memory.day.given import FrozenPage, Recalled
from memory.day.prepare import Preparation
from memory.day.sessions.finding import LiveSessions
from memory.day.sessions.live import LiveSession
from memory.day.window.fitting import Fitting
from memory.day.window.paging import Paging, Returned
from memory.day.window.reported import Reported
from memory.day.window.shedding import Decision, Load, Shedding
from memory.edits import Act, Edit, Entry, Key, Replace, Standing
from memory.scope import Scope
from memory.session import Arrival, RequestKind, Session, Shed
from memory.settings import MemorySettings, RecallSettings
from memory.stores.journal import SqliteJournal

T = TypeVar("T")
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", datetime(2026, 3, 4, tzinfo=UTC))


async def guard(awaitable: Awaitable[T], *, otherwise: T, within: float, doing: str) -> tuple[T, str]:
    try:
        async with asyncio.timeout(within):
            return await awaitable, ""
    except TimeoutError:
        return otherwise, "late: too late"


class Never:
    """Recall and the page, neither of which comes."""

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: frozenset[str]
    ) -> Recalled:
        await asyncio.Event().wait()
        raise AssertionError

    async def page(self, scope: Scope) -> FrozenPage:
        await asyncio.Event().wait()
        raise AssertionError


class Sheds:
    """Takes the second message out, at once."""

    def load(self, conversation: Conversation, live: LiveSession, edits: Sequence[Edit]) -> Load:
        return Load((0,) * len(conversation.messages), 0, -sum(isinstance(e, Replace) for e in edits), 10, 100)

    def window(self, conversation: Conversation) -> int:
        return 100

    async def decide(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        standing: Standing,
        load: Load,
        must: bool = False,
    ) -> Decision:
        if standing.replaced or len(keys) < 2:
            return Decision()
        entry = Entry(*keys[1], "[short]", Form.SUFFIX, "shed old", act=Act.REPLACE)
        return Decision((entry,), shed=Shed("fold", "it would not fit", 1, 1, True))

    def hasty(self, *told: Any) -> Decision:
        return Decision()

    def sight(self, conversation: Conversation, keys: Sequence[Key], standing: Standing, load: Load) -> Sight:
        return Sight(conversation, keys, load.sizes, standing)


class NeverBack:
    """Paging in that does not end."""

    async def page_in(self, *told: Any) -> Returned:
        await asyncio.Event().wait()
        raise AssertionError


def said(*texts: str) -> Conversation:
    roles = (Role.USER, Role.ASSISTANT)
    messages = []
    for index, text in enumerate(texts):
        role, parts = roles[index % 2], (Text(text),)
        spoken = text if role is Role.USER else ""
        messages.append(Message(role, parts, digest(role, parts), spoken, Form.SUFFIX if spoken else None))
    return Conversation("openai-chat", "m", tuple(messages))


@pytest_asyncio.fixture
async def preparation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Preparation]:
    monkeypatch.setattr(prepare, "SHED_SECONDS", 0.6)  # wide, so that a busy machine tells nothing else
    journal = SqliteJournal(tmp_path / "journal.db", lambda text: text)
    ids = (f"{number:032x}" for number in itertools.count())
    settings = MemorySettings(recall=RecallSettings(deadline_ms=250))
    fitting = Fitting(cast(Shedding, Sheds()), cast(Paging, NeverBack()), cast(Reported, None), Never().page, guard)
    made = Preparation(
        settings,
        LiveSessions(journal, lambda: next(ids)),
        Never(),
        Never(),
        guard,
        lambda: next(ids),
        lambda: False,
        fitting=fitting,
    )
    yield made
    await made.settle()
    await journal.close()


async def test_what_left_stands_though_all_that_comes_behind_it_is_late(preparation: Preparation) -> None:
    async with asyncio.timeout(preparation.patience(said("begin"), ARRIVAL)):
        prepared = await preparation.prepare(said("begin", "long", "go on"), ARRIVAL)
    assert prepared.receipt.shed is not None
    assert prepared.edits == (Replace(1, 0, "[short]"),)
    assert prepared.receipt.status.startswith("degraded")


async def test_a_request_does_not_wait_for_another_of_its_session_longer_than_it_may(preparation: Preparation) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    first = await preparation.prepare(said("begin"), arrival)
    assert first.session is not None
    live = preparation._sessions.alive(first.session.id)
    assert live is not None
    async with live.lock, asyncio.timeout(preparation.patience(said("begin"), ARRIVAL)):
        prepared = await preparation.prepare(said("begin", "long", "go on"), arrival)
    assert prepared.session is not None and prepared.edits == ()
    assert prepared.receipt.status.startswith("degraded; late")
    again = await preparation.prepare(said("begin", "long", "go on"), arrival)
    assert not any(
        entry.text for entry in live.ledger.at(said("begin", "long", "go on").keys()) if entry.act is Act.APPEND
    )
    assert again.receipt.shed is not None


async def test_what_would_be_refused_as_it_came_waits_longer(preparation: Preparation) -> None:
    asked = said("begin")
    usual = preparation.patience(asked, ARRIVAL)
    assert preparation.patience(asked, replace(ARRIVAL, size=prepare.HOPELESS * 100)) == usual
    assert preparation.patience(asked, replace(ARRIVAL, size=prepare.HOPELESS * 100 + 1)) > 2 * usual
