"""What is done again and again is a habit; what is broken half-way is none."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memory.behaviour import WorkStep
from memory.learning.behaviour.habits import Bounds, mine
from tests.memory.learning.behaviour.making import did

FEW = Bounds(sessions=3, occasions=3, edits=3)


def steps(*sessions: tuple[str, ...]) -> list[WorkStep]:
    return [step for number, each in enumerate(sessions) for step in did(f"s{number}", *each)]


def test_a_sequence_of_three_sessions_is_told_with_its_support() -> None:
    work = ("?asks", "cargo fmt", "cargo clippy", "git commit", "?accepts")
    [sequel] = mine(steps(work, work, work), FEW).sequences
    assert sequel.families == ("cargo fmt", "cargo clippy", "git commit")
    assert (sequel.sessions, sequel.times, sequel.kept) == (3, 3, 1.0)


def test_two_sessions_are_not_enough() -> None:
    work = ("cargo fmt", "git commit")
    assert mine(steps(work, work), FEW).sequences == ()


def test_a_sequence_that_a_person_or_a_failure_ends_is_no_instance() -> None:
    spoken = ("cargo fmt", "?asks", "git commit")
    failed = ("cargo fmt", "!cargo test", "git commit")
    assert mine(steps(spoken, spoken, spoken, failed, failed, failed), FEW).sequences == ()


def test_a_habit_that_is_broken_half_way_more_often_than_kept_is_not_told_as_one() -> None:
    whole, broken = ("fmt", "lint", "commit"), ("fmt", "lint", "deploy")
    told = mine(steps(*[whole] * 3, *[broken] * 9), FEW).sequences
    assert ("fmt", "lint", "deploy") in [each.families for each in told]
    assert all(each.families[-1] != "commit" for each in told)


def test_what_was_interrupted_is_not_held_against_a_habit() -> None:
    whole, interrupted = ("fmt", "lint", "test"), ("fmt", "lint", "!test")
    told = mine(steps(*[whole] * 3, *[interrupted] * 9), FEW).sequences
    assert (("fmt", "lint", "test"), 1.0) in [(each.families, each.kept) for each in told]


def test_the_same_step_many_times_running_is_one() -> None:
    work = ("edit *.go", "edit *.go", "edit *.go", "go test", "go test")
    [sequel] = mine(steps(work, work, work), FEW).sequences
    assert (sequel.families, sequel.times) == (("edit *.go", "go test"), 3)


def test_what_is_run_after_an_edit_is_a_trigger_though_it_failed() -> None:
    turn = ("edit *.go", "git status", "!go test", "?asks")
    habits = mine(steps(turn, turn, turn), FEW)
    assert ("edit *.go", "go test", 3, 3) in [(t.when, t.then, t.times, t.occasions) for t in habits.triggers]


def test_a_convention_needs_many_edits_and_few_exceptions() -> None:
    def traits(session: str, answer: str) -> WorkStep:
        return replace(did(session, "edit *.py")[0], traits={"files are named": answer})

    kept = [traits(f"s{n}", "with_underscores") for n in range(9)]
    assert [c.answer for c in mine(kept, FEW).conventions] == ["with_underscores"]
    assert mine([*kept, *[traits("s9", "with-hyphens")] * 4], FEW).conventions == ()


def test_what_was_given_up_is_a_habit_no_longer() -> None:
    old, new = ("fmt", "lint", "test"), ("fmt", "check", "ship")
    assert len(mine(steps(*[old] * 6, *[new] * 9), FEW).sequences) == 2
    [sequel] = mine(steps(*[old] * 6, *[new] * 12), FEW).sequences
    assert sequel.families == new


def test_how_sessions_ended() -> None:
    ended = mine(
        steps(
            ("?asks", "edit a", "git commit"),
            ("?asks", "edit a", "?accepts"),
            ("?asks", "edit a", "!go test"),
            ("?asks", "edit a", "?stops"),
            ("?asks", "edit a", "?corrects", "edit a"),
            ("?asks", "edit a"),
        )
    ).ended
    expected = ["finished", "finished", "abandoned", "abandoned", "corrected", "unclear"]
    assert [each.outcome for each in ended] == expected
    assert ended[2].unsolved is not None and ended[2].unsolved.family == "go test"


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "!a", "?asks", "edit x"]), min_size=1), max_size=6))
def test_support_is_never_more_than_there_was(sessions: list[list[str]]) -> None:
    done = steps(*map(tuple, sessions))
    for sequel in mine(done, Bounds(sessions=1)).sequences:
        assert 1 <= sequel.sessions <= len(sessions)
        assert sequel.sessions <= sequel.times <= len(done)
        assert len(set(sequel.families)) == len(sequel.families)
