"""Shortened calls: still the same JSON, with what was long said shortly."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.calls import LONG, arguments
from memory.tiers.shape import budget_of

SOURCE = "\n".join(f"def function_{n}(value):\n    total = value * {n}\n    return total\n" for n in range(60))


def shape(value: Any) -> Any:
    """The value with every string taken for the same."""
    match value:
        case dict():
            return {key: shape(each) for key, each in value.items()}
        case list():
            return [shape(each) for each in value]
        case str():
            return ""
        case _:
            return value


def test_a_written_file_becomes_its_outline_and_the_rest_stays() -> None:
    call = '{"file_path": "src/a.py",  "content": ' + json.dumps(SOURCE) + ', "mode": 1e0}'
    short = arguments("Write", call, budget_of(call), "palimpsest show 12")
    assert short is not None and len(short) <= budget_of(call)
    assert short.startswith('{"file_path": "src/a.py",  "content": "[') and short.endswith(', "mode": 1e0}')
    content = json.loads(short)["content"]
    assert "palimpsest show 12" in content.split("\n")[0] and str(len(SOURCE)) in content.split("\n")[0]
    assert "def function_7(value):" in content or "function_7" in content


def test_the_new_text_of_an_edit_has_more_room_than_the_old() -> None:
    call = json.dumps({"path": "a.py", "old_string": SOURCE, "new_string": SOURCE.replace("total", "amount")})
    short = arguments("Edit", call, budget_of(call))
    assert short is not None
    read = json.loads(short)
    assert len(read["new_string"]) > len(read["old_string"])


def test_nested_values_are_shortened_in_their_place() -> None:
    call = json.dumps({"edits": [{"text": SOURCE, "line": 3}], "path": "a.py"})
    short = arguments("MultiEdit", call, budget_of(call))
    assert short is not None and shape(json.loads(short)) == shape(json.loads(call))


def test_nothing_long_no_json_and_no_room_give_none() -> None:
    assert arguments("Bash", '{"command": "ls"}', 1000) is None
    assert arguments("Bash", json.dumps({"parts": ["word"] * 500}), 5000) is None
    assert arguments("apply_patch", "*** Begin Patch\n" * 100, 1000) is None
    assert arguments("Write", json.dumps({"content": SOURCE}), 20) is None
    assert arguments("Write", "[" * 100_000, 6000) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.text(max_size=30).map(lambda t: t * 80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), st.integers(0, 3000), st.booleans())
def test_a_shortened_call_has_the_same_shape_and_is_within_the_limit(
    call: dict[str, Any], limit: int, escaped: bool
) -> None:
    written = json.dumps(call, ensure_ascii=escaped)
    short = arguments("tool", written, limit, "show 1")
    if short is not None:
        assert len(short) <= limit and len(short) < len(written) and len(written) >= LONG
        assert shape(json.loads(short)) == shape(json.loads(written))
        short.encode()


@given(st.text(max_size=700))
def test_garbage_gives_none_or_valid_json(text: str) -> None:
    for call in (text, '{"a": "' + text * 3 + '"}'):
        short = arguments("tool", call, 600)
        assert short is None or isinstance(json.loads(short), dict)
