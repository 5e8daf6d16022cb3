"""What a view is written as says the same as the request that it was read from, and is what was forwarded."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import (
    Conversation,
    Image,
    Message,
    Opaque,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    digest,
)
from memory.edits import Append, Edit, Replace
from memory.services.transfer.session_view import edited
from proxy.api.render_messages import rendered
from proxy.wire import dialect_of
from proxy.wire.dialect import Dialect
from tests.proxy.wire.bodies import MESSAGES
from tests.proxy.wire.incremental_read import histories
from tests.proxy.wire.shapes import BY_PATH

PATHS = tuple(MESSAGES)


def spoken_at(path: str) -> Dialect:
    dialect = dialect_of(path)
    assert dialect is not None
    return dialect


SHAPES = [(path, body) for path, shapes in BY_PATH.items() for body in shapes]


def read(path: str, body: bytes) -> Conversation:
    return spoken_at(path).read(body, lambda text: text).conversation


def again(path: str, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages that are read from what these are written as."""
    items = rendered(spoken_at(path).name, messages)
    return read(path, json.dumps({"model": "m", spoken_at(path).listed: items}).encode()).messages


def digests(messages: Sequence[Message]) -> list[bytes]:
    """By what they hold now."""
    return [digest(message.role, message.parts) for message in messages]


@pytest.mark.parametrize(("path", "body"), SHAPES)
def test_recorded_shapes_say_the_same_when_they_are_written_and_read(path: str, body: bytes) -> None:
    messages = read(path, body).messages
    assert digests(again(path, messages)) == digests(messages)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_any_history_says_the_same_when_it_is_written_and_read(path: str, data: st.DataObject) -> None:
    messages = read(path, data.draw(histories(path)).body).messages
    assert digests(again(path, messages)) == digests(messages)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_a_view_is_what_the_edits_make_of_the_request(path: str, data: st.DataObject) -> None:
    view = spoken_at(path).read(data.draw(histories(path)).body, lambda text: text)
    edits: list[Edit] = []
    for index, message in enumerate(view.conversation.messages):
        # A text of Gemini's may be signed, which no view tells, and stays as it is then.
        signed = path == ":generateContent" and message.role is Role.ASSISTANT
        for part, held in enumerate(message.parts):
            # A result that holds nothing has no place for a text, and nothing to be shed.
            if isinstance(held, ToolResult | Text) and held.text and not signed and data.draw(st.booleans()):
                edits.append(Replace(index, part, "in short"))
        if message.takes and data.draw(st.booleans()):
            edits.append(Append(index, "\nremembered", message.takes))
    forwarded = spoken_at(path).read(spoken_at(path).write(view, edits), lambda text: text).conversation.messages
    assert digests(edited(view.conversation.messages, edits)) == digests(forwarded)


def test_ids_stay_and_calls_and_results_keep_together() -> None:
    call, result = ToolCall("c1", "shell", '{"cmd": "ls"}'), ToolResult("c1", (Text("a.py"),), failed=True)
    patch, done = ToolCall("c2", "apply_patch", "*** Begin Patch"), ToolResult("c2", (Text("ok"),))
    reply = Message(Role.ASSISTANT, (Reasoning("hm", "sig"), Text("I look."), call, patch), b"1")
    results = Message(Role.TOOL, (result, done), b"2")
    assert rendered("openai-responses", [reply, results]) == [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "sig"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": '{"cmd": "ls"}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py", "status": "incomplete"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
    ]
    [told, *answers] = rendered("openai-chat", [reply, results])
    assert [each["id"] for each in told["tool_calls"]] == [each["tool_call_id"] for each in answers] == ["c1", "c2"]
    assert told["reasoning_content"] == "hm" and told["content"] == "I look."
    [told, answered] = rendered("anthropic-messages", [reply, Message(Role.USER, (result,), b"3")])
    assert told["content"][2] == {"type": "tool_use", "id": "c1", "name": "shell", "input": {"cmd": "ls"}}
    assert told["content"][3]["input"] == {}
    assert answered["content"][0]["is_error"] is True


def test_pictures_and_unknown_parts_stand_as_they_were() -> None:
    shown = Message(Role.USER, (Image("data:image/png;base64,iVBO"), Opaque("file", '{"type":"file","n":1}')), b"1")
    picture, file = rendered("anthropic-messages", [shown])[0]["content"]
    assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": "iVBO"}
    assert file == {"type": "file", "n": 1}
    assert rendered("openai-responses", [shown])[0]["content"][0]["type"] == "input_image"
    assert rendered("openai-chat", [shown])[0]["content"][0]["image_url"] == {"url": "data:image/png;base64,iVBO"}
    for source, kind in (("https://a.example/b.png", "url"), ("file-1", "file")):
        seen = Message(Role.USER, (Image(source),), b"2")
        assert rendered("anthropic-messages", [seen])[0]["content"][0]["source"]["type"] == kind


def test_what_lost_a_secret_and_is_no_json_any_more_is_given_as_a_text() -> None:
    broken = Message(Role.OTHER, (Opaque("x", '{"key": [redacted]}'),), b"1")
    for dialect in ("openai-chat", "openai-responses", "anthropic-messages", "gemini-generate", "ollama-chat"):
        assert rendered(dialect, [broken]) == ['{"key": [redacted]}']
