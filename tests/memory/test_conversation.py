"""A message is named by what it says, however long that is."""

from __future__ import annotations

import hashlib

import orjson
import pytest

from memory import conversation
from memory.conversation import Opaque, Role, Text, ToolResult, digest, encodable, normal_form

PARTS = (
    Text('one "two" \\ three\n' * 3),
    Text("жук \ud800 🙂\x00" * 5),
    ToolResult("call", (Text("four" * 9), Text(""), Opaque("kind", '{"b": 1, "a": "long enough"}')), False),
)


@pytest.mark.parametrize("piece", [1, 3, 7, 10**6])
def test_a_long_text_is_encoded_in_pieces_to_the_same(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "жук \ud800 🙂"
    whole, forms = encodable(text), [normal_form(part) for part in PARTS]
    named = hashlib.blake2b(orjson.dumps(["user", forms]), digest_size=16).digest()
    monkeypatch.setattr(conversation, "PIECE", piece)
    assert encodable(text) == whole
    assert digest(Role.USER, PARTS) == named
