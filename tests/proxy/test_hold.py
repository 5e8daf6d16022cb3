"""How long a reply's end is held back while its exchange can be brought nowhere, by a clock that only waiting moves."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memory.conversation import Reply, ToolCall
from memory.session import Prepared
from memory.unread_files import NO_FILES, below
from proxy.commit import LARGE_TO_LEAVE_OUT, ExchangeCommit
from proxy.edge import Edge
from proxy.fail_open import Degradations
from proxy.wire.dialect import RequestView

HOLD = 0.05


class Idle(selectors.SelectSelector):
    """Waits no longer than it is told to by a clock of its own."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0 if timeout is not None else None)
        if not found and timeout is not None:
            self.now += timeout
        return found


class Loop(asyncio.SelectorEventLoop):
    """An event loop in which time passes only while nothing can be done."""

    def __init__(self) -> None:
        self.idle = Idle()
        super().__init__(self.idle)

    def time(self) -> float:
        return self.idle.now


async def for_ever() -> bool:
    await asyncio.Event().wait()
    return True


def after(seconds: float, told: bool = True) -> Callable[[], Coroutine[Any, Any, bool]]:
    async def work() -> bool:
        await asyncio.sleep(seconds)
        return told

    return work


def held(note: Callable[[], Awaitable[bool]], set_aside: Callable[[], Awaitable[bool]]) -> tuple[float, list[str]]:
    """How many seconds an end is held back, and how journaling went wrong."""
    degradations = Degradations()

    async def work() -> float:
        beside = list[asyncio.Task[Any]]()

        def go_beside(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
            beside.append(asyncio.create_task(work))
            return beside[-1]

        memory = SimpleNamespace(
            preparation=SimpleNamespace(mark_read=lambda *_: None),
            recent_errands=SimpleNamespace(note_calls=lambda prepared, reply: None),
            exchange_journal=SimpleNamespace(record=lambda *of: note(), set_aside=lambda receipt: set_aside()),
        )
        journal = SimpleNamespace(hold_ms=HOLD * 1000)
        settings = SimpleNamespace(memory=SimpleNamespace(journal=journal))
        edge = SimpleNamespace(memory=memory, settings=settings, degradations=degradations, run_in_background=go_beside)
        prepared = SimpleNamespace(journaled=True, receipt=SimpleNamespace(id="r1"))
        view = SimpleNamespace(conversation=None, unread=NO_FILES)
        committed = ExchangeCommit(cast(Edge, edge), cast(RequestView, view), cast(Prepared, prepared))
        await committed.commit_before_end(Reply())
        passed = asyncio.get_running_loop().time()
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        return passed

    loop = Loop()
    try:
        passed = loop.run_until_complete(work())
    finally:
        loop.close()
    return passed, [each.why.partition(":")[0] for each in degradations.latest if each.doing == "journaling"]


@pytest.mark.parametrize(
    ("note", "set_aside", "seconds", "why"),
    [
        pytest.param(for_ever, after(0.0), HOLD, ["aside"], id="set aside at once"),
        pytest.param(for_ever, after(3.0), HOLD + 3.0, ["aside"], id="set aside, on a machine that stands still"),
        pytest.param(for_ever, after(3.0, told=False), HOLD + 3.0, ["late"], id="cannot be set aside"),
        pytest.param(after(0.01), for_ever, 0.01, [], id="in the journal"),
        pytest.param(after(4.0), for_ever, 4.0, [], id="in the journal, late"),
        pytest.param(after(0.2), after(3.0, told=False), 0.2, [], id="in the journal and never aside"),
    ],
)
def test_an_end_is_held_back_until_its_exchange_is_safe_however_long_that_takes(
    note: Callable[[], Awaitable[bool]], set_aside: Callable[[], Awaitable[bool]], seconds: float, why: list[str]
) -> None:
    passed, told = held(note, set_aside)
    assert told == why
    assert passed == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("size", [0, LARGE_TO_LEAVE_OUT])
async def test_a_reply_is_kept_without_what_is_never_read_however_large_it_is(size: int) -> None:
    kept = list[Reply]()

    async def record(prepared: object, conversation: object, reply: Reply, status: int) -> bool:
        kept.append(reply)
        return True

    memory = SimpleNamespace(
        preparation=SimpleNamespace(mark_read=lambda *_: None),
        recent_errands=SimpleNamespace(note_calls=lambda prepared, reply: None),
        exchange_journal=SimpleNamespace(record=record),
    )
    settings = SimpleNamespace(memory=SimpleNamespace(journal=SimpleNamespace(hold_ms=60_000)))
    degradations = Degradations()
    edge = SimpleNamespace(
        memory=memory, settings=settings, degradations=degradations, run_in_background=asyncio.create_task
    )
    prepared = SimpleNamespace(journaled=True, receipt=SimpleNamespace(id="r1"))
    view = SimpleNamespace(conversation=None, unread=below("/boat", [".env"]))
    call = ToolCall("c1", "Write", '{"file_path": ".env", "content": "MOORING' + "x" * size + '"}')
    reply = Reply((call,), complete=True)
    await ExchangeCommit(cast(Edge, edge), cast(RequestView, view), cast(Prepared, prepared)).commit_before_end(reply)
    [only] = kept
    assert only.sent == reply.parts and "MOORING" not in repr(only.parts) and degradations.counts == {}
