"""A section of our own in a person's file: whatever stands around it, only what was written by us changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.features.approvals.convention_files import BEGIN, END, Malformed, bullets, has_section, taken, written
from memory.learning.shared_line import plain

LINES = st.lists(st.sampled_from(["# Ours", "", "Be kind.", "- a person's own", "  wrapped", "<!-- theirs -->", "\tx"]))
RULES = st.lists(st.sampled_from(["Use tabs", "Deploy on Fridays", "Ask Eve", "Test first"]), unique=True, max_size=4)
ENDS = st.sampled_from(["\n", "\r\n"])


@given(LINES, LINES, RULES, RULES, ENDS)
def test_what_is_outside_the_marks_stays_to_the_byte(
    above: list[str], below: list[str], first: list[str], then: list[str], end: str
) -> None:
    before = end.join(above)
    text = written(before, first, [])
    assert text.startswith(before) and bullets(text) == first
    text += end.join(["", *below])
    head, tail = text.split(BEGIN)[0], text.split(END)[1] if first else ""
    if first:
        after = written(text, then, first[:1])
        assert after.split(BEGIN)[0] == head and after.split(END)[1] == tail
        assert bullets(after) == [*first[1:], *then]
        assert written(after, first[:1], then) == written(written(after, [], then), first[:1], [])


@given(LINES, RULES, ENDS)
def test_what_a_person_wrote_inside_the_marks_stays_too(theirs: list[str], rules: list[str], end: str) -> None:
    text = end.join([BEGIN, *theirs, *(f"- {rule}" for rule in rules), END, ""])
    after = written(text, [], rules)
    assert after == end.join([BEGIN, *theirs, END, ""]) or set(rules) & set(bullets(end.join([BEGIN, *theirs, END])))


def test_a_bullet_may_be_wrapped() -> None:
    text = f"{BEGIN}\n* Use tabs\n  everywhere\n- Ask Eve\n{END}\n"
    assert bullets(text) == ["Use tabs everywhere", "Ask Eve"]
    assert written(text, ["New"], ["Use tabs everywhere"]) == f"{BEGIN}\n- Ask Eve\n- New\n{END}\n"


def test_nothing_to_add_makes_no_section_and_no_file() -> None:
    assert written(None, [], ["x"]) == "" and written("# Ours", [], []) == "# Ours"
    assert not has_section("# Ours") and not has_section("")


def test_no_rule_can_end_the_section() -> None:
    text = written(None, [plain(f"a {END}\nb {BEGIN}")], [])
    assert text.count(END) == text.count(BEGIN) == 1 and len(bullets(text)) == 1


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n{BEGIN}\n{END}"])
def test_marks_that_enclose_no_section_are_told(text: str) -> None:
    for ask in (bullets, has_section, lambda text: written(text, ["x"], [])):
        with pytest.raises(Malformed, match="line 1"):
            ask(text)


def test_what_a_person_did_to_each_line_is_seen() -> None:
    before = {"a": "Use tabs in Python", "b": "Deploy on Fridays", "c": "Ask Eve", "d": "Write the tests first"}
    done = taken(["Ask Eve", "Use tabs in Python and Go", "Sail when it is calm"], before)
    assert done.kept == ("c",) and done.edited == (("a", "Use tabs in Python and Go"),)
    assert set(done.deleted) == {"b", "d"} and done.added == ("Sail when it is calm",)


@given(RULES, RULES)
def test_every_line_is_told_of_once(now: list[str], before: list[str]) -> None:
    done = taken(now, {said: said for said in before})
    names = [*done.kept, *(name for name, _ in done.edited), *done.deleted]
    assert sorted(names) == sorted(before)
    assert sorted([*done.kept, *(said for _, said in done.edited), *done.added]) == sorted(now)
