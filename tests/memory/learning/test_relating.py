from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.fact import Category, Fact, FactDraft, FactKind, Origin, State, Stream
from memory.learning.relating import AT_ONCE, LIKE, beside, other_values, relations
from memory.scope import Layer
from memory.understanding.packaged_weights import relations as read

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = FactDraft(
    "the worker pool has 12 threads",
    FactKind.FACT,
    Category.PROJECTS,
    Stream.PROJECTS,
    Layer.USER_PROJECT,
    Origin.USER,
)


def fact(id: str, text: str = "the worker pool has 8 threads", category: Category = Category.PROJECTS) -> Fact:
    return Fact(
        id=id, text=text, owner="u:/me", kind=FactKind.FACT, category=category, stream=Stream.PROJECTS,
        layer=Layer.USER_PROJECT, origin=Origin.USER, session="s", source=b"", recorded_at=NOW, valid_from=NOW,
    )  # fmt: skip


def test_the_likest_facts_are_read_and_no_more_than_a_few() -> None:
    near = [(fact(str(at)), at / 10, 0.0) for at in range(10)]
    assert [each.id for each in beside(SAID, near)] == ["9", "8", "7"][:AT_ONCE]


def test_what_shares_more_words_is_read_before_what_shares_one() -> None:
    said = replace(SAID, text="staging is deployed on Thursdays from now on")
    near = [
        (fact("rival", "staging is deployed on Mondays, before noon"), 0.55, 0.3),
        *((fact(str(at), text), 0.5, 0.3) for at, text in enumerate(("deployed", "from staging", "on Thursdays"))),
    ]
    assert beside(said, near)[0].id == "rival"


@pytest.mark.parametrize(
    "known",
    [
        (fact("f", "the gate opens at noon"), LIKE - 0.05, LIKE - 0.05),
        (replace(fact("f"), state=State.SUPERSEDED), 0.9, 0.9),
        (fact("f", "I avoid dairy", Category.PREFERENCES), 0.9, 0.9),
    ],
)
def test_what_cannot_be_of_the_same_subject_is_not_read(known: tuple[Fact, float, float]) -> None:
    assert beside(SAID, [known]) == []


def test_only_the_person_s_own_words_are_read_beside_what_is_known() -> None:
    assert beside(replace(SAID, origin=Origin.TOOL), [(fact("f"), 0.9, 0.9)]) == []


def test_what_an_answer_answers_is_not_part_of_it() -> None:
    answer = replace(SAID, text=f"{SAID.text} [on: How many threads has the worker pool?]")
    assert relations(answer, [fact("f")], read) == relations(SAID, [fact("f")], read)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the feed leaves at 03:30", "it goes out at 04:45 now"),
        ("cells under ten are starred", "it's fifteen now, not ten"),
        ("wir treffen uns dienstags", "wir treffen uns freitags"),
    ],
)
def test_what_tells_another_number_or_day_says_something_else(older: str, newer: str) -> None:
    assert other_values(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the feed leaves at 03:30", "03:30, every night, that is when the feed leaves"),
        ("the feed leaves at 03:30", "the feed leaves at night"),
        ("the pool has 8 threads", "of the 8 threads 2 are for mail"),
    ],
)
def test_what_tells_the_same_one_or_none_does_not(older: str, newer: str) -> None:
    assert not other_values(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use mocks for the importer tests", "Never use mocks for the importer tests"),
        ("the harbour build needs docker", "the harbour build does not need docker"),
    ],
)
def test_what_denies_a_statement_does_not_say_it_again(older: str, newer: str) -> None:
    found = relations(replace(SAID, text=newer), [fact("f", older)], read)["f"]
    assert found.same < 0.6


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Send dates as ISO, not as epoch.", "Always send dates as ISO, never as epoch"),
        ("We draw charts with plotly instead of matplotlib.", "I told you: charts with plotly, never matplotlib!"),
        ("Write commits in English, not German", "commit messages are always English, never German"),
    ],
)
def test_who_wants_one_thing_and_not_another_twice_says_the_same(older: str, newer: str) -> None:
    for one, other in ((older, newer), (newer, older)):
        relation = relations(replace(SAID, text=other), [fact("f", one)], read)["f"]
        assert (relation.replaces, relation.contradicts) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Draw charts with plotly instead of matplotlib.", "Draw charts with matplotlib instead of plotly."),
        ("Sort by name, not by date", "Sort by date, not by name"),
    ],
)
def test_who_wants_it_the_other_way_round_has_changed_it(older: str, newer: str) -> None:
    assert relations(replace(SAID, text=newer), [fact("f", older)], read)["f"].replaces > 0.9
