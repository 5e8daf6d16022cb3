"""The laws that every dialect keeps: untouched stays untouched, an edit changes what it names and nothing else."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Form, Message, Role
from memory.edits import Append
from proxy.wire import DIALECTS, dialect_of
from proxy.wire.dialect import BadRequest, RequestView, Unreadable
from tests.proxy.wire.bodies import MESSAGES, bodies, said, spelt, values
from tests.proxy.wire.shapes import BY_PATH

PATHS = tuple(MESSAGES)
SHAPES = [(path, body) for path, shapes in BY_PATH.items() for body in shapes]


def as_said(text: str) -> str:
    return text


def read(path: str, body: bytes) -> RequestView:
    dialect = dialect_of(path)
    assert dialect is not None
    return dialect.read(body, as_said)


def rendered(value: Any) -> Any:
    """What a model reads: a string is a list of one text; empty texts are nothing; a part's kind of text is all one."""
    if isinstance(value, list):
        return [rendered(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: rendered(inner) for key, inner in value.items()}
    for key in ("content", "output"):
        if isinstance(value.get(key), str):
            made[key] = [{"type": "text", "text": value[key]}] if value[key] else []
        elif isinstance(made.get(key), list):
            made[key] = [
                {**part, "type": "text"} if isinstance(part, dict) and part.get("type") == "input_text" else part
                for part in made[key]
            ]
    return made


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_without_edits_the_body_is_the_very_same_object(path: str, data: st.DataObject) -> None:
    body = data.draw(bodies(path))
    assert DIALECTS[path].write(read(path, body), []) is body


@pytest.mark.parametrize(("path", "body"), SHAPES)
def test_recorded_shapes_are_read_and_stay_as_they_are(path: str, body: bytes) -> None:
    view = read(path, body)
    dialect = dialect_of(path)
    assert dialect is not None
    assert dialect.write(view, []) is body
    assert len(view.items) == len(view.conversation.messages)
    assert dialect.check(body) == []


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_an_edit_changes_its_message_and_leaves_every_other_byte(path: str, data: st.DataObject) -> None:
    body = data.draw(bodies(path))
    view = read(path, body)
    open_to_text = [index for index, message in enumerate(view.conversation.messages) if message.takes]
    if not open_to_text:
        return
    index = data.draw(st.sampled_from(open_to_text))
    form = view.conversation.messages[index].takes
    assert form is not None
    ours = data.draw(said)

    out = DIALECTS[path].write(view, [Append(index, ours, form)])

    raw = bytes(view.items[index])
    before, after = body.split(raw, 1) if body.count(raw) == 1 else (b"", b"")
    assert out.startswith(before)
    assert out.endswith(after)
    again = read(path, out)
    assert len(again.items) == len(view.items)
    for place, (old, new) in enumerate(zip(view.items, again.items, strict=True)):
        if place != index:
            assert bytes(old) == bytes(new)
    assert text_of(again.conversation.messages[index]).endswith(ours)
    assert without_items(path, body) == without_items(path, out)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_edits_only_insert(path: str, data: st.DataObject) -> None:
    body = data.draw(bodies(path))
    view = read(path, body)
    edits = data.draw(
        st.lists(
            st.builds(
                Append, st.integers(0, max(len(view.items) - 1, 0)), said, st.sampled_from([Form.SUFFIX, Form.PART])
            ),
            max_size=5 if view.items else 0,
        )
    )
    out = DIALECTS[path].write(view, edits)
    left = iter(out)
    assert all(byte in left for byte in body.replace(b'""', b""))
    json.loads(out.decode("utf-8-sig"))


def text_of(message: Message) -> str:
    """What was said last: inside a result, where one ends the message."""
    return message.results[-1].text if message.results and message.parts[-1] in message.results else message.text


def without_items(path: str, body: bytes) -> Any:
    value = json.loads(body.decode("utf-8-sig"))
    value.pop(MESSAGES[path][0])
    return value


def user(path: str, content: Any) -> dict[str, Any]:
    if path == ":generateContent":
        return {"role": "user", "parts": [{"text": content}]}
    return {"role": "user", "content": content}


def result(path: str, content: Any) -> dict[str, Any]:
    match path:
        case "/chat/completions":
            return {"role": "tool", "tool_call_id": "c", "content": content}
        case "/responses":
            return {"type": "function_call_output", "call_id": "c", "output": content}
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]}


@pytest.mark.parametrize("message", [user, result])
@pytest.mark.parametrize("path", [path for path in PATHS if path not in (":generateContent", "/api/chat")])
@given(text=said, ours=st.lists(said, min_size=1, max_size=3), data=st.data())
def test_a_string_and_a_list_of_one_text_come_out_as_the_same_messages(
    path: str, message: Any, text: str, ours: list[str], data: st.DataObject
) -> None:
    kind = "input_text" if path == "/responses" else "text"
    forms = data.draw(st.lists(st.sampled_from(list(Form)), min_size=len(ours), max_size=len(ours)))
    edits = [Append(0, each, form) for each, form in zip(ours, forms, strict=True)]
    made = []
    digests = set()
    for content in (text, [{"type": kind, "text": text}]):
        body = json.dumps({"model": "m", MESSAGES[path][0]: [message(path, content)]}, indent=1).encode()
        view = read(path, body)
        digests.add(view.conversation.messages[0].digest)
        made.append(rendered(json.loads(DIALECTS[path].write(view, edits))))
    assert len(digests) == 1
    assert made[0] == made[1]


