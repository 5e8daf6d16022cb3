"""An exchange's steps: each once, in order, by what the calls do, never by who made the tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.behaviour import FeedbackSign, StepKind, StepOutcome, WorkStep
from memory.conversation import Message, Role, ToolCall
from memory.learning.behaviour.code_conventions import commit_traits, edit_traits
from memory.learning.behaviour.corrected_actions import corrected
from memory.learning.behaviour.steps import kind_of_file, sign_of, steps, window
from tests.memory.learning.behaviour.making import called, edited, exchange, message, person, ran


def found(*pieces: Sequence[Message], kind: str = "main", fresh: Sequence[int] | None = None) -> list[WorkStep]:
    journaled = exchange(*pieces, kind=kind, fresh=fresh)
    looked = window(journaled)
    return steps(journaled, looked) if looked else []


def test_calls_and_words_in_order() -> None:
    told = found(person("Go."), edited("a/b_test.go", "x", "y"), ran("go test ./... && git push", "ok"), ran("ls"))
    assert [(step.deed, step.family) for step in told] == [
        (StepKind.PERSON, FeedbackSign.ASKS),
        (StepKind.EDIT, "edit *_test.go"),
        (StepKind.RUN, "go test"),
        (StepKind.RUN, "git push"),
        (StepKind.LOOK, "ls"),
    ]


def test_a_call_that_nobody_answered_and_one_that_was_seen_before_are_no_steps() -> None:
    open_call = message(Role.ASSISTANT, ToolCall("z", "bash", '{"command": "make"}'))
    told = found(person("Go."), ran("make docs"), ran("make site"), [open_call], fresh=(3, 4, 5))
    assert [step.shape for step in told] == ["make site"]


def test_a_step_is_named_by_all_that_came_before_it() -> None:
    one = found(person("Go."), ran("make docs"), ran("make docs"))
    assert len({step.mark for step in one}) == 3
    assert [step.mark for step in one] == [
        step.mark for step in found(person("Go."), ran("make docs"), ran("make docs"))
    ]
    assert one[1].mark != found(person("Come."), ran("make docs"))[1].mark


def test_a_step_keeps_its_name_where_what_came_long_before_it_is_left_out() -> None:
    whole = exchange(person("Go."), ran("make docs"), ran("make site"), ran("make all"), fresh=(5, 6))
    left = replace(
        whole,
        messages=(*whole.messages[:1], *whole.messages[3:]),
        fresh=(3, 4),
        opening=1,
        between=tuple(message.digest for message in whole.messages[1:3]),
    )
    marks = [[step.mark for step in steps(each, looked)] for each in (whole, left) if (looked := window(each))]
    assert marks[0] == marks[1]
    assert len(marks[0]) == 1


def test_a_sub_agents_prompt_is_nobodys_word() -> None:
    assert [step.deed for step in found(person("Look."), ran("make docs"), kind="sub-agent")] == [StepKind.RUN]
    assert found(person("Look."), kind="side") == []


def test_what_the_person_did_not_let_be_done() -> None:
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    [_, step] = found(person("Go."), ran("rm -rf build", refused, failed=True))
    assert step.outcome is StepOutcome.REFUSED


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        ("Thanks, that works!", FeedbackSign.ACCEPTS),
        ("No, that's wrong, it must be UTC.", FeedbackSign.CORRECTS),
        ("[Request interrupted by user]", FeedbackSign.STOPS),
        ("Now add a test for leap years.", FeedbackSign.ASKS),
    ],
)
def test_what_a_persons_words_say_of_the_work(words: str, sign: FeedbackSign) -> None:
    assert sign_of(words) is sign


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a/b.go", "*.go"), ("b_test.go", "*_test.go"), ("test_a.py", "test_*.py"), ("x.spec.ts", "*.spec.ts"),
     ("Makefile", "Makefile"), ("C:\\a\\b.ps1", "*.ps1"), ("EOF", "<path>")],
)  # fmt: skip
def test_the_sort_of_a_file(path: str, kind: str) -> None:
    assert kind_of_file(path) == kind


def test_conventions_of_an_edit_and_of_a_commit() -> None:
    [_, call, *_] = [*person("x"), *edited("src/user-card.test.ts", "", "import a from './a';\nconst b = 1;\n")]
    [arguments] = [part.arguments for part in call.parts if isinstance(part, ToolCall)]
    traits = edit_traits(arguments, ("src/user-card.test.ts",))
    assert traits["import paths are quoted"] == "with single quotes"
    assert traits["statements end"] == "with semicolons"
    assert traits["tests of .ts files stand"] == "beside the code"
    assert "Conventional Commits" in commit_traits('git commit -m "feat(x): add y"')["commit titles"]
    assert commit_traits("git commit --amend") == {}


def test_a_correction_is_tied_to_the_action_that_it_means() -> None:
    journaled = exchange(
        person("Release it."), edited("a.py", "x", "y"), ran("git push --force", "ok"), ran("npm publish", "ok"),
        person("No, never use git push --force here, use a pull request."),
    )  # fmt: skip
    looked = window(journaled)
    assert looked is not None
    [each] = corrected(journaled, looked)
    assert (each.wrong, each.family) == ("`git push --force`", "git push")
    assert "pull request" in each.right


def test_a_new_wish_and_words_after_mere_looking_correct_nothing() -> None:
    for words, work in (("Now add a test.", edited("a.py", "x", "y")), ("No, that's wrong.", ran("ls", "a"))):
        journaled = exchange(person("Go."), work, person(words))
        looked = window(journaled)
        assert looked is not None and not list(corrected(journaled, looked))


@pytest.mark.parametrize(
    ("edit", "tied"), [("implementation('redis.clients:jedis:5.2.0')", ["the edit of build.gradle.kts"]), ("x", [])]
)
def test_one_thing_and_not_the_other_corrects_only_what_speaks_of_them(edit: str, tied: list[str]) -> None:
    journaled = exchange(
        person("Add the client."), edited("build.gradle.kts", "", edit),
        person("Use lettuce for the redis client, not jedis."),
    )  # fmt: skip
    looked = window(journaled)
    assert looked is not None
    assert [each.wrong for each in corrected(journaled, looked)] == tied


def test_what_a_runtime_says_in_the_persons_name_is_kept_with_the_call_that_was_refused() -> None:
    refused = "The user doesn't want to proceed with this tool use. The user said: use make clean instead"
    journaled = exchange(person("Go."), called("bash", {"command": "rm -rf build"}, refused, failed=True))
    looked = window(journaled)
    assert looked is not None
    [each] = corrected(journaled, looked)
    assert (each.wrong, each.right, each.refused) == ("`rm -rf build`", "use make clean instead", True)
