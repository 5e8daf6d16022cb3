"""However a reply is cut: the same bytes out, the same reply heard, and the terminator held back."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Reasoning, Reply, Text, ToolCall, Usage
from proxy.wire import dialect_of
from proxy.wire.dialect import Listener
from proxy.wire.listener import HEARD_LIMIT
from tests.proxy.wire.streams import ANTHROPIC, CHAT, RESPONSES, STREAMS, Stream

LINE_ENDS = (b"\n", b"\r\n", b"\r")


def listener(path: str, streamed: bool = True) -> Listener:
    dialect = dialect_of(path)
    assert dialect is not None
    return dialect.listen(streamed)


def cut(data: bytes, places: set[int]) -> list[bytes]:
    ends = [0, *sorted(place for place in places if 0 < place < len(data)), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


def heard(path: str, data: bytes, streamed: bool = True) -> Reply:
    ear = listener(path, streamed)
    ear.feed(data)
    return ear.reply()


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.path)
@pytest.mark.parametrize("line_end", LINE_ENDS)
@given(places=st.sets(st.integers(1, 4000), max_size=60))
def test_any_cut_gives_the_same_reply_and_the_same_bytes(stream: Stream, line_end: bytes, places: set[int]) -> None:
    data = stream.data.replace(b"\n", line_end)
    start = data.rindex(stream.end.replace(b"\n", line_end))
    ear = listener(stream.path)
    passed = b"".join(ear.feed(chunk) for chunk in cut(data, places))
    assert passed == data[:start]
    assert ear.ended
    assert ear.reply() == stream.reply
    assert passed + ear.finish() == data
    assert not ear.ended
    assert ear.feed(b": after") == b": after"


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.path)
@given(
    damage=st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 60), st.sampled_from([b"", b"\n", b"\r", b'"', b"}"]))
    ),
    places=st.sets(st.integers(1, 4000), max_size=40),
)
def test_a_damaged_stream_is_heard_and_held_alike_however_it_is_cut(
    stream: Stream, damage: list[tuple[int, int, bytes]], places: set[int]
) -> None:
    data = stream.data
    for at, length, instead in damage:
        data = data[:at] + instead + data[at + length :]
    once, cuts = listener(stream.path), listener(stream.path)
    passed = once.feed(data)
    assert b"".join(cuts.feed(chunk) for chunk in cut(data, places)) == passed
    assert (cuts.ended, cuts.reply()) == (once.ended, once.reply())
    assert passed + cuts.finish() == data


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.path)
@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_byte_by_byte_nothing_but_a_possible_terminator_is_held(stream: Stream, line_end: bytes) -> None:
    data = stream.data.replace(b"\n", line_end)
    start = data.rindex(stream.end.replace(b"\n", line_end))
    ear = listener(stream.path)
    passed = 0
    for at in range(start):
        passed += len(ear.feed(data[at : at + 1]))
        held = data[passed : at + 1]
        assert len(held) < 45
        assert held == b"" or data[: passed + 1][-2:-1] in (b"", b"\n", b"\r")
    for at in range(start, len(data)):
        assert ear.feed(data[at : at + 1]) == b""
    assert ear.ended


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.path)
@given(end=st.integers(0, 4000))
def test_a_stream_that_breaks_off_is_not_complete(stream: Stream, end: int) -> None:
    whole = stream.data.rstrip(b"\n")
    data = whole[: min(end, len(whole) - 1)]
    ear = listener(stream.path)
    passed = ear.feed(data)
    reply = ear.reply()
    assert not reply.complete
    assert passed + ear.finish() == data


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.path)
def test_a_stream_may_end_without_its_last_line_ends(stream: Stream) -> None:
    assert heard(stream.path, stream.data.rstrip(b"\n")) == stream.reply


@pytest.mark.parametrize("stream", [RESPONSES, ANTHROPIC], ids=lambda stream: stream.path)
@pytest.mark.parametrize("type_last", [False, True])
@given(places=st.sets(st.integers(1, 4000), max_size=30))
def test_the_terminator_is_known_by_its_data_where_event_lines_are_left_out(
    stream: Stream, type_last: bool, places: set[int]
) -> None:
    lines = [line for line in stream.data.split(b"\n") if not line.startswith(b"event:")]
    if type_last:
        lines = [b"data: " + _type_last(line[6:]) if line else line for line in lines]
    data = b"\n".join(lines)
    ear = listener(stream.path)
    passed = b"".join(ear.feed(chunk) for chunk in cut(data, places))
    assert passed == data[: data.rindex(b"data:")]
    assert ear.ended
    assert ear.reply().complete
    assert passed + ear.finish() == data


def _type_last(data: bytes) -> bytes:
    value = orjson.loads(data)
    return orjson.dumps({**{key: inner for key, inner in value.items() if key != "type"}, "type": value["type"]})


@pytest.mark.parametrize("path", [stream.path for stream in STREAMS])
@pytest.mark.parametrize("streamed", [False, True])
@given(
    pieces=st.lists(
        st.one_of(
            st.binary(max_size=20),
            st.sampled_from(
                [
                    *(
                        b"data: [DONE]",
                        b"data:[DONE]",
                        b"event: message_stop",
                        b"event: response.completed",
                        b"data: {",
                    ),
                    *(
                        b"\n",
                        b"\r",
                        b"\r\n",
                        b"\n\n",
                        b"data: ",
                        b"event: ",
                        b'{"type":"message_stop"}',
                        b"null",
                        b"[]",
                    ),
                    *(b'data: {"type":"message_start","message":{}}\n', b'data: {"choices":[{"delta":7}]}\n'),
                    *(b'data: {"choices":{},"usage":[],"error":1}\n', b'{"output":[1,{"type":"message"}],"usage":1}'),
                ]
            ),
        ),
        max_size=12,
    )
)
def test_garbage_passes_whole_and_raises_nothing(path: str, streamed: bool, pieces: list[bytes]) -> None:
    ear = listener(path, streamed)
    passed = b"".join(ear.feed(piece) for piece in pieces)
    ear.reply()
    assert passed + ear.finish() == b"".join(pieces)


@given(pieces=st.lists(st.binary(max_size=5), max_size=6))
def test_of_a_whole_reply_the_last_byte_is_held(pieces: list[bytes]) -> None:
    ear = listener("/v1/messages", streamed=False)
    data = b"".join(pieces)
    assert b"".join(ear.feed(piece) for piece in pieces) == data[:-1]
    assert not ear.ended
    assert ear.finish() == data[-1:]


def test_a_whole_chat_reply_is_heard() -> None:
    data = orjson.dumps(
        {
            "id": "c1",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {
                        "role": "assistant",
                        "content": "Hello",
                        "reasoning_content": "Hm",
                        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                    },
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1, "prompt_cache_hit_tokens": 2},
        }
    )
    parts = (Reasoning("Hm"), Text("Hello"), ToolCall("a", "f", "{}"))
    assert heard("/v1/chat/completions", data, False) == Reply(parts, "stop", Usage(3, 1, 2, 0), True, "c1")


def test_a_whole_responses_reply_is_heard() -> None:
    data = orjson.dumps(
        {
            "id": "r1",
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hel"}]},
                {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "+a"},
            ],
            "usage": {"input_tokens": 3, "output_tokens": 1},
        }
    )
    parts = (Text("Hel"), ToolCall("c", "patch", "+a"))
    assert heard("/v1/responses", data, False) == Reply(parts, "max_output_tokens", Usage(3, 1), True, "r1")


def test_a_whole_anthropic_reply_is_heard() -> None:
    data = orjson.dumps(
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm", "signature": "S"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 4},
        }
    )
    parts = (Reasoning("Hm", "S"), ToolCall("t", "f", '{"a":1}'))
    assert heard("/v1/messages", data, False) == Reply(parts, "tool_use", Usage(5, 2, 4, 0), True, "m1")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/v1/chat/completions", b'{"error":{"message":"no"}}'),
        ("/v1/responses", b'{"id":"r","status":"failed","error":{"code":"x"},"output":[]}'),
        ("/v1/responses", b'{"id":"r","status":"queued","output":[]}'),
        ("/v1/messages", b'{"type":"error","error":{"type":"overloaded_error","message":"no"}}'),
        ("/v1/messages", b"not json"),
    ],
)
def test_a_whole_error_is_no_complete_reply(path: str, data: bytes) -> None:
    assert not heard(path, data, streamed=False).complete


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (CHAT, b'data: {"error":{"message":"overloaded"}}\n\n'),
        (RESPONSES, b'event: error\ndata: {"type":"error","message":"overloaded"}\n\n'),
        (ANTHROPIC, b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'),
    ],
    ids=lambda value: value.path if isinstance(value, Stream) else "",
)
def test_an_error_after_the_first_byte_makes_the_reply_incomplete(stream: Stream, error: bytes) -> None:
    start = stream.data.rindex(stream.end)
    reply = heard(stream.path, stream.data[:start] + error + stream.data[start:])
    assert reply == replace(stream.reply, complete=False)


def test_a_failed_response_is_held_and_not_complete() -> None:
    data = b'event: response.failed\ndata: {"type":"response.failed","response":{"id":"r","status":"failed"}}\n\n'
    ear = listener("/v1/responses")
    assert ear.feed(data) == b""
    assert ear.ended
    assert not ear.reply().complete


def test_a_response_cut_short_by_its_budget_is_complete_with_its_reason() -> None:
    data = (
        b'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hel"}\n\n'
        b'data: {"type":"response.incomplete","response":{"id":"r","status":"incomplete",'
        b'"incomplete_details":{"reason":"max_output_tokens"}}}\n\n'
    )
    reply = heard("/v1/responses", data)
    assert reply.complete
    assert reply.stop == "max_output_tokens"
    assert reply.parts == (Text("Hel"),)


def test_of_a_broken_off_response_what_the_deltas_said_is_heard() -> None:
    start = RESPONSES.data.index(
        b"event: response.output_item.done\ndata: " + b'{"type":"response.output_item.done","output_index":1'
    )
    reply = heard("/v1/responses", RESPONSES.data[:start])
    assert reply.parts == (Reasoning("Look.", "E="), Text('The "type":"response.completed" é'))
    assert not reply.complete


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    data = b"".join(
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"%b",'
        b'"function":{"name":"f","arguments":"%b"}}]}}]}\n\n' % call
        for call in ((b"a", b"1"), (b"b", b"2"), (b"b", b"3"))
    )
    assert heard("/v1/chat/completions", data).parts == (ToolCall("a", "f", "1"), ToolCall("b", "f", "23"))


def test_a_lone_surrogate_in_a_reply_is_heard_as_a_replacement() -> None:
    data = b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\ndata: [DONE]\n\n'
    assert heard("/v1/chat/completions", data).text == "a\ufffd"


def test_a_lone_surrogate_in_streamed_arguments_is_a_replacement() -> None:
    data = (
        b'data: {"type":"message_start","message":{}}\n\n'
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f"}}\n\n'
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta",'
        b'"partial_json":"{\\"a\\":\\"\\\\ud83d\\"}"}}\n\n'
    )
    assert heard("/v1/messages", data).parts == (ToolCall("t", "f", '{"a":"\\ufffd"}'),)


def test_a_reply_beyond_the_limit_passes_but_is_not_complete() -> None:
    ear = listener("/v1/chat/completions")
    start = CHAT.data.rindex(CHAT.end)
    filler = b": " + b"x" * (1024 * 1024) + b"\n"
    assert ear.feed(CHAT.data[:start]) == CHAT.data[:start]
    for _ in range(HEARD_LIMIT // len(filler) + 1):
        assert ear.feed(filler) == filler
    assert ear.feed(CHAT.data[start:]) == b""
    assert ear.ended
    reply = ear.reply()
    assert not reply.complete
    assert reply.text == CHAT.reply.text
    assert ear.finish() == CHAT.data[start:]
