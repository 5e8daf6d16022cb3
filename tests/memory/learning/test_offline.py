import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.offline import extract_jsonl

AT = datetime(2026, 11, 20, tzinfo=UTC)


def run(*items: Any, assistant: bool = False) -> list[Any]:
    return [json.loads(line) for line in extract_jsonl([json.dumps(item) for item in items], AT, assistant=assistant)]


def test_each_line_is_answered_under_its_own_id() -> None:
    said = [{"role": "user", "content": "Always sign the commits."}]
    answers = run({"id": "a", "messages": said}, {"id": 7, "messages": []})
    assert [answer["id"] for answer in answers] == ["a", 7]
    (fact,) = answers[0]["facts"]
    assert (fact["text"], fact["type"], fact["role"]) == ("Always sign the commits.", "convention", "user")
    assert answers[1]["facts"] == []


def test_an_assistant_is_read_only_when_asked_for() -> None:
    item = {
        "id": 1,
        "messages": [
            {"role": "assistant", "content": [{"type": "text", "text": "The root cause was a stale lock in `db.py`."}]}
        ],
    }
    assert run(item)[0]["facts"] == []
    assert run(item, assistant=True)[0]["facts"][0]["role"] == "assistant"


def test_blank_lines_are_passed_over() -> None:
    assert list(extract_jsonl(["", "  "], AT)) == []


@pytest.mark.parametrize(
    "line", ["{", "[]", "1", '{"id": 1}', '{"messages": []}', '{"id": 1, "messages": [1]}', '{"id": 1, "messages": 5}']
)
def test_a_broken_line_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(extract_jsonl(['{"id": 0, "messages": []}', line], AT))


@given(st.text(max_size=200))
def test_any_content_is_read(text: str) -> None:
    assert (
        run({"id": 1, "messages": [{"role": "user", "content": text.encode("utf-8", "replace").decode()}]})[0]["id"]
        == 1
    )
