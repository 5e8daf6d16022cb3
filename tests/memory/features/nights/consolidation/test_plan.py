"""What a night makes of what was learnt, and the laws that it keeps whatever that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings

from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Sensitivity, State
from memory.features.nights.consolidation.diff import ChangeAction, applied
from memory.features.nights.consolidation.plan import Rules, plan
from tests.memory.features.nights.consolidation.making import NOW, fact, inverse, night, numbered, snapshot, stores


def actions(facts: list[Fact], rules: Rules | None = None) -> list[ChangeAction]:
    return [change.action for change in night(facts, rules)[0].changes]


def test_the_same_thing_said_again_becomes_one_fact_borne_out_by_both() -> None:
    diff, after = night(
        [fact("Run the tests before a push", "a"), fact("Run the tests before a push!", "b", "s2", days=2)]
    )
    assert [change.action for change in diff.changes] == [ChangeAction.MERGE]
    assert after["b"].state is State.ARCHIVED and after["a"].state is State.ACTIVE
    assert after["a"].sessions == 2 and after["a"].access == 2 and after["a"].supersedes == ("b",)
    assert after["a"].used_at == after["b"].recorded_at


def test_the_one_that_says_more_stays_unless_it_is_trusted_less() -> None:
    short, long = "Run all unit tests with pytest", "Run all unit tests with pytest first"
    _, after = night([fact(short, "a"), fact(long, "b", "s2")])
    assert (after["a"].state, after["b"].state) == (State.ARCHIVED, State.ACTIVE)
    assert actions([fact(short, "a"), fact(long, "b", "s2", origin=Origin.WEB)]) == []


def test_facts_that_differ_on_both_sides_are_two_facts() -> None:
    first = "Always run all the unit tests with coverage before you merge the release branch into staging"
    assert actions([fact(first, "a"), fact(first.replace("staging", "production"), "b", "s2")]) == []


def test_what_a_web_page_says_gains_no_trust_by_repeating_a_person() -> None:
    _, after = night(
        [fact("Use port 8080 for staging", "a", origin=Origin.WEB), fact("Use port 8080 for staging", "b")]
    )
    assert after["b"].state is State.ACTIVE and after["b"].origin is Origin.USER
    assert after["a"].state is State.ARCHIVED


def test_a_restricted_fact_is_neither_opened_nor_shuts_another() -> None:
    text = "The diagnosis is chronic migraine"
    restricted = fact(text, "a", sensitivity=Sensitivity.RESTRICTED)
    _, after = night([restricted, fact(text, "b", "s2"), fact(text + " today", "c", "s3")])
    assert after["a"] == restricted
    assert all(each.sensitivity is Sensitivity.NORMAL for id, each in after.items() if id != "a")


def test_a_clear_change_follows_what_was_so() -> None:
    old = fact("The staging server listens on port 8080", "a")
    new = fact("The staging server now listens on port 9090", "b", "s2", days=1)
    _, after = night([old, new])
    assert after["a"].state is State.SUPERSEDED and after["a"].valid_until == new.valid_from
    assert after["b"].supersedes == ("a",)


def test_what_holds_for_a_while_ends_nothing_that_holds_longer() -> None:
    old = fact("The staging server listens on port 8080", "a")
    new = fact("The staging server now listens on port 9090", "b", "s2", days=1, expires_at=NOW + timedelta(days=5))
    _, after = night([old, new])
    assert after["a"].state is State.ACTIVE
    often = fact(new.text, "b", "s2", days=1, sessions=3, used_at=NOW, contradicts=("a",), expires_at=new.expires_at)
    _, later = night([fact(old.text, "a", contradicts=("b",)), often])
    assert later["a"].state is State.ACTIVE


def test_a_doubt_is_written_down_and_evidence_settles_it() -> None:
    old = fact("The staging server listens on port 8080", "a")
    new = fact("The staging server listens on port 9090", "b", "s2", days=1)
    _, after = night([old, new])
    assert after["a"].contradicts == ("b",) and after["b"].contradicts == ("a",)
    assert all(each.state is State.ACTIVE for each in after.values())
    borne_out = [after["a"], fact(new.text, "b", "s2", days=1, sessions=3, used_at=NOW, contradicts=("a",))]
    _, later = night(borne_out)
    assert later["a"].state is State.SUPERSEDED and later["b"].contradicts == ()


def test_what_is_borne_out_of_a_part_ends_no_whole_and_neither_the_other_way_round() -> None:
    rule = fact("The timeout of the payment gateway client is 30 seconds", "a")
    part = fact("The timeout of the reports payment gateway client is 60 seconds", "b", "s2", days=1)
    for often in ("a", "b"):
        said = [replace(each, sessions=3, used_at=NOW) if each.id == often else each for each in (rule, part)]
        _, after = night(said)
        assert all(each.state is State.ACTIVE for each in after.values())
        assert after["a"].contradicts == ("b",) and after["b"].contradicts == ("a",)


def test_nightly_backups_that_now_run_are_the_only_ones_that_are_known() -> None:
    old = fact("Backups of the main customer database run at 3 am", "a")
    new = fact("Nightly backups of the main customer database now run at 4 am", "b", "s2", days=1)
    assert night([old, new])[1]["a"].state is State.SUPERSEDED
    weekly = fact("Weekly backups of the main customer database run at 5 am", "c")
    assert night([old, new, weekly])[1]["a"].state is State.ACTIVE


def test_what_is_said_beside_a_negation_is_not_denied_by_it() -> None:
    old = fact("My user ID is noah_muller_9847, but I don't remember the reservation ID", "a")
    assert actions([old, fact("My user ID is noah_muller_9847", "b", "s2", days=1, sessions=3)]) == []


def test_a_person_is_not_overruled_by_a_tool() -> None:
    old = fact("The staging server listens on port 8080", "a")
    new = fact("The staging server now listens on port 9090", "b", "s2", days=1, origin=Origin.TOOL)
    _, after = night([old, new])
    assert after["a"].state is State.ACTIVE


def test_what_has_faded_is_archived_and_a_pin_never_fades() -> None:
    old = {"confidence": 0.3, "days": -2000.0}
    facts = [fact("The mast is red", "a", **old), fact("Our anchor holds in sand", "b", pinned=True, **old)]  # type: ignore[arg-type]
    others = [fact(f"Word{number} is another{number} thing{number}", f"o{number}") for number in range(3)]
    diff, after = night([*facts, *others])
    assert [change.action for change in diff.changes] == [ChangeAction.ARCHIVE]
    assert after["a"].state is State.ARCHIVED and after["b"].state is State.ACTIVE


def test_only_what_is_still_a_draft_is_put_away_as_one() -> None:
    facts = [fact("The mast is red", "a", days=-40, state=State.DRAFT), fact("Our anchor holds in sand", "b", days=-40)]
    diff, after = night(facts, drafts=["a", "b", "gone"], fading=[])
    assert [(change.action, change.why) for change in diff.changes] == [(ChangeAction.ARCHIVE, "a draft for 43 days")]
    assert (after["a"].state, after["b"].state) == (State.ARCHIVED, State.ACTIVE)


def test_a_draft_that_a_person_has_pinned_waits_on() -> None:
    pinned = fact("The mast is red", "a", days=-40, state=State.DRAFT, pinned=True)
    diff, after = night([pinned], drafts=["a"], fading=[])
    assert diff.changes == () and after["a"].state is State.DRAFT


def test_a_pass_that_would_take_more_than_half_of_a_category_is_thrown_out_whole() -> None:
    facts = [fact(f"Word{n} is another{n} thing{n}", f"o{n}", days=-2000.0, confidence=0.2) for n in range(3)]
    facts.append(fact("The mast is red", "a", days=-2000.0, confidence=0.2, category=Category.PEOPLE))
    facts.append(fact("The boom is blue", "b", category=Category.PEOPLE))
    diff, after = night(facts)
    assert diff.changes == () and after == {each.id: each for each in facts}
    assert [(each.name, each.category, each.lost, each.held) for each in diff.thrown] == [
        ("fade", Category.TECHNICAL, 3, 3)
    ]


def test_corrections_of_two_sessions_make_knowledge_led_by_the_latest() -> None:
    first = fact("Use pnpm here for installing packages", "a", kind=FactKind.CORRECTION)
    second = fact("For packages use pnpm here in workspaces", "b", "s2", days=2, kind=FactKind.CORRECTION)
    diff, after = night([first, second])
    [gist] = [each for each in after.values() if each.tier is MemoryTier.LONG_TERM]
    assert gist.text == second.text and gist.derived_from == ("a", "b") and gist.origin is Origin.USER
    assert after["b"].state is State.ARCHIVED and after["a"].state is State.ACTIVE
    assert [change.action for change in diff.changes] == [ChangeAction.GIST]


def test_one_session_makes_no_knowledge_and_neither_do_two_preferences() -> None:
    one, other = "Use pnpm here for installing packages", "For packages use pnpm here in workspaces"
    assert actions([fact(one, "a", kind=FactKind.CORRECTION), fact(other, "b", kind=FactKind.CORRECTION)]) == []
    assert actions([fact(one, "a"), fact(other, "b", "s2")]) == []


def test_what_carries_no_weight_makes_no_knowledge_however_often_it_is_said() -> None:
    one, other = "Use pnpm here for installing packages", "For packages use pnpm here in workspaces"
    for weight, made in ((0.5, []), (0.8, [ChangeAction.GIST])):
        facts = [fact(one, "a", kind=FactKind.CORRECTION, importance=weight)]
        facts.append(fact(other, "b", "s2", kind=FactKind.CORRECTION, importance=weight))
        assert actions(facts) == made


def test_what_tools_and_the_web_say_makes_no_knowledge() -> None:
    texts = [
        "Use pnpm here for installing packages",
        "For packages use pnpm here in workspaces",
        "Use pnpm here, packages",
    ]
    for origin in (Origin.TOOL, Origin.WEB, Origin.SUBAGENT):
        facts = [fact(text, f"{n}", f"s{n}", origin=origin, kind=FactKind.CORRECTION) for n, text in enumerate(texts)]
        assert ChangeAction.GIST not in actions(facts)


def test_what_fits_knowledge_becomes_one_more_source_of_it_once() -> None:
    known = fact(
        "Use pnpm here for installing packages", "k", tier=MemoryTier.LONG_TERM, derived_from=("x", "y"), sessions=2
    )
    new = fact("For packages use pnpm here in workspaces", "n", "s7", days=1)
    diff, after = night([known, new])
    assert [change.action for change in diff.changes] == [ChangeAction.ASSIMILATE]
    assert after["k"].derived_from == ("x", "y", "n") and after["k"].sessions == 3
    assert night(list(after.values()))[0].changes == ()


def test_what_many_sessions_bear_out_is_a_candidate_and_says_why() -> None:
    words = ["flag", "anchor", "rope", "sail", "boom", "mast"]
    facts = [
        fact(f"Use pnpm for installing packages {word}", f"f{n}", f"s{n}", days=n, kind=FactKind.CORRECTION)
        for n, word in enumerate(words)
    ]
    diff, after = night(facts)
    [candidate] = diff.candidates
    assert candidate.why == "6 corrections in 6 sessions" and after[candidate.mark].tier is MemoryTier.LONG_TERM


@settings(max_examples=50)
@given(stores())
def test_a_night_taken_back_leaves_everything_as_it_was(facts: list[Fact]) -> None:
    diff, after = night(facts)
    assert applied(after, inverse(diff.changes)) == {each.id: each for each in facts}


@settings(max_examples=50)
@given(stores())
def test_a_second_night_changes_nothing(facts: list[Fact]) -> None:
    diff, after = night(facts)
    again = plan(snapshot(list(after.values())), NOW, Rules(), numbered())
    assert [(change.action, change.why) for change in again.changes] == [] or diff.thrown


@settings(max_examples=50)
@given(stores())
def test_trust_is_never_gained_and_nothing_restricted_is_opened(facts: list[Fact]) -> None:
    _, after = night(facts)
    before = {each.id: each for each in facts}
    places = {origin: place for place, origin in enumerate(Origin)}
    for id, each in after.items():
        sources = [before[id]] if id in before else [after[source] for source in each.derived_from]
        assert all(places[each.origin] >= places[source.origin] for source in sources)
        assert id in before or all(source.sensitivity is not Sensitivity.RESTRICTED for source in sources)
        assert id not in before or before[id].text == each.text
        assert id not in before or (
            (each.sensitivity is Sensitivity.RESTRICTED) is (before[id].sensitivity is Sensitivity.RESTRICTED)
        )
        assert id not in before or not before[id].pinned or each.state is before[id].state


@given(stores())
def test_the_same_snapshot_gives_the_same_night(facts: list[Fact]) -> None:
    assert night(facts) == night(list(reversed(facts)))


def test_what_has_faded_is_told_in_one_order_whatever_order_it_was_found_in() -> None:
    old = [fact(f"Word{n} is another{n} thing{n}", f"o{n}", days=-2000.0, confidence=0.2) for n in range(2)]
    kept = [fact(f"Sail{n} is another{n} boom{n}", f"k{n}") for n in range(3)]
    assert len(night([*old, *kept])[0].changes) == 2
    assert night([*old, *kept]) == night([*reversed(kept), *reversed(old)])
