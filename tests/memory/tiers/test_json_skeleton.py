"""JSON by its skeleton."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.json_skeleton import json_skeleton, shape_of
from memory.tiers.shape import Hint

ISSUES = [{"id": f"shop-{n}", "title": f"Issue number {n}", "open": True, "body": "word " * 60} for n in range(40)]


def test_first_items_stay_and_the_others_are_counted_by_name() -> None:
    text = json.dumps({"total": 40, "issues": ISSUES}, indent=2)
    made = json_skeleton(text, Hint(), len(text) // 5)
    assert made is not None
    assert '"total": 40' in made
    assert '      "id": "shop-0"' in made.split(",\n")[1]
    assert "more: shop-" in made


def test_the_layout_of_the_source_is_kept() -> None:
    spaced, tight = json.dumps(ISSUES), json.dumps(ISSUES, separators=(",", ":"))
    assert '{"id": "shop-0", "title"' in (json_skeleton(spaced, Hint(), 900) or "")
    assert '{"id":"shop-0","title"' in (json_skeleton(tight, Hint(), 900) or "")


def test_json_lines_are_one_list() -> None:
    text = "\n".join(json.dumps(issue) for issue in ISSUES)
    made = json_skeleton(text, Hint(), 900)
    assert made is not None
    assert made.startswith('{"id": "shop-0"')
    assert "more: shop-" in made


def test_what_is_cut_off_or_no_json_is_for_others() -> None:
    assert json_skeleton(json.dumps(ISSUES)[:-40], Hint(), 900) is None
    assert json_skeleton("[INFO] started\n" * 50, Hint(), 900) is None
    assert json_skeleton("[" * 200_000, Hint(), 900) is None


def test_a_line_for_json_has_its_keys() -> None:
    assert shape_of('{"name": "shop", "version": 3, "files": [1, 2]}') == "{3 keys} name: shop, version: 3, files[2]"
    assert shape_of('[{"id": 7}, {"id": 8}]') == "[2 items] 7, 8"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=40,
)


@given(VALUES, st.sampled_from([None, 1, 2, 4]), st.integers(min_value=0, max_value=300))
def test_any_json_is_within_the_limit(value: object, indent: int | None, limit: int) -> None:
    made = json_skeleton(json.dumps(value, indent=indent), Hint(), limit)
    assert made is None or len(made) <= limit
