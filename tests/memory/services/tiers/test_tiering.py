"""L0 and L1 are made after the exchange, of all that may be shed, once, and under the name that the client will use."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import TypeVar

import orjson
import pytest
import pytest_asyncio

from memory.conversation import Image, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, digest
from memory.edits import handle
from memory.ports import Overview
from memory.services.tiers.tiering import TierMaker, TierWorker
from memory.stores.journal import SqlJournal
from memory.tiers.calls import arguments
from memory.tiers.shape import Hint, Tiers
from memory.tiers.tier_choice import tiers
from tests.memory.stores.derived_facts import SECRET, exchange, open_journal, said, session, user

T = TypeVar("T")

LONG = "a line of words\n" * 60
PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP8z8AARCAEAAwYAQG6XPjNAAAAAElFTkSuQmCC"
)


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except RuntimeError as error:
        return default, str(error)


class Shortening:
    """Tiers that tell what they were made of; refuses texts that hold ``wrong``."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.threads: set[str] = set()

    def tiers(self, text: str, hint: Hint) -> Tiers:
        if "wrong" in text:
            raise RuntimeError("this cannot be shortened")
        self.seen.append(text)
        self.threads.add(threading.current_thread().name)
        return Tiers(f"{hint.tool} {hint.path} {hint.failed} {len(text)}", text[: len(text) // 5])

    def arguments(self, name: str, arguments: str, limit: int, handle: str) -> str:
        return orjson.dumps({"name": name, "handle": handle, "limit": limit}).decode()

    @property
    def lowering(self) -> TierMaker:
        return TierMaker(self.tiers, self.arguments, lambda text: len(text) // 4)


def message(role: Role, *parts: Part) -> Message:
    return Message(role, parts, digest(role, parts))


def call(id: str, path: str, content: str = "") -> ToolCall:
    return ToolCall(id, "read", orjson.dumps({"path": path, "content": content}).decode())


def result(id: str, text: str, failed: bool = False) -> ToolResult:
    return ToolResult(id, (Text(text),), failed)


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


async def made(journal: SqlJournal, *messages: Message, id: str = "s1") -> list[dict[int, Overview]]:
    found = await journal.shelved(id, [message.digest for message in messages])
    return [dict(found[message.digest].overviews) if message.digest in found else {} for message in messages]


async def test_results_know_the_call_that_they_answer(journal: SqlJournal) -> None:
    called = message(Role.ASSISTANT, call("c1", "a.py"), call("c2", "b.py"))
    one, two = message(Role.TOOL, result("c1", LONG)), message(Role.TOOL, result("c2", LONG, True))
    strange = message(Role.TOOL, result("c9", LONG + "more"))
    await journal.commit(exchange("e1", [user("go"), called, one, two, strange]))
    await TierWorker(journal, Shortening().lowering, guard).catch_up()
    lines = [each[0].line for each in await made(journal, one, two, strange)]
    assert lines == [f"read a.py False {len(LONG)}", f"read b.py True {len(LONG)}", f"  False {len(LONG) + 4}"]
    ((overview,),) = [each.values() for each in await made(journal, one)]
    assert (overview.tokens, overview.text) == (len(LONG) // 4, LONG[: len(LONG) // 5])
    assert overview.text_tokens == len(overview.text) // 4


async def test_what_is_short_or_never_shed_gets_no_overview(journal: SqlJournal) -> None:
    messages = [
        said(Role.SYSTEM, LONG),
        said(Role.DEVELOPER, LONG),
        user("short"),
        message(Role.ASSISTANT, Reasoning(LONG, "sig"), Text("ok"), call("c1", "a")),
        user(f"{LONG} {SECRET}"),
    ]
    await journal.commit(exchange("e1", messages, "fine"))
    await TierWorker(journal, Shortening().lowering, guard).catch_up()
    assert await made(journal, *messages) == [{}, {}, {}, {}, {}]
    assert await journal.untiered(9) == []


async def test_a_long_call_becomes_shorter_arguments_that_name_the_whole(journal: SqlJournal) -> None:
    called = message(Role.ASSISTANT, Text("I write it"), call("c1", "a.py", LONG))
    await journal.commit(exchange("e1", [user("go"), called, message(Role.TOOL, result("c1", "ok"))]))
    await TierWorker(journal, Shortening().lowering, guard).catch_up()
    ((overview,),) = [each.values() for each in await made(journal, called)]
    assert orjson.loads(overview.text)["handle"] == handle(called.digest, 1)
    assert overview.text_tokens == len(overview.text) // 4


async def test_the_tiers_of_the_house_are_within_their_limits(journal: SqlJournal) -> None:
    called = message(Role.ASSISTANT, call("c1", "a.py", LONG * 20))
    short = message(Role.ASSISTANT, ToolCall("c2", "f", orjson.dumps({str(n): n for n in range(99)}).decode()))
    got = message(Role.TOOL, result("c1", LONG * 20))
    await journal.commit(exchange("e1", [user("go"), called, got, short]))
    await TierWorker(journal, TierMaker(tiers, arguments, len), guard).catch_up()
    of_call, of_result, of_short = (each[0] for each in await made(journal, called, got, short))
    for each in (of_call.text, of_call.line):
        told = orjson.loads(each)
        assert told["path"] == "a.py"
        assert handle(called.digest, 0) in told["content"]
    assert len(of_call.line) < len(of_call.text) <= of_call.tokens // 5
    assert 0 < len(of_result.text) <= of_result.tokens // 5
    assert 0 < len(of_result.line) <= 160
    assert (of_short.line, of_short.text) == ("", "")


async def test_a_picture_says_how_large_it_is(journal: SqlJournal) -> None:
    shown = message(Role.USER, Text("look"), Image(PNG))
    shot = message(Role.TOOL, ToolResult("c1", (Text("taken"), Image(PNG), Image("https://x.test/a.png"))))
    await journal.commit(exchange("e1", [shown, shot]))
    await TierWorker(journal, Shortening().lowering, guard).catch_up()
    one, two = await made(journal, shown, shot)
    assert one[1].line == "picture PNG 2 × 3"
    assert one[1].tokens > 0
    assert two[0].line.endswith("; picture PNG 2 × 3; picture")
    assert two[0].tokens > one[1].tokens


@pytest.mark.parametrize("reasoning", [True, False])
@pytest.mark.parametrize("itemised", [True, False])
async def test_a_reply_has_its_overviews_in_whatever_form_a_client_sends_it_back(
    journal: SqlJournal, itemised: bool, reasoning: bool
) -> None:
    parts: tuple[Part, ...] = (Reasoning("hm", "sig"), Text(LONG), call("c1", "a.py", LONG))
    await journal.commit(exchange("e1", [user("go")], parts))
    shortening = Shortening()
    tiering = TierWorker(journal, shortening.lowering, guard)
    await tiering.catch_up()
    assert shortening.seen.count(LONG) == 1
    sent = parts if reasoning else parts[1:]
    back = [message(Role.ASSISTANT, *group) for group in ([(part,) for part in sent] if itemised else [sent])]
    await journal.commit(exchange("e2", [user("go"), *back, message(Role.TOOL, result("c1", "ok"))]))
    await tiering.catch_up()
    found = [
        (handle(each.digest, part), overview)
        for each, overviews in zip(back, await made(journal, *back), strict=True)
        for part, overview in sorted(overviews.items())
    ]
    assert [overview.tokens for _, overview in found] == [len(LONG) // 4, len(call("c1", "a.py", LONG).arguments) // 4]
    assert orjson.loads(found[1][1].text)["handle"] == found[1][0]


async def test_a_message_is_lowered_once_however_often_it_is_sent(journal: SqlJournal) -> None:
    shortening = Shortening()
    tiering = TierWorker(journal, shortening.lowering, guard)
    long = message(Role.TOOL, result("c1", LONG))
    await journal.commit(exchange("e1", [user("go"), long]))
    await tiering.catch_up()
    await journal.commit(exchange("e2", [user("go"), long, user("and on")]))
    await journal.commit(exchange("e3", [user("elsewhere"), long], of=session("s2")))
    await tiering.catch_up()
    assert shortening.seen == [LONG]
    assert await made(journal, long, id="s2") == await made(journal, long)


async def test_what_cannot_be_lowered_is_passed_over_after_some_tries(journal: SqlJournal) -> None:
    tiering = TierWorker(journal, Shortening().lowering, guard)
    good = message(Role.TOOL, result("c1", LONG))
    await journal.commit(exchange("e1", [user(f"wrong {LONG}")]))
    await journal.commit(exchange("e2", [good], of=session("s2")))
    for _ in range(3):
        with pytest.raises(RuntimeError):
            await tiering.catch_up()
    await tiering.catch_up()
    assert tiering.passed_over == 1
    assert (await made(journal, good, id="s2"))[0]


async def test_the_worker_makes_what_is_new_in_another_thread_and_can_be_stopped(journal: SqlJournal) -> None:
    shortening, at_rest = Shortening(), asyncio.Event()

    async def resting(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
        more = await awaitable
        if not more and shortening.seen:
            at_rest.set()
        return more, ""

    tiering = TierWorker(journal, shortening.lowering, resting, busy=lambda: True)
    tiering.start()
    assert tiering.alive
    long = message(Role.TOOL, result("c1", LONG))
    await journal.commit(exchange("e1", [user("go"), long]))
    tiering.wake()
    await asyncio.wait_for(at_rest.wait(), 10)
    await tiering.stop()
    await tiering.stop()
    assert not tiering.alive
    assert (await made(journal, long))[0]
    assert threading.main_thread().name not in shortening.threads
