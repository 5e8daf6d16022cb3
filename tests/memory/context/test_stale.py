"""What is stale, whatever the tools are called."""

from __future__ import annotations

from typing import Any

import pytest

from memory.actions import ActionKind, actions, parts_of
from memory.context.retention_value import PICTURE, REPEATED, REPLANNED, REREAD, REWRITTEN, SOLVED, stale
from memory.conversation import Image, Role, Text
from tests.memory.context.sessions import Round, rounds, said, session

LONG = "def parse(text):\n    return text.split('-')\n" * 5
OTHER = "def parse(text):\n    return text.split('/')\n" * 5


def why(*played: Round, failed: tuple[int, ...] = ()) -> dict[int, str]:
    """For each round whose result is stale, why."""
    conversation = session(*rounds(*played, failed=failed))
    found = stale(parts_of(conversation), actions(conversation))
    return {(message - 3) // 2: reason for (message, _), reason in found.items() if message % 2}


READS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "/w/src/dates.py"}),
    ("read", {"filePath": "/w/src/dates.py"}),
    ("read_file", {"absolute_path": "/w/src/dates.py"}),
    ("view", {"file_path": "/w/src/dates.py"}),
    ("mcp__fs__open", {"path": "/w/src/dates.py"}),
    ("read_files", {"files": [{"path": "/w/src/dates.py"}]}),
    ("read_many_files", {"paths": ["/w/src/dates.py"]}),
    ("shell", {"command": ["bash", "-lc", "cat /w/src/dates.py"]}),
    ("exec_command", {"cmd": "nl -ba /w/src/dates.py", "workdir": "/w"}),
    ("text_editor", {"command": "cat /w/src/dates.py"}),
    ("run_commands", {"commands": ["cat /w/src/dates.py"]}),
]
WRITES: list[tuple[str, dict[str, Any] | str]] = [
    ("Edit", {"file_path": "/w/src/dates.py", "old_string": "a", "new_string": "b"}),
    ("edit", {"filePath": "/w/src/dates.py", "oldString": "a", "newString": "b"}),
    ("write_file", {"file_path": "/w/src/dates.py", "content": "x"}),
    ("write", {"path": "/w/src/dates.py", "content": "x"}),
    ("apply_patch", "*** Begin Patch\n*** Update File: /w/src/dates.py\n@@\n-a\n+b\n*** End Patch"),
    ("apply_patch", {"input": "*** Begin Patch\n*** Update File: /w/src/dates.py\n@@\n-a\n+b\n*** End Patch"}),
    ("apply_diff", {"path": "/w/src/dates.py", "diff": "<<<< SEARCH"}),
    ("shell", {"command": ["bash", "-lc", "sed -i 's/a/b/' /w/src/dates.py"]}),
]


@pytest.mark.parametrize(("name", "arguments"), READS)
def test_a_file_read_again_makes_the_first_read_stale(name: str, arguments: dict[str, Any]) -> None:
    assert why((name, arguments, LONG), (name, arguments, OTHER)) == {0: REREAD}


@pytest.mark.parametrize(("name", "arguments"), READS)
@pytest.mark.parametrize(("writer", "change"), WRITES)
def test_a_file_changed_since_makes_its_read_stale(
    name: str, arguments: dict[str, Any], writer: str, change: dict[str, Any] | str
) -> None:
    assert why((name, arguments, LONG), (writer, change, "ok")) == {0: REWRITTEN}


def test_a_change_that_failed_makes_nothing_stale() -> None:
    read, change = {"path": "a.py"}, {"path": "a.py", "content": "x"}
    assert why(("read", read, LONG), ("write", change, "Error: denied"), failed=(1,)) == {}


def test_some_lines_are_stale_when_more_are_read_and_not_the_other_way_round() -> None:
    part = {"file_path": "a.py", "offset": 10, "limit": 20}
    whole = {"file_path": "a.py"}
    assert why(("Read", part, LONG), ("Read", whole, OTHER)) == {0: REREAD}
    assert why(("Read", whole, LONG), ("Read", part, OTHER)) == {}


def test_lines_printed_by_a_shell_are_stale_when_more_are_printed() -> None:
    def shown(lines: str) -> dict[str, Any]:
        return {"cmd": f"sed -n '{lines}p' src/a.go"}

    assert why(("exec_command", shown("10,20"), LONG), ("exec_command", shown("1,200"), OTHER)) == {0: REREAD}
    assert why(("exec_command", shown("10,20"), LONG), ("exec_command", shown("30,40"), OTHER)) == {}


def test_an_error_is_solved_when_the_same_command_succeeds() -> None:
    command = {"command": "make test"}
    found = why(("Bash", command, f"Exit code 2\n{LONG}"), ("Bash", command, OTHER), failed=(0,))
    assert set(found) == {0} and found[0] in (SOLVED, REREAD)
    assert why(("Bash", command, LONG), ("Bash", command, f"Exit code 2\n{OTHER}"), failed=(1,)) == {}


def test_an_output_that_comes_again_is_stale_and_a_short_one_is_not() -> None:
    assert why(("Grep", {"pattern": "a"}, LONG), ("Grep", {"pattern": "b"}, LONG)) == {0: REPEATED}
    assert why(("Edit2", {"x": "a"}, "ok"), ("Edit2", {"x": "b"}, "ok")) == {}


def test_of_the_plans_only_the_newest_stays() -> None:
    def todo(state: str) -> dict[str, Any]:
        return {"todos": [{"content": "write it", "status": state}]}

    conversation = session(*rounds(("todowrite", todo("pending"), "ok"), ("todowrite", todo("done"), "ok")))
    found = stale(parts_of(conversation), actions(conversation))
    assert found == {(2, 0): REPLANNED, (3, 0): REPLANNED}


def test_old_pictures_are_stale() -> None:
    pictures = [said(Role.USER, Image(f"data:image/png;base64,{n}"), Text("look")) for n in range(3)]
    conversation = session(*pictures)
    assert stale(parts_of(conversation), []) == {(2, 0): PICTURE, (3, 0): PICTURE}


def test_ids_that_come_again_belong_to_the_nearest_call() -> None:
    both = [*rounds(("Read", {"path": "a"}, LONG)), *rounds(("Read", {"path": "b"}, OTHER))]
    assert [action.result for action in actions(session(*both))] == [(3, 0), (5, 0)]


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "null", '"x"', '{"path": 3}', '{"command": []}', '{"todos": [1]}']
)
def test_odd_arguments_are_an_action_of_no_kind(arguments: str) -> None:
    conversation = session(*rounds(("thing", arguments, LONG)))
    assert [action.kind for action in actions(conversation)] == [ActionKind.OTHER]
