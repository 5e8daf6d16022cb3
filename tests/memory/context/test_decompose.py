"""Complex questions in simpler ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.question import MOST, SplitReason, parts


@pytest.mark.parametrize(
    ("question", "shape", "simpler"),
    [
        (
            "Who owns billing? And where is its config?",
            SplitReason.SEVERAL,
            ["Who owns billing?", "And where is its config?"],
        ),
        (
            "When did Ida move to Graz and why did she sell the van?",
            SplitReason.CONJUNCTION,
            ["When did Ida move to Graz", "why did she sell the van? Ida Graz"],
        ),
        (
            "Should we choose Postgres or SQLite for the queue?",
            SplitReason.COMPARISON,
            ["Should we Postgres ?", "Should we SQLite for the queue ?"],
        ),
        (
            "What is the difference between the importer and the exporter?",
            SplitReason.COMPARISON,
            ["What is the the importer ?", "What is the the exporter ?"],
        ),
        (
            "What have Ida and Bo both painted?",
            SplitReason.ENTITIES,
            ["What have Ida both painted?", "What have Bo both painted?"],
        ),
    ],
)
def test_a_complex_question_is_taken_apart(question: str, shape: SplitReason, simpler: list[str]) -> None:
    found = parts(question)
    assert [part.text for part in found] == simpler
    assert {part.shape for part in found} == {shape}
    assert [part.weight for part in found] == [0.9, 0.81]


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ida live?",
        "Rename the importer and the exporter.",
        "When did Ida and Bo meet?",
        "What did Ida and Bo do together?",
        "What do we use for salt and pepper?",
        "",
    ],
)
def test_a_simple_one_stays_whole(question: str) -> None:
    assert parts(question) == ()


@given(st.text(alphabet="Who is Ida and Bo? when, or vs why did compare between A B", max_size=120))
def test_any_text_has_few_parts_of_falling_weight(text: str) -> None:
    found = parts(text)
    assert len(found) <= MOST
    assert [part.weight for part in found] == sorted((part.weight for part in found), reverse=True)
