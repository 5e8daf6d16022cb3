"""The laws of what is replaced and what leaves: exactly that, in every dialect, and the rest is valid as it was."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Conversation, Form, Part, Reasoning, Text, ToolCall, ToolResult
from memory.edits import Append, Drop, Edit, Replace
from proxy.wire import DIALECTS
from proxy.wire.dialect import RequestView
from proxy.wire.edit_writer import MessageEdits, by_message
from proxy.wire.slices import offset_of
from tests.proxy.wire.bodies import MESSAGES, bodies, said
from tests.proxy.wire.incremental_read import History, histories

PATHS = tuple(MESSAGES)


visible = said.filter(lambda text: bool(text.strip()))


def read(path: str, body: bytes) -> RequestView:
    return DIALECTS[path].read(body, lambda text: text)


def own_bytes(view: RequestView) -> list[bytes]:
    """Each message as the client spelt it, what was masked to cut it included."""
    starts = [offset_of(view.cut_from, item) for item in view.items]
    return [view.body[at : at + len(bytes(item))] for at, item in zip(starts, view.items, strict=True)]


def text_for(part: Part, draw: st.DrawFn) -> str:
    text = draw(visible)
    if isinstance(part, ToolCall) and draw(st.booleans()):
        return json.dumps({"path": text, "…": 1}, ensure_ascii=False)
    return text


@st.composite
def replacements(draw: st.DrawFn, conversation: Conversation) -> list[Replace]:
    places = [
        (index, number, part)
        for index, message in enumerate(conversation.messages)
        for number, part in enumerate(message.parts)
    ]
    chosen = draw(st.lists(st.sampled_from(places), unique_by=lambda place: place[:2])) if places else []
    return [Replace(index, number, text_for(part, draw)) for index, number, part in chosen]


@st.composite
def appends(draw: st.DrawFn, conversation: Conversation) -> list[Append]:
    takers = [index for index, message in enumerate(conversation.messages) if message.takes]
    return [
        Append(index, draw(visible), conversation.messages[index].takes or Form.PART)
        for index in (draw(st.lists(st.sampled_from(takers), max_size=3)) if takers else [])
    ]


def replaced(part: Part, text: str) -> Part:
    match part:
        case ToolCall():
            return dataclasses.replace(part, arguments=text)
        case ToolResult():
            return dataclasses.replace(part, content=(Text(text),))
    return Text(text)


def assert_only(edits: list[Replace], before: RequestView, after: RequestView) -> None:
    """Each named part is replaced or as it was, and all else is as it was."""
    texts = {(edit.message, edit.part): edit.text for edit in edits}
    assert len(after.items) == len(before.items)
    for index, (old, new) in enumerate(zip(before.conversation.messages, after.conversation.messages, strict=True)):
        assert len(new.parts) == len(old.parts)
        for number, (was, now) in enumerate(zip(old.parts, new.parts, strict=True)):
            assert now == was or now == replaced(was, texts[index, number])
            assert now == was or not isinstance(was, Reasoning)
        if not any(message == index for message, _ in texts):
            assert own_bytes(after)[index] == own_bytes(before)[index]
            assert new.digest == old.digest
        assert new.role is old.role


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_of_any_body_a_replacement_changes_the_part_it_names_or_nothing(path: str, data: st.DataObject) -> None:
    view = read(path, data.draw(bodies(path)))
    edits = data.draw(replacements(view.conversation))
    out = DIALECTS[path].write(view, edits)
    assert_only(edits, view, read(path, out))


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_replacements_change_exactly_their_parts_and_break_no_rule(path: str, data: st.DataObject) -> None:
    history = data.draw(histories(path))
    view = read(path, history.body)
    dialect = DIALECTS[path]
    assert dialect.check(history.body) == []
    edits = data.draw(replacements(view.conversation))
    out = dialect.write(view, edits)
    assert_only(edits, view, read(path, out))
    assert dialect.check(out) == []
    assert out.count(b"cache_control") <= history.body.count(b"cache_control")


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_whole_groups_behind_the_head_leave_and_the_rest_is_valid(path: str, data: st.DataObject) -> None:
    history = data.draw(histories(path))
    view = read(path, history.body)
    end = data.draw(st.sampled_from(history.bounds[1:-1] or history.bounds[1:]))
    leaving = range(history.bounds[1], end)
    edits: list[Edit] = [Drop(index) for index in leaving]
    edits += data.draw(replacements(view.conversation))
    out = DIALECTS[path].write(view, edits)
    again = read(path, out)
    assert DIALECTS[path].check(out) == []
    named = {edit.message for edit in edits}
    left = [index for index in range(len(view.items)) if index not in leaving]
    assert len(again.items) == len(left)
    for place, index in enumerate(left):
        if index not in named:
            assert own_bytes(again)[place] == own_bytes(view)[index]
            assert again.conversation.messages[place].digest == view.conversation.messages[index].digest


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_any_messages_that_leave_take_one_comma_each(path: str, data: st.DataObject) -> None:
    view = read(path, data.draw(bodies(path)))
    leaving = data.draw(st.sets(st.sampled_from(range(len(view.items))))) if view.items else set()
    again = read(path, DIALECTS[path].write(view, [Drop(index) for index in leaving]))
    assert own_bytes(again) == [spelt for index, spelt in enumerate(own_bytes(view)) if index not in leaving]
    assert {name: bytes(raw) for name, raw in again.fields.items() if name != MESSAGES[path][0]} == {
        name: bytes(raw) for name, raw in view.fields.items() if name != MESSAGES[path][0]
    }


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_text_stands_behind_a_replaced_content_as_if_the_client_had_sent_it(path: str, data: st.DataObject) -> None:
    history: History = data.draw(histories(path))
    view = read(path, history.body)
    dialect = DIALECTS[path]
    shed = data.draw(replacements(view.conversation))
    added = data.draw(appends(view.conversation))
    once = dialect.write(view, [*added, *shed])
    assert once == dialect.write(read(path, dialect.write(view, shed)), added)
    assert dialect.check(once) == []


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data(), rng=st.randoms(use_true_random=False))
def test_the_order_of_edits_is_all_one_and_they_give_the_same_bytes_again(
    path: str, data: st.DataObject, rng: random.Random
) -> None:
    history: History = data.draw(histories(path))
    view = read(path, history.body)
    edits: list[Any] = data.draw(replacements(view.conversation))
    edits += {edit.message: edit for edit in data.draw(appends(view.conversation))}.values()
    edits += [Drop(index) for index in range(history.bounds[1], data.draw(st.sampled_from(history.bounds[1:])))]
    out = DIALECTS[path].write(view, edits)
    rng.shuffle(edits)
    assert DIALECTS[path].write(read(path, history.body), edits) == out


def test_edits_are_grouped_by_message_in_their_order_and_empty_ones_ask_nothing() -> None:
    a, b, c = Append(1, "a", Form.PART), Append(0, "b", Form.PART), Append(1, "c", Form.SUFFIX)
    nothing = Append(2, "", Form.PART), Replace(2, 0, " \n")
    assert by_message([a, b, c, *nothing, Replace(1, 2, "x"), Replace(1, 2, "y"), Drop(3)], 4) == {
        1: MessageEdits([a, c], {2: "y"}),
        0: MessageEdits([b]),
        2: MessageEdits(),
    }


@pytest.mark.parametrize("index", [-1, 3])
def test_an_edit_of_a_message_that_is_not_there_is_an_error(index: int) -> None:
    for edit in (Append(index, "a", Form.PART), Replace(index, 0, "a"), Drop(index)):
        with pytest.raises(IndexError):
            by_message([edit], 3)
