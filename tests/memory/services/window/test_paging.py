"""Which contents count as gone, and how much is kept at hand of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from memory.context.paging import ShedContents
from memory.conversation import Conversation, Form, Message, Role, Text, ToolCall, ToolResult, digest
from memory.edits import Act, ActiveEdits, ContentTier, Entry, handle
from memory.services.window import paging
from memory.services.window.paging import PageIn, gone_from
from memory.settings import SheddingSettings

LONG = "\n".join(f"def settle_step_{number}(queue): return queue.pop_{number}()" for number in range(40))


def message(role: Role, *parts: Text | ToolCall | ToolResult, spoken: str = "") -> Message:
    return Message(role, parts, digest(role, parts), spoken, Form.SUFFIX)


def result(text: str) -> Message:
    return message(Role.TOOL, ToolResult("c", (Text(text),)))


def call(arguments: str) -> Message:
    return message(Role.ASSISTANT, ToolCall("c", "bash", arguments))


def talk(*messages: Message) -> Conversation:
    task = message(Role.USER, Text("Begin."), spoken="Begin.")
    asks = message(Role.USER, Text("What does settle_step_7 do?"), spoken="What does settle_step_7 do?")
    return Conversation("openai-chat", "m", (task, *messages, asks))


def stub(conversation: Conversation, index: int) -> dict[tuple[int, int], Entry]:
    entry = Entry(*conversation.keys()[index], "[short]", Form.SUFFIX, "shed", act=Act.REPLACE, tier=ContentTier.L0)
    return {(index, 0): entry}


def test_a_content_that_stands_whole_elsewhere_is_not_gone() -> None:
    twice = talk(result(LONG), call("{}"), result(LONG))
    first, name = stub(twice, 1), handle(result(LONG).digest, 0)
    assert gone_from(twice, ActiveEdits(replaced=first)) == {}
    assert gone_from(twice, ActiveEdits(replaced=first | stub(twice, 3))) == {name: (3, 0)}
    assert gone_from(twice, ActiveEdits(replaced=first, dropped=range(3, 4))) == {name: (3, 0)}


def test_a_short_call_does_not_come_back() -> None:
    calls = talk(call('{"command": "settle_step_7 --now"}'), call('{"command": "' + "settle_step_7; " * 30 + '"}'))
    assert list(gone_from(calls, ActiveEdits(dropped=range(1, 3))).values()) == [(2, 0)]


async def test_what_is_kept_at_hand_is_bounded_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = talk(result(LONG))
    standing = ActiveEdits(replaced=stub(conversation, 1))
    held = PageIn(SheddingSettings())
    assert "settle_step_7" in (await held.page_in("s0", conversation, standing, 100_000)).text
    (one, _) = held._absent["s0"]
    assert one.size > len(LONG)
    monkeypatch.setattr(paging, "ROOM", 3 * one.size)
    for number in range(1, 12):
        found = await held.page_in(f"s{number}", conversation, standing, 100_000)
        assert "settle_step_7" in found.text
    assert list(held._absent)[-1] == "s11" and len(held._absent) <= 4
    monkeypatch.setattr(paging, "ROOM", 1)
    assert "settle_step_7" in (await held.page_in("s11", conversation, standing, 100_000)).text
    assert list(held._absent) == ["s11"]


async def test_what_is_long_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []
    take_in = paging.take_in

    def noted(absent: ShedContents, conversation: Conversation, gone: Mapping[str, tuple[int, int]]) -> None:
        readers.append(threading.current_thread())
        take_in(absent, conversation, gone)

    monkeypatch.setattr(paging, "take_in", noted)
    for text in (LONG, LONG + " \n" * paging.LONG):
        conversation = talk(result(text))
        standing = ActiveEdits(replaced=stub(conversation, 1))
        assert (await PageIn(SheddingSettings()).page_in("s", conversation, standing, 100_000)).text
    assert readers[0] is threading.main_thread() and readers[1] is not threading.main_thread()
