"""What is known is found, what is short is counted, what is long is estimated and counted beside."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

import pytest

from memory.conversation import Conversation, Image, Message, Role, Text, ToolResult, digest
from memory.services.window import counting as module
from memory.services.window.counting import AT_ONCE, RequestCounter

T = TypeVar("T")


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except RuntimeError as error:
        return default, str(error)


class Words:
    """A tokenizer whose tokens are words, and which knows what it was asked."""

    def __init__(self) -> None:
        self.ready = True
        self.asked: list[str] = []
        self.broken = False
        self.held = ""
        self.go_on = threading.Event()

    def load(self) -> None:
        """There is nothing to load, it only has to be done."""
        self.ready = True

    def count(self, text: str) -> int:
        """How many; a text that begins with ``held`` waits until it may ``go_on``."""
        if self.broken:
            raise RuntimeError("broken")
        if self.held and text.startswith(self.held):
            assert self.go_on.wait(30)
        self.asked.append(text)
        return len(text.split())


def message(text: str, role: Role = Role.USER) -> Message:
    parts = (Text(text),)
    return Message(role, parts, digest(role, parts))


def conversation(*texts: str, model: str = "gpt-5", instructions: str = "") -> Conversation:
    return Conversation("openai-chat", model, tuple(message(text) for text in texts), instructions=instructions)


LONG = "word " * AT_ONCE
WINDOW = 40_000


@pytest.fixture
async def bench() -> AsyncIterator[tuple[RequestCounter, Words]]:
    words = Words()
    counting = RequestCounter(words, guard, lambda model: WINDOW)
    yield counting, words
    await counting.settle()


async def test_what_is_short_is_counted_on_the_spot(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    assert counting.sizes(conversation("one two three", "four")) == [7, 5]


async def test_what_is_long_is_estimated_first_and_exact_by_the_next_request(
    bench: tuple[RequestCounter, Words],
) -> None:
    counting, words = bench
    first = counting.sizes(conversation("one", LONG))
    assert first[0] == 5
    assert 0.5 * AT_ONCE < first[1] < 2 * AT_ONCE
    assert LONG not in words.asked
    await counting.settle()
    assert counting.sizes(conversation("one", LONG)) == [5, AT_ONCE + 4]


async def test_a_message_is_counted_once(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    for _ in range(3):
        counting.sizes(conversation("one", LONG, "two"))
        await counting.settle()
    assert sorted(words.asked) == sorted({"one", LONG, "two"})


async def test_nothing_is_loaded_on_the_loop(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    words.ready = False
    assert counting.weigh(conversation("one two three", "")).total > 4
    assert counting.text("one two") > 0
    assert words.asked == []


async def test_a_request_never_looks_at_more_than_so_many_characters(
    bench: tuple[RequestCounter, Words], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, words = bench
    words.ready = False
    looked: list[str] = []

    def quick(text: str) -> int:
        looked.append(text)
        return 1

    monkeypatch.setattr(module, "quick", quick)
    sizes = counting.sizes(conversation(*(f"{number} {LONG}" for number in range(100))))
    assert len(looked) < 20
    assert min(sizes[50:]) > AT_ONCE // 2, "the rest is taken by its length"


async def test_what_a_request_consists_of_is_told_apart(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    parts = (
        (Role.SYSTEM, (Text("be brief"),)),
        (Role.USER, (Text("one two three"),)),
        (Role.TOOL, (ToolResult("1", (Text("a b c d e"),), False),)),
        (Role.TOOL, (ToolResult("2", (Text("f g"),), False),)),
    )
    messages = tuple(Message(role, held, digest(role, held)) for role, held in parts)
    asked = Conversation("chat", "m", messages, instructions="do as told", schemas="some tools")
    told = counting.told_apart(asked)
    assert (told.system, told.tools) == (3 + 2 + 4, 2)
    assert told.results == (5 + 8) + (2 + 8), "the frame of a message is not the tool's"
    counting.sizes(asked)
    assert counting.told_apart(asked, range(2, 3)).results == 2 + 8
    assert counting.told_apart(asked, range(1)).system == 3


async def test_what_stands_outside_the_messages_is_counted_once_too(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    counting.weigh(conversation("one", instructions=LONG))
    await counting.settle()
    weighed = counting.weigh(conversation("one", instructions=LONG))
    assert weighed.fixed == AT_ONCE + 3 + 4
    assert weighed.total == weighed.fixed + 5
    assert words.asked.count(LONG) == 1


async def test_a_picture_costs_what_the_models_maker_says(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    parts = (ToolResult("id", (Image("https://example.org/x.png"),)),)
    seen = Message(Role.TOOL, parts, digest(Role.TOOL, parts))
    sizes = [
        counting.sizes(Conversation("openai-chat", model, (seen,)))[0]
        for model in ("gpt-5", "claude-opus-5", "gpt-5", "claude-opus-5")
    ]
    assert sizes[0] == sizes[2] != sizes[1] == sizes[3]


async def test_the_parts_of_a_message_add_up_to_it(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    asked = conversation("one two three")
    assert counting.parts(asked.messages[0], asked) == (3,)


async def test_a_text_of_ours_is_counted_once(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    assert [counting.text("a stub of five words") for _ in range(3)] == [5, 5, 5]
    assert len(words.asked) == 1


async def test_a_text_of_ours_that_was_estimated_is_counted_once_it_can_be(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    words.ready = False
    assert counting.text("a stub of five words") != 5 and not words.asked
    words.ready = True
    assert counting.text("a stub of five words") == 5


async def test_whoever_has_the_sizes_of_a_request_may_change_them(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    asked = conversation("one two three", "four")
    for _ in range(3):
        sizes = counting.sizes(asked)
        assert sizes == [7, 5]
        sizes[0] = 99


async def test_what_is_not_asked_for_any_more_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COUNTED_MESSAGES", 20)
    words = Words()
    counting = RequestCounter(words, guard)
    for number in range(100):
        counting.sizes(conversation("always here", f"message {number}"))
    assert words.asked.count("always here") == 1, "what is asked for stays"
    counting.sizes(conversation("message 0"))
    assert words.asked.count("message 0") == 2, "the rest went"


async def test_a_tokenizer_that_fails_leaves_the_estimate(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    words.broken = True
    assert counting.sizes(conversation(LONG))[0] > 1000
    await asyncio.wait_for(counting.settle(), 10)
    assert counting.sizes(conversation(LONG))[0] > 1000


async def test_no_tokenizer_is_loaded_for_a_small_request(bench: tuple[RequestCounter, Words]) -> None:
    counting, words = bench
    words.ready = False
    assert counting.weigh(conversation(LONG)).total > 1000
    await counting.settle()
    assert words.asked == []
    counting.weigh(conversation(*(f"{LONG}{number}" for number in range(8))))
    await counting.settle()
    assert words.asked != []


async def test_the_tokenizer_is_made_ready_in_a_quiet_moment_once_a_session_grows(
    bench: tuple[RequestCounter, Words],
) -> None:
    counting, words = bench
    words.ready = False
    moments = iter((False, False, True))

    async def quiet() -> bool:
        await asyncio.sleep(0)
        return next(moments)

    loading = asyncio.create_task(counting.load_when_needed(quiet))
    counting.weigh(conversation(LONG))
    await asyncio.sleep(0)
    assert not words.ready and len(list(moments)) == 3
    moments = iter((False, False, True))
    counting.weigh(conversation(*(f"{LONG}{number}" for number in range(3))))
    await asyncio.wait_for(loading, 10)
    assert words.ready and list(moments) == []
    assert words.asked == []


async def test_where_no_moment_is_quiet_a_request_near_its_window_has_the_tokenizer_loaded(
    bench: tuple[RequestCounter, Words],
) -> None:
    counting, words = bench
    words.ready = False

    async def never() -> bool:
        await asyncio.sleep(0)
        return False

    loading = asyncio.create_task(counting.load_when_needed(never))
    counting.weigh(conversation(*(f"{LONG}{number}" for number in range(8))))
    await counting.settle()
    words.ready = True  # as the first text that is counted leaves it
    await asyncio.wait_for(loading, 10)


async def test_an_exact_count_waits_for_what_stands_and_not_for_what_has_left(
    bench: tuple[RequestCounter, Words], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, words = bench
    monkeypatch.setattr(module, "AT_A_TIME", 1)
    asked = conversation("gone " * AT_ONCE, "stands " * AT_ONCE)
    words.held = "gone"
    await counting.exact(asked, without={0})
    assert [text.split()[0] for text in words.asked if text] == ["stands"]
    words.go_on.set()
    await counting.exact(asked)
    assert counting.sizes(asked)[0] >= AT_ONCE
    assert [text.split()[0] for text in words.asked if text] == ["stands", "gone"]


async def test_an_exact_count_waits_anew_for_what_came_later(bench: tuple[RequestCounter, Words]) -> None:
    counting, _ = bench
    for text in ("one ", "two "):
        asked = conversation(text * AT_ONCE)
        async with asyncio.timeout(5):
            await counting.exact(asked)
        assert counting.sizes(asked)[0] >= AT_ONCE


async def test_many_new_messages_are_looked_at_in_a_thread_and_once(
    bench: tuple[RequestCounter, Words], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, _ = bench
    looked, length, here = list[bool](), module._countable_chars, threading.get_ident()

    def noted(message: Message) -> int:
        looked.append(threading.get_ident() == here)
        return length(message)

    monkeypatch.setattr(module, "_countable_chars", noted)
    asked = conversation(*(f"message {number} {'word ' * 20}" for number in range(2 * module.MANY)))
    await counting.look(asked)
    first = counting.sizes(asked)
    assert counting.sizes(asked) == first
    assert looked == [False] * len(asked.messages)
    await counting.settle()
    assert sum(counting.sizes(asked)) > 0
