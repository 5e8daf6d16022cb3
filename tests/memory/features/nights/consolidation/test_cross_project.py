"""What recurs in several projects of a user becomes that user's knowledge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from memory.fact import Fact, FactKind, MemoryTier, Origin, Sensitivity, State, Stream
from memory.features.nights.consolidation.cross_project import OtherProjects
from memory.features.nights.consolidation.diff import ChangeAction, Diff, applied
from memory.features.nights.consolidation.plan import Rules, plan
from memory.features.nights.consolidation.similarity import likenesses
from memory.features.nights.consolidation.snapshot import Snapshot
from memory.scope import Layer
from tests.memory.features.nights.consolidation.making import NOW, fact, inverse, numbered, stores, vectors

USER = "u:/ann"
RULE = "Always answer in British English"


def of(project: str, text: str = RULE, id: str = "", session: str = "", **more: Any) -> Fact:
    """A fact of one of Ann's projects."""
    told: dict[str, Any] = {"kind": FactKind.PREFERENCE, "owner": f"up:/ann/{project}"} | more
    return fact(text, id or f"{project}-{session or 1}", session or project, **told)


def own(text: str, id: str = "own", **more: Any) -> Fact:
    return fact(text, id, "mine", owner=USER, layer=Layer.USER, **more)


def night(elsewhere: Sequence[Fact], mine: Sequence[Fact] = ()) -> tuple[Diff, dict[str, Fact]]:
    """A night of Ann, with what her projects hold, and her own facts after it."""
    facts = [*elsewhere, *mine]
    pairs = likenesses([each.id for each in facts], vectors([each.text for each in facts]), range(len(facts)), 0.5)
    held = {each.id: each for each in mine}
    derived = frozenset(id for each in mine for id in each.derived_from)
    active = Counter(each.category for each in mine if each.state is State.ACTIVE)
    snapshot = Snapshot(USER, held, (), active, derived)
    diff = plan(snapshot, NOW, Rules(days=False), numbered(), OtherProjects({each.id: each for each in facts}, pairs))
    return diff, applied(held, diff.changes)


def test_what_is_said_in_two_projects_becomes_the_users() -> None:
    said = [of("boat"), of("boat", session="later"), of("car", days=1)]
    diff, after = night(said)
    [change] = diff.changes
    assert change.action is ChangeAction.GIST and "2 projects" in change.why
    [made] = after.values()
    assert (made.owner, made.layer, made.text, made.tier) == (USER, Layer.USER, RULE, MemoryTier.LONG_TERM)
    assert set(made.derived_from) == {each.id for each in said} and made.supersedes == ()


@pytest.mark.parametrize(
    "said",
    [
        [of("boat"), of("boat", session="b"), of("boat", session="c")],
        [of("boat"), of("car", "Sail on Fridays in calm weather"), of("plane", "Never paint in the rain")],
        [of("boat"), of("car")],
    ],
    ids=["one project", "nothing alike", "too few"],
)
def test_less_than_that_does_not(said: list[Fact]) -> None:
    assert night(said)[0].empty


@pytest.mark.parametrize(
    "more",
    [
        {"origin": Origin.WEB},
        {"origin": Origin.ASSISTANT},
        {"kind": FactKind.DECISION},
        {"kind": FactKind.TASK},
        {"sensitivity": Sensitivity.RESTRICTED},
        {"contradicts": ("x",)},
        {"valid_until": NOW},
        {"layer": Layer.USER},
    ],
    ids=str,
)
def test_what_may_not_recur_does_not(more: dict[str, Any]) -> None:
    assert night([of("boat"), of("car"), of("plane", **more)])[0].empty


def test_two_corrections_are_enough_and_knowledge_counts_for_its_sources() -> None:
    corrections = [of("boat", kind=FactKind.CORRECTION), of("car", kind=FactKind.CORRECTION)]
    assert not night(corrections)[0].empty
    gist = replace(of("boat"), tier=MemoryTier.LONG_TERM, derived_from=("a", "b"))
    assert not night([gist, of("car")])[0].empty


def test_what_contradicts_the_others_takes_no_part() -> None:
    said = [of("boat"), of("car"), of("plane", "Never answer in British English")]
    assert night(said)[0].empty


def test_what_the_user_says_already_is_not_drawn_again_and_never_overruled() -> None:
    said = [of("boat"), of("car"), of("plane")]
    assert night(said, [own("always answer in British English!")])[0].empty
    assert night(said, [own("Never answer in British English")])[0].empty


def test_what_comes_later_is_assimilated() -> None:
    said = [of("boat"), of("car"), of("plane")]
    _, after = night(said)
    [made] = after.values()
    diff, after = night([*said, of("train")], [made])
    [change] = diff.changes
    assert change.action is ChangeAction.ASSIMILATE and set(after[made.id].derived_from) == {
        *made.derived_from,
        "train-1",
    }
    assert night([*said, of("train")], list(after.values()))[0].empty, "the next night has nothing to do"


def test_it_is_trusted_as_its_least_trusted_source_and_stands_among_the_ways_of_working() -> None:
    said = [of("boat", origin=Origin.PERSON, stream=Stream.PROJECTS), of("car"), of("plane", days=-1)]
    [made] = night(said)[1].values()
    assert made.origin is Origin.USER and made.stream in (Stream.IDENTITY, Stream.FLOW)


@given(stores(), stores(), stores())
def test_a_users_night_touches_nothing_but_the_users_own_and_can_be_taken_back(
    boat: list[Fact], car: list[Fact], mine: list[Fact]
) -> None:
    elsewhere = [
        replace(each, id=f"{owner}{each.id}", owner=owner, layer=Layer.USER_PROJECT)
        for owner, facts in (("up:/ann/boat", boat), ("up:/ann/car", car))
        for each in facts
    ]
    held = [replace(each, id=f"u{each.id}", owner=USER, layer=Layer.USER) for each in mine]
    diff, after = night(elsewhere, held)
    before = {each.id: each for each in held}
    trust = list(Origin)
    known = before | {each.id: each for each in elsewhere}
    for change in diff.changes:
        for touch in change.touched:
            assert touch.after is not None and touch.after.owner == USER
            if touch.before is None:
                sources = [known[id] for id in touch.after.derived_from]
                assert trust.index(touch.after.origin) == max(trust.index(each.origin) for each in sources)
                assert len({each.owner for each in sources}) > 1
    assert applied(after, inverse(diff.changes)) == before
    assert night(elsewhere, held)[0] == diff, "the same store, the same night"
