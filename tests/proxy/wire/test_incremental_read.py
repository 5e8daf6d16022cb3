"""A body that begins as an earlier one did is read as if nothing had been read before."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Conversation, Form, Message, Text
from memory.edits import Append, Drop
from proxy.wire.anthropic_messages import AnthropicMessages
from proxy.wire.dialect import BadRequest, Dialect, RequestView, Unreadable
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.lazy_messages import LazyMessage, LongHistory
from proxy.wire.openai_chat import OpenAIChat
from proxy.wire.openai_responses import OpenAIResponses
from proxy.wire.slices import offset_of
from tests.proxy.wire.incremental_read import histories

MAKE: dict[str, Callable[[IncrementalReader], Dialect]] = {
    "/chat/completions": OpenAIChat,
    "/responses": OpenAIResponses,
    "/messages": AnthropicMessages,
}


def said(text: str) -> str:
    return "" if text.startswith("<") else text


def fresh(path: str) -> Dialect:
    return MAKE[path](IncrementalReader(long=2**40))


@dataclass(frozen=True)
class Cut:
    """A body cut at its messages: what stands before them, each of them, what stands behind."""

    front: bytes
    items: tuple[bytes, ...]
    back: bytes

    def body(self, items: tuple[bytes, ...], back: bytes | None = None) -> bytes:
        return self.front + b" , ".join(items) + (self.back if back is None else back)


def cut_at_its_messages(path: str, body: bytes) -> Cut:
    view = fresh(path).read(body, said)
    items = tuple(bytes(raw) for raw in view.items)
    start = offset_of(view.cut_from, view.items[0])
    end = offset_of(view.cut_from, view.items[-1]) + len(items[-1])
    return Cut(body[:start], items, body[end:])


def assert_alike(view: RequestView, plain: RequestView) -> None:
    ours, theirs = view.conversation, plain.conversation
    assert [*ours.messages] == [*theirs.messages]
    assert [*reversed(ours.messages)] == [*reversed(theirs.messages)]
    assert [each.spoken for each in ours.messages] == [each.spoken for each in theirs.messages]
    assert [each.takes for each in ours.messages] == [each.takes for each in theirs.messages]
    assert [*ours.messages[-3:]] == [*theirs.messages[-3:]]
    assert (*ours.keys(),) == (*theirs.keys(),)
    assert (*ours.trail(),) == (*theirs.trail(),)
    assert ours.head == theirs.head
    rest = ("dialect", "model", "instructions", "tools", "stream", "continues", "schemas", "longest")
    assert [getattr(ours, each) for each in rest] == [getattr(theirs, each) for each in rest]
    assert list(map(bytes, view.items)) == list(map(bytes, plain.items))
    assert {name: bytes(raw) for name, raw in view.fields.items()} == {
        name: bytes(raw) for name, raw in plain.fields.items()
    }
    for raw, other in zip(view.items, plain.items, strict=True):
        assert offset_of(view.cut_from, raw) == offset_of(plain.cut_from, other)


@pytest.mark.parametrize("path", MAKE)
@given(data=st.data())
def test_a_growing_history_is_read_as_if_for_the_first_time(path: str, data: st.DataObject) -> None:
    whole = cut_at_its_messages(path, data.draw(histories(path)).body)
    memory = IncrementalReader(long=0, settled=data.draw(st.integers(0, 2)))
    dialect = MAKE[path](memory)
    for _ in range(5):
        count = data.draw(st.integers(1, len(whole.items)))
        items = whole.items[:count]
        if data.draw(st.integers(0, 3)) == 0:  # the client writes its history anew
            at = data.draw(st.integers(0, count - 1))
            items = (*items[:at], *items[at + 1 :], items[at])
        body = whole.body(items)
        view = dialect.read(body, said)
        assert_alike(view, fresh(path).read(body, said))
        edits = [Append(index, "¡más!", Form.SUFFIX) for index in range(0, count, 2)]
        assert dialect.write(view, edits) == fresh(path).write(fresh(path).read(body, said), edits)
        gone = [Drop(index) for index in range(1, count)]
        assert dialect.write(view, gone) == fresh(path).write(fresh(path).read(body, said), gone)


CHAT = '{"model":"m","messages":['


def body_of(messages: list[dict[str, str]], back: str = "]}") -> bytes:
    return (CHAT + ",".join(map(json.dumps, messages)) + back).encode()


def long_one(count: int, seed: int = 7) -> list[dict[str, str]]:
    chance = random.Random(seed)
    return [
        {"role": "user" if index % 2 else "assistant", "content": f"{index} {chance.random()}"}
        for index in range(count)
    ]


def read(memory: IncrementalReader, body: bytes) -> Conversation:
    return OpenAIChat(memory).read(body, said).conversation


def test_what_was_read_before_is_read_again_only_when_it_is_asked_for() -> None:
    memory, messages = IncrementalReader(long=0), long_one(40)
    read(memory, body_of(messages))
    history = read(memory, body_of([*messages, *long_one(2, 8)])).messages
    assert isinstance(history, LongHistory)
    early, late = history[3], history[-1]
    assert isinstance(early, LazyMessage)
    assert not isinstance(late, LazyMessage)
    assert early.digest == read(IncrementalReader(), body_of(messages)).messages[3].digest
    assert early.parts == (Text(messages[3]["content"]),)
    assert history[3] is early


def test_a_beginning_that_only_looks_the_same_is_not_taken_for_it() -> None:
    memory, messages = IncrementalReader(long=0), long_one(40)
    read(memory, body_of(messages))
    other = [{**messages[0], "content": messages[0]["content"][:-1] + "x"}, *messages[1:]]
    for each in (other, messages):
        view = OpenAIChat(memory).read(body_of(each), said)
        assert view.conversation.messages[0].text == each[0]["content"]
        assert_alike(view, fresh("/chat/completions").read(body_of(each), said))


@pytest.mark.parametrize(
    "back",
    [
        ',{"role":"user","content":"\\ud800"}]}',
        '],"messages":[{"role":"user","content":"the last list counts"}]}',
        '],"stream":true,"model":"another"}',
        "]}",
    ],
    ids=["a lone surrogate", "two lists", "fields behind", "nothing new"],
)
def test_whatever_stands_behind_is_read_as_it_stands(back: str) -> None:
    memory, messages = IncrementalReader(long=0), long_one(40)
    read(memory, body_of(messages))
    body = body_of(messages, back)
    ours, theirs = OpenAIChat(memory).read(body, said), fresh("/chat/completions").read(body, said)
    assert_alike(ours, theirs)
    edits = [Append(len(ours.items) - 1, " more", Form.SUFFIX)]
    assert OpenAIChat().write(ours, edits) == OpenAIChat().write(theirs, edits)


@pytest.mark.parametrize("back", ["]", "] }}", ', {"role": nul}]}', "\xff]}"])
def test_a_broken_end_is_refused_as_ever(back: str) -> None:
    memory, messages = IncrementalReader(long=0), long_one(40)
    read(memory, body_of(messages))
    body = body_of(messages, "") + back.encode("latin-1")
    with pytest.raises((BadRequest, Unreadable)) as expected:
        fresh("/chat/completions").read(body, said)
    with pytest.raises((BadRequest, Unreadable)) as found:
        OpenAIChat(memory).read(body, said)
    assert repr(found.value) == repr(expected.value)


@pytest.mark.parametrize("text", ["a", "a" * 80])
@pytest.mark.parametrize("goes_on", ["12", "1.5", "1e3"])
def test_a_value_that_could_go_on_is_not_taken_for_an_end(text: str, goes_on: str) -> None:
    dialect = OpenAIChat(IncrementalReader(long=0, settled=0))

    def body(number: str) -> bytes:
        first, second = ({"role": "user", "content": each} for each in (text, "b"))
        return f'{{"messages":[{json.dumps(first)},{json.dumps(second)},{number}]}}'.encode()

    dialect.read(body("1").replace(b",1]", b"]"), said)
    for number in ("1", goes_on):
        view = dialect.read(body(number), said)
        assert isinstance(view.conversation.messages, LongHistory)
        assert_alike(view, fresh("/chat/completions").read(body(number), said))


def test_a_beginning_that_grew_while_its_end_was_read_is_read_anew() -> None:
    memory, messages = IncrementalReader(long=0, settled=0), long_one(10)
    theirs, ours = ([*messages, *long_one(3, seed)] for seed in (8, 9))
    between = [body_of(theirs)]

    def heard(text: str) -> str:
        # In the midst of reading what is new, as another thread would.
        if text == ours[-1]["content"] and between:
            OpenAIChat(memory).read(between.pop(), heard)
        return said(text)

    ours[-1]["role"] = "user"
    OpenAIChat(memory).read(body_of(messages), heard)
    view = OpenAIChat(memory).read(body_of(ours), heard)
    assert between == []
    assert_alike(view, fresh("/chat/completions").read(body_of(ours), said))
    more = body_of([*theirs, *long_one(1, 10)])
    again = OpenAIChat(memory).read(more, heard)
    assert isinstance(again.conversation.messages, LongHistory)
    assert_alike(again, fresh("/chat/completions").read(more, said))


def test_what_is_remembered_is_bounded_and_the_newest_stays() -> None:
    memory = IncrementalReader(long=0, limit=60_000)
    for seed in range(8):
        read(memory, body_of(long_one(60, seed)))
    assert memory.held <= 60_000
    assert isinstance(read(memory, body_of([*long_one(60, 7), *long_one(1, 9)])).messages, LongHistory)
    assert not isinstance(read(memory, body_of([*long_one(60, 0), *long_one(1, 9)])).messages, LongHistory)


def test_the_parts_of_what_was_read_before_are_not_held() -> None:
    memory = IncrementalReader(long=0, limit=10**9)
    messages: list[dict[str, str]] = []
    for _ in range(3):
        messages += long_one(200)
        found: Message = read(memory, body_of(messages)).messages[0]
        assert found.text
    assert memory.held < 600 * len(messages)


def bytes_of(begun: object) -> int:
    """What it takes in memory with all that only it holds, each object once."""
    sizes: dict[int, int] = {}
    look: list[object] = [begun]
    while look:
        each = look.pop()
        if id(each) in sizes or each is None or isinstance(each, type | Enum) or callable(each):
            continue
        sizes[id(each)] = sys.getsizeof(each)
        if isinstance(each, dict):
            look += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            look += each
        elif is_dataclass(each):
            look += [getattr(each, field.name) for field in fields(each)]
    return sum(sizes.values())


@pytest.mark.parametrize("text", ["a", "日😀"])
@pytest.mark.parametrize(("bodies", "count"), [(1, 2000), (300, 9)])
def test_what_is_remembered_is_weighed_as_what_it_takes(text: str, bodies: int, count: int) -> None:
    memory = IncrementalReader(long=0, limit=10**9)
    rows = [
        body_of(
            [{"role": "user", "content": f"{body} {index} {text * (390 // len(text) - 10)}"} for index in range(count)]
        )
        for body in range(bodies)
    ]
    for each in rows:
        read(memory, each)
    taken = sum(map(bytes_of, memory._known))
    assert 0.8 * taken < memory.held < 1.4 * taken
