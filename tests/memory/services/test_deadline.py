"""One deadline for everything that is done for a request: what is late is left out, and what was done goes on."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
import pytest_asyncio

from memory.context.visible_history import VisibleHistory
from memory.conversation import Conversation, Form, Message, Role, Text, digest
from memory.edits import Act, ActiveEdits, Edit, Entry, Replace
from memory.scope import Scope
from memory.services import time_limits
from memory.services.context_sources import FrozenPage, Recalled
from memory.services.prepare import Preparation
from memory.services.request import SessionRequest
from memory.services.sessions.namespaces import in_own_namespace
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.shortening import REFUSED_SECONDS
from memory.services.window.decision import Decision
from memory.services.window.fitting import WindowFitter
from memory.services.window.paging import PageIn, Returned
from memory.services.window.request_size import RequestSize, RequestSizer
from memory.services.window.shedding import Shedder
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import Arrival, Pending, RequestKind, Session, Shed, WindowSources
from memory.settings import MemorySettings, RecallSettings
from memory.stores.journal import SqliteJournal

T = TypeVar("T")
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", datetime(2026, 3, 4, tzinfo=UTC))


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        async with asyncio.timeout(timeout_seconds):
            return await awaitable, ""
    except TimeoutError:
        return default, "late: too late"


class Never:
    """Recall and the page, neither of which comes."""

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: Mapping[str, str]
    ) -> Recalled:
        await asyncio.Event().wait()
        raise AssertionError

    async def page(self, scope: Scope) -> FrozenPage:
        await asyncio.Event().wait()
        raise AssertionError


TOO_MUCH = "and all of this"


class Sheds:
    """Takes the second message out, at once; in haste only where too much was said."""

    def of(self, request: SessionRequest, edits: Sequence[Edit]) -> RequestSize:
        gone = sum(isinstance(edit, Replace) for edit in edits)
        return RequestSize((0,) * len(request.conversation.messages), 0, -gone, 10, 100)

    def window(self, conversation: Conversation) -> int:
        return 100

    def sources(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> WindowSources:
        return WindowSources(talk=load.expected)

    def sight(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> VisibleHistory:
        return VisibleHistory(request.conversation, request.keys, load.sizes, standing)

    async def decide(
        self, request: SessionRequest, standing: ActiveEdits, load: RequestSize, must: bool = False
    ) -> Decision:
        return self._out(request, standing)

    def fallback_trim(self, request: SessionRequest, load: RequestSize, late: bool = True) -> Decision:
        much = request.conversation.messages[-1].text == TOO_MUCH
        return self._out(request, request.standing()) if much else Decision()

    def _out(self, request: SessionRequest, standing: ActiveEdits) -> Decision:
        if standing.replaced or len(request.keys) < 2:
            return Decision()
        entry = Entry(*request.keys[1], "[short]", Form.SUFFIX, "shed old", act=Act.REPLACE)
        return Decision((entry,), shed=Shed("fold", "it would not fit", 1, 1, True))


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
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    made = SqliteJournal(tmp_path / "journal.db", lambda text: text)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def preparation(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Preparation]:
    monkeypatch.setattr(time_limits, "SHED_SECONDS", 0.6)  # wide, so that a busy machine tells nothing else
    ids = (f"{number:032x}" for number in itertools.count())
    settings = MemorySettings(recall=RecallSettings(deadline_ms=250))
    sheds, paging = Sheds(), cast(PageIn, NeverBack())
    fitting = WindowFitter(
        cast(RequestSizer, sheds), cast(Shedder, sheds), paging, cast(UsageCalibration, None), Never().page, guard
    )
    made = Preparation(
        settings,
        SessionMatcher(journal, lambda: next(ids)),
        Never(),
        Never(),
        guard,
        lambda: next(ids),
        lambda: False,
        fitting=fitting,
    )
    yield made
    await made.settle()


async def test_what_left_stands_though_all_that_comes_behind_it_is_late(preparation: Preparation) -> None:
    async with asyncio.timeout(preparation.time_limit(said("begin"), ARRIVAL)):
        prepared = await preparation.prepare(said("begin", "long", "go on"), ARRIVAL)
    assert prepared.receipt.shed is not None
    assert prepared.edits == (Replace(1, 0, "[short]"),)
    assert prepared.receipt.status.startswith("degraded")


async def test_a_request_does_not_wait_for_another_of_its_session_longer_than_it_may(preparation: Preparation) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    first = await preparation.prepare(said("begin"), arrival)
    assert first.session is not None
    live = preparation._sessions.get(first.session.id)
    assert live is not None
    async with live.lock, asyncio.timeout(preparation.time_limit(said("begin"), ARRIVAL)):
        prepared = await preparation.prepare(said("begin", "long", "go on"), arrival)
    assert prepared.session is not None and prepared.edits == ()
    assert prepared.receipt.status.startswith("degraded; late")
    again = await preparation.prepare(said("begin", "long", "go on"), arrival)
    assert not any(
        entry.text for entry in live.ledger.at(said("begin", "long", "go on").keys()) if entry.act is Act.APPEND
    )
    assert again.receipt.shed is not None


async def test_what_left_when_preparing_failed_stays_away_also_after_a_restart(
    preparation: Preparation, journal: SqliteJournal
) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    first = await preparation.prepare(said("begin"), arrival)
    asked = said("begin", "long", TOO_MUCH)
    short = (Replace(1, 0, "[short]"),)
    failed = await preparation.fallback_edits(asked, arrival, "late: more than 100 ms")
    assert failed.session is not None and first.session is not None and failed.session.id == first.session.id
    assert failed.edits == short
    # It is in the journal before the request goes out.
    live = await SessionMatcher(journal, lambda: "another").find(asked, in_own_namespace(arrival))
    assert live.ledger.active(asked.keys(), asked.head).edits == short


async def test_what_was_left_out_for_a_second_try_is_written_before_its_reply_is_passed_on(
    preparation: Preparation, journal: SqliteJournal
) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    asked = said("begin", "long", "go on")
    prepared = await preparation.prepare(asked, arrival)
    digest, occurrence = asked.keys()[1]
    left = Entry(digest, occurrence, "[short]", Form.SUFFIX, "shed", act=Act.REPLACE)
    await preparation.ledgers.mark_sent(replace(prepared, pending=Pending((left,))))
    live = await SessionMatcher(journal, lambda: "another").find(asked, in_own_namespace(arrival))
    assert live.ledger.active(asked.keys(), asked.head).edits == (Replace(1, 0, "[short]"),)


async def test_a_journal_that_does_not_write_holds_no_request_whose_preparing_failed(
    preparation: Preparation, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    await preparation.prepare(said("begin"), arrival)
    enter, free = journal.enter, asyncio.Event()

    async def slow(*given: Any) -> None:
        await free.wait()
        await enter(*given)

    monkeypatch.setattr(journal, "enter", slow)
    asked = said("begin", "long", TOO_MUCH)
    failed = await preparation.fallback_edits(asked, arrival, "late: more than 100 ms")
    assert failed.edits == (Replace(1, 0, "[short]"),) and not free.is_set()
    free.set()
    await preparation.settle()


async def test_what_left_a_fork_whose_preparing_failed_does_not_leave_its_origin(preparation: Preparation) -> None:
    origin, fork = (replace(ARRIVAL, session_key=key) for key in ("s1", "s2"))
    first = await preparation.prepare(said("begin"), origin)
    assert first.session is not None
    live = preparation._sessions.get(first.session.id)
    assert live is not None
    failed = await preparation.fallback_edits(said("begin", "long", TOO_MUCH), fork, "late: more than 100 ms")
    assert failed.edits == (Replace(1, 0, "[short]"),)
    assert not live.ledger.shed


async def test_what_would_be_refused_as_it_came_waits_longer(preparation: Preparation) -> None:
    asked = said("begin")
    usual = preparation.time_limit(asked, ARRIVAL)
    assert preparation.time_limit(asked, replace(ARRIVAL, size=time_limits.HOPELESS * 100)) == usual
    assert (
        preparation.time_limit(asked, replace(ARRIVAL, size=time_limits.HOPELESS * 100 + 1))
        >= usual + REFUSED_SECONDS / 2
    )


async def test_a_session_that_only_the_journal_knows_is_waited_for_by_a_deadline_of_its_own(
    preparation: Preparation, journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_key = journal.session_by_key

    async def slow(key: str) -> Session | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        return await by_key(key)

    monkeypatch.setattr(journal, "session_by_key", slow)
    monkeypatch.setattr(time_limits, "PATIENCE", 0)
    monkeypatch.setattr(time_limits, "REPLAY_SECONDS", 60.0)
    arrival = replace(ARRIVAL, session_key="s1")
    prepared = await preparation.prepare(said("begin", "long", "go on"), arrival)
    assert prepared.session is not None


async def test_a_session_that_is_remembered_is_waited_for_no_longer_than_usual(preparation: Preparation) -> None:
    arrival = replace(ARRIVAL, session_key="s1")
    unknown = preparation.time_limit(said("begin"), arrival)
    await preparation.prepare(said("begin"), arrival)
    assert unknown - preparation.time_limit(said("begin"), arrival) == pytest.approx(time_limits.REPLAY_SECONDS)
