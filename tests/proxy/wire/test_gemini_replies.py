"""Gemini's replies, which have no terminator: however they are cut, what was said is heard, and the end is held."""

from __future__ import annotations

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Reasoning, Reply, Text, ToolCall, Usage
from proxy.wire import DIALECTS
from proxy.wire.dialect import Listener

STREAM = (
    'data: {"candidates": [{"content": {"parts": [{"text": "Hm, ","thought": true}],"role": "model"},"index": 0}],'
    '"usageMetadata": {"promptTokenCount": 90},"modelVersion": "g","responseId": "r1"}\r\n\r\n'
    'data: {"candidates": [{"content": {"parts": [{"text": "grün.","thought": true}]}}],"responseId": "r1"}\r\n\r\n'
    'data: {"candidates": [{"content": {"parts": [{"text": "Grüße, \\"finishReason\\": \\"STOP\\" 😀"}]}}]}\r\n\r\n'
    'data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read","args": {"p": 1e0},"id": "c1"},'
    '"thoughtSignature": "EqQB+/=="}, {"functionCall": {"name": "bash"}}]}}]}\r\n\r\n'
    'data: {"candidates": [{"content": {"parts": [{"text": ""}]},"finishReason": "STOP","index": 0}],'
    '"usageMetadata": {"promptTokenCount": 100,"candidatesTokenCount": 7,"thoughtsTokenCount": 2,'
    '"cachedContentTokenCount": 64}}\r\n\r\n'
).encode()
REPLY = Reply(
    (
        Reasoning("Hm, grün."),
        Text('Grüße, "finishReason": "STOP" 😀'),
        ToolCall("c1", "read", '{"p": 1e0}'),
        ToolCall("bash", "bash", "{}"),
    ),
    "STOP",
    Usage(100, 9, 64),
    True,
    "r1",
)
LINE_ENDS = (b"\n", b"\r\n", b"\r")


def listener(streamed: bool = True) -> Listener:
    return DIALECTS[":streamGenerateContent"].listen(streamed)


def cut(data: bytes, places: set[int]) -> list[bytes]:
    ends = [0, *sorted(place for place in places if 0 < place < len(data)), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("line_end", LINE_ENDS)
@given(places=st.sets(st.integers(1, 1400), max_size=60))
def test_any_cut_gives_the_same_reply_and_holds_the_last_events_end(line_end: bytes, places: set[int]) -> None:
    data = STREAM.replace(b"\r\n", line_end)
    ear = listener()
    passed = b"".join(ear.feed(chunk) for chunk in cut(data, places))
    assert passed == data.rstrip(b"\r\n")
    assert ear.reply() == REPLY
    assert passed + ear.finish() == data
    assert ear.feed(b": after") == b": after"


@pytest.mark.parametrize("line_end", LINE_ENDS)
def test_byte_by_byte_nothing_but_that_end_is_held(line_end: bytes) -> None:
    data = STREAM.replace(b"\r\n", line_end)
    ear = listener()
    whole = len(data.rstrip(b"\r\n"))
    for at in range(len(data)):
        assert ear.feed(data[at : at + 1]) == (data[at : at + 1] if at < whole else b"")


@given(end=st.integers(0, 1300))
def test_a_stream_that_breaks_off_before_its_last_event_is_not_complete(end: int) -> None:
    start = STREAM.rindex(b"data: ")
    ear = listener()
    passed = ear.feed(STREAM[: min(end, start)])
    assert not ear.reply().complete
    assert passed + ear.finish() == STREAM[: min(end, start)]


def test_a_server_that_says_why_with_every_event_is_relayed_one_line_end_behind() -> None:
    told = [
        b'data: {"candidates":[{"content":{"parts":[{"text":"%d"}]},"finishReason":"STOP"}]}\n\n' % number
        for number in range(3)
    ]
    ear = listener()
    assert [ear.feed(each) for each in told] == [told[0][:-2], b"\n\n" + told[1][:-2], b"\n\n" + told[2][:-2]]
    assert ear.reply().text == "012"


@given(
    pieces=st.lists(
        st.one_of(
            st.binary(max_size=20),
            st.sampled_from(
                [b'data: {"candidates":[{"finishReason":"STOP"}]}', b"\n", b"\r", b"\n\n", b"[", b"[1,{}]"]
            ),
            st.sampled_from([b'{"candidates":[7]}', b'data: {"candidates":{"content":[]},"usageMetadata":[]}\n\n']),
        ),
        max_size=10,
    ),
    streamed=st.booleans(),
)
def test_garbage_passes_whole_and_raises_nothing(pieces: list[bytes], streamed: bool) -> None:
    ear = listener(streamed)
    passed = b"".join(ear.feed(piece) for piece in pieces)
    ear.reply()
    assert passed + ear.finish() == b"".join(pieces)


def test_a_whole_reply_and_a_stream_in_one_list_are_heard() -> None:
    events = [orjson.loads(each.removeprefix(b"data: ")) for each in STREAM.split(b"\r\n\r\n") if each]
    listed = b"[" + b",\r\n".join(each.removeprefix(b"data: ") for each in STREAM.split(b"\r\n\r\n") if each) + b"\n]"
    ear = listener(streamed=False)
    assert ear.feed(listed) == listed[:-1]
    assert ear.reply() == REPLY
    whole = listener(streamed=False)
    whole.feed(orjson.dumps(events[-1]))
    assert (whole.reply().complete, whole.reply().stop) == (True, "STOP")


@pytest.mark.parametrize("more", [{"error": {"code": 500}}, {"promptFeedback": {"blockReason": "SAFETY"}}])
def test_a_failure_is_not_complete_and_a_refusal_is(more: dict[str, object]) -> None:
    ear = listener(streamed=False)
    ear.feed(orjson.dumps(more))
    assert ear.reply().complete is ("promptFeedback" in more)


def test_errors_are_googles() -> None:
    dialect = DIALECTS[":generateContent"]
    assert orjson.loads(dialect.refusal(400, "No.", "contents")) == {
        "error": {"code": 400, "message": "contents: No.", "status": "INVALID_ARGUMENT"}
    }
    assert orjson.loads(dialect.refusal(502, "gone"))["error"]["status"] == "UNAVAILABLE"
    assert b"input token count (9) exceeds" in dialect.too_long("x", 8, 9)


def test_the_model_and_the_stream_stand_in_the_path() -> None:
    body = orjson.dumps({"contents": [{"parts": [{"text": "hi"}]}], "generation_config": {"max_output_tokens": 9}})
    dialect = DIALECTS[":generateContent"]
    told = dialect.read(body, str, "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse").conversation
    assert (told.model, told.stream, told.longest) == ("gemini-3-pro", True, 9)
    whole = dialect.read(body, str, "/v1beta/models/gemini-3-pro%3AgenerateContent?key=k").conversation
    assert (whole.model, whole.stream) == ("gemini-3-pro", False)
