"""A remark that nothing was learnt from stands beside the earlier fact that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory.context.later_remarks import PAIRS, REMARKS, LaterRemark, later_remarks
from memory.context.pack import LATER, pack
from memory.context.rank import Memory, Scored
from memory.fact import Fact, Origin, Sensitivity, State
from memory.understanding.encoder import Relation
from tests.memory.context.making import NOW, SAID, fact, passage

LATER_ON = SAID + timedelta(days=9)
QUEUE = fact("The invoice queue runs on the small broker in the cellar.")
MOVED = passage(
    "The build is slow again. The invoice queue has run on the cluster since Imke rebuilt it. Add a retry, please.",
    at=LATER_ON,
    session="between",
)


def read(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """Only what has to do with the cluster is related to anything."""
    return [
        Relation(0.1, 0.1, 0.7, 0.1, 0.0) if "cluster" in newer else Relation(0.0, 0.0, 0.0, 0.0, 1.0)
        for _, newer in pairs
    ]


def found(*candidates: Memory, shown: Sequence[Memory] = (), present: frozenset[str] = frozenset()) -> list[str]:
    remarks = later_remarks([QUEUE], candidates, shown or [QUEUE], read, NOW, passed_over=present, session="now")
    return [remark.later.text for remark in remarks]


def test_the_sentence_that_is_about_the_same_is_found() -> None:
    assert found(MOVED) == ["The invoice queue has run on the cluster since Imke rebuilt it."]


def test_only_what_the_person_said_later_elsewhere_counts() -> None:
    others = [
        passage(MOVED.text, at=SAID - timedelta(days=1), session="between"),
        passage(MOVED.text, at=LATER_ON, session="now"),
        passage(MOVED.text, at=LATER_ON, session="between", source=QUEUE.source),
        passage(MOVED.text, at=LATER_ON, session="between", origin=Origin.ASSISTANT),
        passage(MOVED.text, at=LATER_ON, session="between", origin=Origin.WEB),
        passage(MOVED.text, at=LATER_ON, session="between", sensitivity=Sensitivity.RESTRICTED),
    ]
    assert found(*others) == []
    assert found(MOVED, present=frozenset({MOVED.id})) == []


def test_what_is_unrelated_or_says_nothing_more_is_left_out() -> None:
    assert found(passage("The invoice queue is what the tests should cover next.", at=LATER_ON, session="b")) == []
    assert found(passage("The broker in the cellar!", at=LATER_ON, session="b")) == []
    told = fact("The invoice queue has run on the cluster since Imke rebuilt it", recorded_at=LATER_ON)
    assert found(MOVED, shown=[QUEUE, told]) == [told.text], "once, and as what was learnt"


@pytest.mark.parametrize(
    "asked",
    [
        "Does the invoice queue still run on the cluster?",
        "Can you check whether the cluster has room for the invoice queue?",
        "I forgot, does the cluster have the invoice queue?",
    ],
)
def test_a_question_tells_nothing_later(asked: str) -> None:
    assert found(passage(asked, at=LATER_ON, session="b")) == []
    both = passage(f"{asked} The cluster was rebuilt, and the invoice queue with it.", at=LATER_ON, session="b")
    assert found(both) == ["The cluster was rebuilt, and the invoice queue with it."]


def test_what_was_so_for_a_while_and_is_over_is_no_change() -> None:
    until = fact(
        "The invoice queue has run on the cluster since Imke rebuilt it", source=MOVED.source, expires_at=LATER_ON
    )
    assert found(MOVED, until) == []


def test_a_sentence_takes_along_the_next_one_that_leans_on_it() -> None:
    said = passage(
        "While you look at the invoice queue: it is slow. It is on the cluster now.", at=LATER_ON, session="b"
    )
    assert found(said) == ["While you look at the invoice queue: it is slow. It is on the cluster now."]


def test_a_later_fact_that_is_shown_is_told_to_be_later() -> None:
    later = fact("The invoice queue sits on the cluster", recorded_at=LATER_ON)
    [remark] = later_remarks([QUEUE, later], [QUEUE, later], [QUEUE, later], read, NOW)
    assert (remark.fact, remark.later) == (QUEUE, later)


def test_what_is_known_to_be_at_odds_is_told_with_its_other_sides() -> None:
    later = fact("The invoice queue sits on the cluster", recorded_at=LATER_ON, contradicts=(QUEUE.id,))
    assert later_remarks([QUEUE, later], [QUEUE, later], [QUEUE, later], read, NOW) == []
    contested = replace(QUEUE, contradicts=(later.id,))
    assert later_remarks([contested], [MOVED], [contested], read, NOW) == []


@pytest.mark.parametrize(
    "how",
    [
        {"state": State.SUPERSEDED},
        {"state": State.DRAFT},
        {"expires_at": LATER_ON},
        {"sensitivity": Sensitivity.RESTRICTED},
    ],
)
def test_no_side_is_told_that_may_not_be_shown(how: dict[str, Any]) -> None:
    hidden = replace(QUEUE, **how)
    assert later_remarks([hidden], [hidden, MOVED], [], read, NOW, present=[hidden]) == []
    later = fact("The invoice queue sits on the cluster", recorded_at=LATER_ON, **how)
    assert later_remarks([QUEUE], [later], [QUEUE], read, NOW, present=[later]) == []


def test_however_much_is_found_a_few_pairs_are_read() -> None:
    read_pairs: list[tuple[str, str]] = []

    def relate(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        read_pairs.extend(pairs)
        return read(pairs)

    facts = [fact(f"The invoice queue {n} runs on the small broker.") for n in range(40)]
    said = [passage(f"invoice queue {n} is slow. " * 8, at=LATER_ON, session=f"s{n}") for n in range(200)]
    assert later_remarks(facts, said, facts, relate, NOW) == []
    assert len(read_pairs) == PAIRS


def test_what_a_tool_said_is_not_held_against_a_person() -> None:
    of_a_tool = fact(QUEUE.text, origin=Origin.TOOL)
    assert later_remarks([of_a_tool], [MOVED], [of_a_tool], read, NOW) == []


def test_a_fact_has_one_remark_and_a_request_a_few() -> None:
    facts = [fact(f"The invoice queue {n} runs on the small broker.") for n in range(6)]
    said = [
        passage(f"invoice queue {n} now sits on the cluster", at=LATER_ON, session=f"s{n}", source=b"%d" % n)
        for n in range(6)
    ]
    remarks = later_remarks(facts, said, facts, read, NOW)
    assert len(remarks) == REMARKS
    assert len({remark.fact.id for remark in remarks}) == len({remark.later.id for remark in remarks}) == REMARKS


def lines(scored: Sequence[Scored], remark: LaterRemark, budget: int = 400) -> list[str]:
    return pack(scored, budget, NOW, remarks=[remark]).text.strip().split("\n")[2:-1]


def remark_of(about: Fact) -> LaterRemark:
    [remark] = later_remarks([about], [MOVED], [about], read, NOW)
    return remark


def test_both_are_shown_with_their_days_the_later_one_last() -> None:
    expected = [
        LATER,
        f"{SAID.date()} user: {QUEUE.text}",
        f"{LATER_ON.date()} user: The invoice queue has run on the cluster since Imke rebuilt it.",
    ]
    assert lines([Scored(QUEUE, 1.0)], remark_of(QUEUE)) == expected
    assert lines([], remark_of(QUEUE)) == expected, "it stands on the page, where nothing can be added"


def test_what_was_shown_is_known_to_have_been() -> None:
    packed = pack([Scored(QUEUE, 1.0)], 400, NOW, remarks=[remark_of(QUEUE)])
    assert [shown.memory for shown in packed.shown] == [QUEUE.id, MOVED.id]


def test_without_room_for_both_the_fact_stands_alone() -> None:
    assert lines([Scored(QUEUE, 1.0)], remark_of(QUEUE), budget=60)[-1] == f"user: {QUEUE.text}"
