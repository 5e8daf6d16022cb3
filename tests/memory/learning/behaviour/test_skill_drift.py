"""What speaks against an approved skill: its steps begun and left out, and nothing else."""

from __future__ import annotations

from datetime import timedelta

from memory.learning.behaviour.habits import Bounds, mine
from memory.learning.behaviour.skills import Omissions, SkillThresholds, lives_on, omissions, skills, steps_of
from tests.memory.learning.behaviour.making import AT, did
from tests.memory.learning.behaviour.test_habits import steps

WORK = ("fmt", "lint", "test")
BEFORE = AT - timedelta(days=1)
FEW = Bounds(sessions=2)


def test_what_was_begun_and_not_carried_through_counts() -> None:
    done = steps(WORK, ("fmt", "deploy"), ("fmt", "lint", "?asks", "fmt", "lint", "ship"), ("deploy", "ship"))
    assert omissions(done, WORK, BEFORE) == Omissions(times=3, sessions=2)


def test_what_was_done_before_the_approval_and_what_was_interrupted_do_not() -> None:
    done = steps(("fmt", "deploy"), ("fmt", "lint", "!test"))
    assert omissions(done, WORK, BEFORE) == Omissions(times=1, sessions=1)
    assert omissions(done, WORK, AT + timedelta(days=1)) == Omissions()


def test_a_habit_that_became_longer_lives_on() -> None:
    longer = mine(steps(*[(*WORK, "commit")] * 3), FEW)
    assert lives_on(WORK, longer) and lives_on(WORK[1:], longer)
    assert not lives_on(("fmt", "test"), longer)


def test_the_steps_of_a_skill_stand_in_its_mark() -> None:
    habits = mine([step for number in range(9) for step in did(f"s{number}", "go fmt", "go vet", "go test")], FEW)
    [skill] = skills(habits, SkillThresholds(5, 8))
    assert steps_of(skill.mark) == skill.sequel.families == ("go fmt", "go vet", "go test")
    assert steps_of("retire 7 of 9: a → b") == ()
