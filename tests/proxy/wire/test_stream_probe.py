"""However a stream is cut, its opening tells an error from the beginning of a reply, and nothing else counts as one."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.overflow import StreamProbe

CREATED = b'event: response.created\ndata: {"type":"response.created","response":{"id":"r","error":null}}\n\n'
FAILED = b'data: {"type":"response.failed","response":{"id":"r","error":{"code":"x","message":"no"}}}\n\n'
SAID = b'data: {"type":"response.output_text.delta","delta":"{\\"error\\": {\\"code\\": 1}}"}\n\n'
CHUNK = b'data: {"id":"c1","choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'


def read(stream: bytes, size: int) -> tuple[bool, bytes]:
    opening = StreamProbe()
    for start in range(0, len(stream), size):
        if opening.feed(stream[start : start + size]):
            return True, opening.error
    return False, opening.error


@pytest.mark.parametrize(
    ("stream", "shown", "error"),
    [
        (CREATED, False, None),
        (b": OPENROUTER PROCESSING\n\n", False, None),
        (CREATED + FAILED, True, {"code": "x", "message": "no"}),
        (CREATED + SAID + FAILED, True, None),
        (
            b'event: ping\ndata: {"type": "ping"}\n\nevent: error\ndata: {"type":"error","error":{"a":1}}\n\n',
            True,
            {"a": 1},
        ),
        (
            b'data: {"type":"error","code":"x","message":"no"}\n\n',
            True,
            {"type": "error", "code": "x", "message": "no"},
        ),
        (b'data: {"error": {"message": "no"}}\n\n', True, {"message": "no"}),
        (CHUNK + b'data: {"error": {"message": "no"}}\n\n', True, None),
        (b"event: error\ndata: not JSON\n\n", True, None),
        (b"data: [DONE]\n\n", True, None),
    ],
)
def test_an_error_that_opens_a_stream_is_told_from_everything_else(
    stream: bytes, shown: bool, error: dict[str, object] | None
) -> None:
    for size in (1, 7, len(stream)):
        found = read(stream, size)
        assert found[0] == shown
        assert (orjson.loads(found[1]) if found[1] else None) == error


@given(st.binary(max_size=200), st.integers(1, 50))
def test_nothing_that_a_provider_sends_makes_it_fail(stream: bytes, size: int) -> None:
    read(b"data: " + stream + b"\n\n", size)
