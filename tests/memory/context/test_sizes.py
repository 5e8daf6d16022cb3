"""What a message costs: its texts, its pictures and files, its frame."""

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.sizes import PAGE_TOKENS, PER_CALL, message_tokens, part_tokens, parts_tokens, quick
from memory.conversation import Image, Message, Opaque, Reasoning, Role, Text, ToolCall, ToolResult


def words(text: str) -> int:
    return len(text.split())


def test_a_message_is_the_sum_of_its_parts_and_its_frame() -> None:
    parts = (Text("one two three"), ToolCall("id", "read", '{"path": "a"}'), Reasoning("four five", "signed"))
    message = Message(Role.ASSISTANT, parts, b"")
    assert parts_tokens(message, words, "openai") == (3, PER_CALL + 3, 2)
    assert message_tokens((3, 11, 2)) > 16


def test_a_result_is_what_it_holds() -> None:
    result = ToolResult("id", (Text("one two"), Image("https://example.org/x.png")))
    assert part_tokens(result, words, "openai") > PER_CALL + 2 + 85


def test_sealed_reasoning_costs_by_its_length() -> None:
    assert part_tokens(Reasoning("", "x" * 6000), words, "openai") == 1000


def test_a_document_costs_by_its_pages_and_not_by_its_base64() -> None:
    data = base64.b64encode(b"%PDF" * 30_000).decode()
    for kind, raw in (
        ("document", {"type": "document", "source": {"type": "base64", "data": data}}),
        ("file", {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}"}}),
        ("input_file", {"type": "input_file", "file_id": "file-1"}),
    ):
        tokens = part_tokens(Opaque(kind, json.dumps(raw)), quick, "anthropic")
        assert PAGE_TOKENS <= tokens <= 3 * PAGE_TOKENS


def test_a_document_of_text_is_counted_as_text() -> None:
    raw = json.dumps({"type": "document", "source": {"type": "text", "data": "word " * 500}})
    assert 500 <= part_tokens(Opaque("document", raw), words, "anthropic") <= 510


def test_any_other_part_is_the_text_that_it_is() -> None:
    assert part_tokens(Opaque("thing", "one two"), words, "openai") == 2
    assert part_tokens(Opaque("file", "no json"), words, "openai") == PAGE_TOKENS


PROSE = "The quick estimate looks at what a text is made of, not at its words, and is right within a tenth or so. "
CODE = "    def feed(self, chunk: bytes) -> bytes:\n        self._held += chunk\n        return self._held[:-1]\n\n"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [(PROSE * 10, 261), (CODE * 10, 270), (random.Random(1).randbytes(2000).hex(), 2256)],
    ids=["prose", "code", "hex"],
)
def test_the_quick_estimate_is_near(text: str, tokens: int) -> None:
    assert 0.75 * tokens <= quick(text) <= 1.25 * tokens


@given(st.text(max_size=300))
def test_every_text_has_a_token_and_none_has_more_than_bytes(text: str) -> None:
    assert (1 if text else 0) <= quick(text) <= max(len(text.encode("utf-8", "replace")) * 1.3, 1)


def test_of_a_long_text_only_parts_are_looked_at() -> None:
    long = PROSE * 5000
    assert quick(long) == pytest.approx(5000 * quick(PROSE * 100) / 100, rel=0.05)