@pytest.mark.parametrize("path", PATHS)
@given(text=said, earlier=said, later=said, rng=st.randoms(use_true_random=False))
def test_one_more_edit_at_the_end_keeps_what_stood_before_it(
    path: str, text: str, earlier: str, later: str, rng: random.Random
) -> None:
    body = spelt({"model": "m", MESSAGES[path][0]: [user(path, text), user(path, text + "!")]}, rng).encode()
    view = read(path, body)
    first, second = (message.takes for message in view.conversation.messages)
    assert first is not None
    assert second is not None
    once = DIALECTS[path].write(view, [Append(0, earlier, first)])
    twice = DIALECTS[path].write(view, [Append(0, earlier, first), Append(1, later, second)])
    grown = read(path, twice)
    assert bytes(grown.items[0]) == bytes(read(path, once).items[0])


@pytest.mark.parametrize("path", PATHS)
@given(garbage=st.one_of(st.binary(max_size=60), values.map(lambda value: json.dumps(value).encode())))
def test_garbage_is_a_view_or_one_of_our_two_errors(path: str, garbage: bytes) -> None:
    try:
        view = read(path, garbage)
    except (BadRequest, Unreadable):
        return
    assert len(view.items) == len(view.conversation.messages)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_a_view_of_any_values_where_messages_stand_is_never_an_error(path: str, data: st.DataObject) -> None:
    messages = data.draw(st.lists(values, max_size=4))
    view = read(path, json.dumps({MESSAGES[path][0]: messages}).encode())
    assert len(view.conversation.messages) == len(messages)
    assert DIALECTS[path].check(view.body) is not None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("depth", [250, 500, 900, 1100, 100_000])
def test_deep_nesting_is_read_or_refused_wherever_it_stands(path: str, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    in_string = json.dumps(deep)
    field = MESSAGES[path][0]
    for body in (
        f'{{"{field}":[],"metadata":{deep}}}',
        f'{{"{field}":[{deep}]}}',
        f'{{"{field}":[{{"role":"user","content":{deep}}}]}}',
        f'{{"{field}":[{{"role":"user","content":[{{"type":"mystery","x":{deep}}}]}}]}}',
        f'{{"{field}":[{{"type":"function_call","arguments":{in_string}}}]}}',
        f'{{"{field}":[{{"role":"assistant","tool_calls":[{{"function":{{"arguments":{in_string}}}}}]}}]}}',
        f'{{"{field}":[{{"role":"assistant","content":[{{"type":"tool_use","input":{deep}}}]}}]}}',
    ):
        try:
            view = read(path, body.encode())
        except BadRequest:
            assert depth > 800
        else:
            view.field("metadata")
            assert isinstance(DIALECTS[path].check(view.body), list)


@pytest.mark.parametrize(("path", "body"), SHAPES)
@given(data=st.data())
def test_a_shape_with_any_value_replaced_is_still_read_and_checked(path: str, body: bytes, data: st.DataObject) -> None:
    value = json.loads(body)
    at: Any = value
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.integers(0, 4)) == 0:
            break
        at = at[key]
    at[key] = data.draw(values)
    changed = json.dumps(value).encode()
    dialect = dialect_of(path)
    assert dialect is not None
    assert isinstance(dialect.check(changed), list)
    try:
        view = dialect.read(changed, as_said)
    except Unreadable:
        return
    edits = [Append(i, "ours", message.takes) for i, message in enumerate(view.conversation.messages) if message.takes]
    json.loads(dialect.write(view, edits))


@pytest.mark.parametrize(("path", "body"), SHAPES)
def test_an_edit_at_every_place_that_takes_one_breaks_no_rule(path: str, body: bytes) -> None:
    dialect = dialect_of(path)
    assert dialect is not None
    view = dialect.read(body, as_said)
    edits = [
        Append(index, "\n\nours", message.takes)
        for index, message in enumerate(view.conversation.messages)
        if message.takes
    ]
    assert edits
    assert dialect.check(dialect.write(view, edits)) == []


def test_what_a_person_said_is_asked_of_user_texts_only() -> None:
    asked: list[str] = []

    def spoken(text: str) -> str:
        asked.append(text)
        return text.upper() if not text.startswith("<") else ""

    for path, body in SHAPES:
        dialect = dialect_of(path)
        assert dialect is not None
        for message in dialect.read(body, spoken).conversation.messages:
            if message.role is not Role.USER:
                assert message.spoken == ""
            assert "<" not in message.spoken
    assert "What is in the picture?" in asked
    assert "Why does the build fail?" in asked
    assert "ls: not found" not in asked
    assert "You are opencode." not in asked
