"""What was said often, in several sessions, is put forward to a person, and says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memory.candidate import Proposal
from memory.fact import Fact, FactKind, Origin, Sensitivity, State
from memory.features.nights.consolidation.gist import Clusters
from memory.features.nights.consolidation.rule_candidates import rules
from memory.features.nights.consolidation.snapshot import RepeatedStatement
from memory.scope import Layer
from tests.memory.features.nights.consolidation.making import fact, numbered

TEXT = "No. Use pnpm, not npm"


def put(*facts: Fact, **said: list[RepeatedStatement]) -> list[Proposal]:
    return rules({each.id: each for each in facts}, said, Clusters(), numbered())


def often(kind: FactKind = FactKind.CORRECTION) -> list[RepeatedStatement]:
    return [RepeatedStatement(kind, "s1", 3), RepeatedStatement(kind, "s2", 1), RepeatedStatement(kind, "s3", 1)]


def correction(id: str = "a", **more: Any) -> Fact:
    return fact(TEXT, id, **{"kind": FactKind.CORRECTION, **more})


def test_the_same_words_again_and_again_are_enough() -> None:
    [found] = put(correction(), a=often())
    assert found.why == "5 corrections in 3 sessions" and found.mark == "a" and found.evidence == ("a",)
    assert found.text == "Use pnpm, not npm", "what it began with was meant for then"


def test_knowledge_is_borne_out_by_what_it_was_drawn_from_and_that_is_not_put_forward_beside_it() -> None:
    sources = [correction("a"), correction("b", kind=FactKind.CONVENTION)]
    gist = replace(sources[0], id="g", derived_from=("a", "b", "c"))
    [found] = put(
        gist, *sources, a=often(), b=often(FactKind.CONVENTION), c=[RepeatedStatement(FactKind.CONVENTION, "s9")]
    )
    assert found.why == "11 conventions in 4 sessions" and found.evidence == ("g", "a", "b", "c")
    [mixed] = put(gist, *sources, a=often(), b=often(FactKind.CONVENTION))
    assert mixed.why == "10 statements in 3 sessions"


def test_what_was_said_again_since_it_became_knowledge_counts_too() -> None:
    gist = replace(correction("g"), derived_from=("a", "b"))
    again = [
        RepeatedStatement(FactKind.CORRECTION, "s1"),
        RepeatedStatement(FactKind.CORRECTION, "s7", 2),
        RepeatedStatement(FactKind.CORRECTION, "s8"),
    ]
    [found] = put(gist, a=often(), b=[RepeatedStatement(FactKind.CORRECTION, "s4")], g=again)
    assert found.why == "9 corrections in 6 sessions", "and of the session that it was drawn from nothing twice"


def test_what_nobody_tells_of_counts_once() -> None:
    sources = [correction(f"s{n}", session=f"session {n}") for n in range(5)]
    [found] = put(replace(correction("g"), derived_from=tuple(each.id for each in sources)), *sources)
    assert found.why == "5 corrections in 5 sessions"


@pytest.mark.parametrize(
    "said",
    [
        [RepeatedStatement(FactKind.CORRECTION, "s1", 99)],
        [RepeatedStatement(FactKind.CORRECTION, f"s{n}") for n in range(4)],
    ],
)
def test_one_session_is_not_enough_and_neither_is_too_little(said: list[RepeatedStatement]) -> None:
    assert put(correction(), a=said) == []


@pytest.mark.parametrize(
    "more",
    [
        {"origin": Origin.ASSISTANT},
        {"origin": Origin.WEB},
        {"sensitivity": Sensitivity.CONFIDENTIAL},
        {"state": State.ARCHIVED},
        {"layer": Layer.USER},
        {"kind": FactKind.PREFERENCE},
        {"contradicts": ("x",)},
    ],
    ids=str,
)
def test_what_is_no_rule_for_others_is_not_put_forward(more: dict[str, Any]) -> None:
    assert put(correction(**more), a=often()) == []
