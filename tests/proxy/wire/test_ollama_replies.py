"""Ollama's replies, in lines: however they are cut, what was said is heard, and the last line's end is held."""

from __future__ import annotations

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Reasoning, Reply, Text, ToolCall, Usage
from proxy.wire import DIALECTS
from proxy.wire.dialect import Framing
from proxy.wire.synthetic_reply import media_type, synthetic_body

STREAM = (
    '{"model":"m","created_at":"t","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}\n'
    '{"model":"m","message":{"role":"assistant","content":"Grü"},"done":false}\n'
    '{"model":"m","message":{"role":"assistant","content":"ße, \\"done\\": true 😀"},"done":false}\n'
    '{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"bash",'
    '"arguments":{"cmd":"ls"}}}]},"done":false}\n'
    '{"model":"m","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,'
    '"prompt_eval_count":26,"eval_count":9}\n'
).encode()
REPLY = Reply(
    (Reasoning("Hm."), Text('Grüße, "done": true 😀'), ToolCall("bash", "bash", '{"cmd":"ls"}')),
    "stop",
    Usage(26, 9),
    True,
)


@given(places=st.sets(st.integers(1, 700), max_size=60))
def test_any_cut_gives_the_same_reply_and_holds_the_last_lines_end(places: set[int]) -> None:
    ends = [0, *sorted(place for place in places if place < len(STREAM)), len(STREAM)]
    ear = DIALECTS["/api/chat"].listen(True)
    passed = b"".join(ear.feed(STREAM[start:end]) for start, end in pairwise(ends))
    assert passed == STREAM[:-1]
    assert ear.reply() == REPLY
    assert passed + ear.finish() == STREAM


@given(end=st.integers(0, 700))
def test_a_stream_that_breaks_off_before_its_last_line_is_not_complete(end: int) -> None:
    data = STREAM[: min(end, STREAM.rindex(b'{"model"'))]
    ear = DIALECTS["/api/chat"].listen(True)
    passed = ear.feed(data)
    assert not ear.reply().complete
    assert passed + ear.finish() == data


@pytest.mark.parametrize("stream", [True, False])
@given(pieces=st.lists(st.one_of(st.binary(max_size=20), st.sampled_from([b'{"done":true}', b"\n", b'{"message":7}']))))
def test_garbage_passes_whole_and_raises_nothing(stream: bool, pieces: list[bytes]) -> None:
    ear = DIALECTS["/api/chat"].listen(stream)
    passed = b"".join(ear.feed(piece) for piece in pieces)
    ear.reply()
    assert passed + ear.finish() == b"".join(pieces)


@pytest.mark.parametrize("dialect", ["ollama-chat", "gemini-generate"])
@pytest.mark.parametrize("stream", [True, False])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5000))
def test_what_is_made_is_heard_whole(dialect: str, stream: bool, text: str) -> None:
    of = {each.name: each for each in DIALECTS.values()}[dialect]
    ear = of.listen(stream)
    ear.feed(synthetic_body(dialect, text, "ab12", "m", 1, stream=stream))
    assert (ear.reply().complete, ear.reply().text) == (True, text)


def test_a_stream_is_lines_unless_one_object_is_asked_for() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "options": {"num_predict": 7}}
    view = DIALECTS["/api/chat"].read(orjson.dumps(body), str)
    assert (view.conversation.stream, view.framing, view.conversation.longest) == (True, Framing.LINES, 7)
    assert media_type(True, view.framing) == "application/x-ndjson"
    assert not DIALECTS["/api/chat"].read(orjson.dumps({**body, "stream": False}), str).conversation.stream
    assert orjson.loads(DIALECTS["/api/chat"].refusal(400, "No.", "body")) == {"error": "body: No."}
