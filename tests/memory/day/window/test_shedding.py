"""What is looked for that could leave a request, and when."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

import pytest

from memory.context.sizes import quick
from memory.conversation import Conversation, Form, Message, Role, Text, ToolResult, Usage, digest
from memory.day.sessions.live import LiveSession
from memory.day.window.counting import Counting
from memory.day.window.reported import Kept, Reported, Told
from memory.day.window.shedding import Decision, Shedding, Windows
from memory.edits import Act, Entry, Ledger
from memory.ports import Journal
from memory.scope import Scope
from memory.session import Arrival, RequestKind, Session
from memory.settings import SheddingSettings
from tests.memory.context.sessions import rounds, said, session

T = TypeVar("T")
AT = datetime(2026, 3, 4, tzinfo=UTC)
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", AT)


class Looked(Exception):
    """It was looked for what could leave."""


class AskedJournal:
    """The first thing that is read when something could leave."""

    async def shelved(self, session: str, digests: list[bytes]) -> dict[bytes, object]:
        raise Looked


class Plain:
    """A provider that counts as we do, and a model with a small window."""

    def expected(self, session: str, model: str, counted: int) -> int:
        return counted

    def ours(self, session: str, model: str, tokens: int) -> int:
        return tokens

    def doubt(self, session: str, model: str, counted: int) -> int:
        return 0

    def of(self, model: str) -> int:
        return 10_000


class Halves:
    """Counts half of what is estimated, once it is loaded."""

    ready = False

    def count(self, text: str) -> int:
        self.ready = True
        return quick(text) // 2


async def guard(awaitable: Awaitable[T], *, otherwise: T, within: float, doing: str) -> tuple[T, str]:
    return await awaitable, ""


def live_session() -> LiveSession:
    return LiveSession(Session("s1", "k", Scope(None, "ada", "loom"), "test", AT, AT), Ledger())


async def decided(tokens: int, live: LiveSession, arrival: Arrival = ARRIVAL) -> Decision:
    text = "the heron nests at the northern pier " * (tokens * 4 // 37)
    parts = (Text(text),)
    conversation = Conversation(
        "openai-chat", "m", (Message(Role.USER, parts, digest(Role.USER, parts), text, Form.SUFFIX),)
    )
    plain, counting = Plain(), Counting(Halves(), guard, lambda model: 10_000)
    shedding = Shedding(
        SheddingSettings(reserve=500),
        cast(Journal, AskedJournal()),
        counting,
        cast(Reported, plain),
        cast(Windows, plain),
    )
    standing = live.ledger.standing(conversation.keys(), conversation.head)
    load = shedding.load(conversation, live, standing.edits)
    assert load.total > 8000
    return await shedding.decide(conversation, conversation.keys(), live, arrival, standing, load)


async def test_nothing_leaves_for_an_estimate_that_is_too_high() -> None:
    assert await decided(11_000, live_session()) == Decision()


async def test_what_does_not_fit_by_an_exact_count_leaves() -> None:
    with pytest.raises(Looked):
        await decided(30_000, live_session())


async def test_a_cold_cache_is_the_moment_to_look_and_a_warm_one_is_not() -> None:
    live = live_session()
    live.looked = 7000
    with pytest.raises(Looked):
        await decided(16_000, live)
    live.read_at = AT
    assert await decided(16_000, live, replace(ARRIVAL, at=AT + timedelta(minutes=1))) == Decision()
    with pytest.raises(Looked):
        await decided(16_000, live, replace(ARRIVAL, at=AT + timedelta(days=1)))


class Remembered(AskedJournal):
    """A journal that knows what the provider reported of the newest turn, which was as large as the request is now."""

    def __init__(self, last: bytes) -> None:
        self.last = last

    async def newest_usage(self, session: str, model: str) -> tuple[Usage, int, bytes]:
        return Usage(input=9_000), 1, self.last


@pytest.mark.parametrize("known", [True, False], ids=["a start in between", "a new session"])
async def test_after_a_start_a_session_is_judged_by_what_was_reported_of_it(known: bool) -> None:
    text = "the heron nests at the northern pier " * 1200
    parts = (Text(text),)
    message = Message(Role.USER, parts, digest(Role.USER, parts), text, Form.SUFFIX)
    conversation = Conversation("openai-chat", "m", (message,))
    counting = Counting(Halves(), guard, lambda model: 10_000)
    journal = cast(Journal, Remembered(message.digest))
    reported = Reported(counting, cast(Kept, journal), cast(Told, journal), guard)
    await counting.exact(conversation)
    counted = counting.weigh(conversation).total
    # What is usual of the model would make it too large.
    for _ in range(5):
        reported.learned("another", "m", counted, Usage(input=int(counted * 1.6)))
    shedding = Shedding(SheddingSettings(reserve=500), journal, counting, reported, cast(Windows, Plain()))
    live = replace(live_session(), known=known, read_at=AT)
    standing = live.ledger.standing(conversation.keys(), conversation.head)
    load = shedding.load(conversation, live, standing.edits)
    deciding = shedding.decide(conversation, conversation.keys(), live, ARRIVAL, standing, load)
    if known:
        assert await deciding == Decision()
        assert reported.expected("s1", "m", counted) == 9_000
    else:
        with pytest.raises(Looked):
            await deciding


@pytest.mark.parametrize("late", [True, False])
async def test_only_where_its_plan_is_late_a_request_is_kept_out_of_the_replys_share(late: bool) -> None:
    told = "\n".join(f"line {line} names symbol_{line}" for line in range(180))
    played = [("Read", {"file_path": f"src/file_{number}.py"}, told) for number in range(6)]
    plain = Plain()
    counting = Counting(Halves(), guard)
    shedding = Shedding(
        SheddingSettings(reserve=500),
        cast(Journal, AskedJournal()),
        counting,
        cast(Reported, plain),
        cast(Windows, plain),
    )
    live = live_session()
    live.ledger.write(Entry(bytes(16), 7, "[stub]", Form.SUFFIX, "shed old", act=Act.REPLACE))
    conversation = session(*rounds(*played))
    load = shedding.load(conversation, live, ())
    padding = ToolResult("c5", (Text(told + "word " * (9_650 - load.total)),))
    conversation = session(*rounds(*played)[:-1], said(Role.TOOL, padding))
    load = shedding.load(conversation, live, ())
    assert 9_500 < load.total < 9_790
    decided = shedding.hasty(conversation, conversation.keys(), live, ARRIVAL, load, late)
    assert (decided.cut is not None) == late
    much = replace(load, sizes=(*load.sizes[:-1], load.sizes[-1] + 400))
    assert shedding.hasty(conversation, conversation.keys(), live, ARRIVAL, much, late).cut is not None
