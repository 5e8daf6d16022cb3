"""A habit that is borne out well enough is a skill that a runtime could load; anything else is none."""

from __future__ import annotations

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.behaviour.habits import mine
from memory.learning.behaviour.skills import NoSkill, Skill, SkillThresholds, head_of, numbered, skills
from tests.memory.learning.behaviour.making import did

WORK = ("edit *.go", "go vet", "go test", "?accepts")


def suggested(
    *sessions: tuple[str, ...],
    enough: SkillThresholds = SkillThresholds(sessions=3, times=3),  # noqa: B008
) -> list[Skill]:
    steps = [step for number, each in enumerate(sessions) for step in did(f"s{number}", *each)]
    return list(skills(mine(steps), enough))


def test_a_habit_becomes_a_file_of_the_format() -> None:
    [skill] = suggested(*[WORK] * 4)
    assert skill.name == "after-editing-go"
    front, body = skill.text.split("---\n", 2)[1:]
    told = yaml.safe_load(front)
    assert told["name"] == skill.name
    assert "`go vet`, then `go test`" in told["description"] and len(told["description"]) <= 1024
    for part in ("## When to use", "## Steps", "2. `go vet`", "## Evidence", "4 times in 4 sessions"):
        assert part in body
    assert head_of(skill.text).version == 1


def test_a_habit_of_too_few_sessions_or_of_one_command_is_none() -> None:
    assert suggested(*[WORK] * 4, enough=SkillThresholds(sessions=5)) == []
    assert suggested(*[("edit *.go", "go test")] * 9) == []


def test_other_steps_for_the_same_work_have_the_same_name_and_another_mark() -> None:
    [one] = suggested(*[WORK] * 4)
    [other] = suggested(*[("edit *.go", "go vet", "golangci-lint", "?asks")] * 4)
    assert one.name == other.name and one.mark != other.mark


def test_no_two_skills_for_the_same_work() -> None:
    whole, part = ("fmt", "lint", "test", "?asks"), ("lint", "test", "deploy", "?asks")
    assert len(suggested(*[whole] * 5, *[part] * 4)) == 1


@pytest.mark.parametrize("name", ["../../etc/x", "a/b", "..", "A-b", "a--b", "-a", "", "a" * 65, "a b", "a\\b"])
def test_a_name_that_would_leave_its_folder_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(NoSkill, match="must not leave"):
        head_of(f"---\nname: {name}\ndescription: x\n---\nbody")


@pytest.mark.parametrize(
    "text",
    [
        "no front",
        "---\nname: a\n---\n",
        "---\nname: a\nname: b\ndescription: x\n---\n",
        "---\nname: a\ndescription: x\n",
    ],
)
def test_what_is_no_skill_is_told(text: str) -> None:
    with pytest.raises(NoSkill):
        head_of(text)


def test_a_version_is_kept_in_the_frontmatter_whoever_wrote_it() -> None:
    plain = "---\nname: a\ndescription: x\nmetadata:\n  audience: all\n---\nbody\n"
    assert head_of(plain).version == 0
    second = numbered(plain, 2)
    assert head_of(second).version == 2 and yaml.safe_load(second.split("---\n")[1])["metadata"]["audience"] == "all"
    assert numbered(numbered(plain, 7), 2) == second
    assert second.endswith("---\nbody\n")


@given(st.text(max_size=300))
def test_any_text_is_a_skill_or_refused(text: str) -> None:
    with suppress(NoSkill):
        assert "/" not in head_of(f"---\n{text}\n---\n").name
