"""A reply that no model gave is heard like any other, in every dialect, streamed and whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import dialect_of
from proxy.wire.synthetic_reply import synthetic_body
from tests.proxy.wire.rounds.scripts import PATHS


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [True, False])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6000))
def test_what_is_made_is_heard_whole(path: str, stream: bool, text: str) -> None:
    dialect = dialect_of(path)
    assert dialect is not None
    listener = dialect.listen(stream)
    listener.feed(synthetic_body(dialect.name, text, "ab12", "m", 1, stream=stream, usage=True))
    listener.finish()
    reply = listener.reply()
    assert reply.complete
    assert reply.text == text
    assert not [part for part in reply.parts if type(part).__name__ == "ToolCall"]
