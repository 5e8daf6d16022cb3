"""What a conversation's tool calls did: what they read, wrote, ran or planned, and where the answer stands.

Runtimes name their tools and arguments as they like, and MCP servers too; so a call is known by the shape of its
arguments (a path, a command, new content, a list of steps with their states) and by the verbs in its name, not by a
list of tools. Whatever cannot be read is an action of no kind: nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from memory.conversation import Conversation, Image, Text, ToolCall, ToolResult

Place = tuple[int, int]
"""A part of a conversation: the message's index, and the part's in it."""


class ActionKind(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    RUN = "run"
    PLAN = "plan"
    DELEGATE = "delegate"
    OTHER = "other"


class ToolAction(NamedTuple):
    """One tool call with the place of its result, None where there is none (yet).

    ``about`` is the same for two calls that ask for the same thing; ``paths`` are the files that it names; ``lines``
    the part of the file that it reads, from and (not included) to; ``command`` the shell command that it runs.
    """

    call: Place
    result: Place | None
    name: str
    kind: ActionKind
    about: str
    paths: tuple[str, ...] = ()
    lines: tuple[float, float] = (0, float("inf"))
    command: str = ""
    failed: bool = False


class Parts(NamedTuple):
    """The parts of a conversation that more is asked of than what they say, with their places: its calls, its results,
    and where pictures stand (also inside results)."""

    calls: list[tuple[Place, ToolCall]]
    results: list[tuple[Place, ToolResult]]
    pictures: list[Place]


def parts_of(conversation: Conversation) -> Parts:
    """They are asked for several times for one plan: gathered once."""
    found = Parts([], [], [])
    for index, message in enumerate(conversation.messages):
        for number, part in enumerate(message.parts):
            kind = type(part)
            if kind is Text:
                continue
            if isinstance(part, ToolResult):
                found.results.append(((index, number), part))
                if Image in map(type, part.content):
                    found.pictures.append((index, number))
            elif isinstance(part, ToolCall):
                found.calls.append(((index, number), part))
            elif kind is Image:
                found.pictures.append((index, number))
    return found


def actions(conversation: Conversation, parts: Parts | None = None) -> list[ToolAction]:
    """The conversation's calls, in their order; ``parts`` are its own where they are gathered already."""
    calls, given, _ = parts if parts is not None else parts_of(conversation)
    results: dict[str, list[tuple[Place, ToolResult]]] = {}
    for answer in given:
        id = answer[1].call_id
        if id in results:
            results[id].append(answer)
        else:
            results[id] = [answer]
    found = []
    for place, call in calls:
        # Ids may come again in another turn: a result belongs to the nearest call before it.
        for at, result in results.get(call.id, ()):
            if at > place:
                found.append(action(place, call, at, result))
                break
        else:
            found.append(action(place, call, None, None))
    return found


def action(place: Place, call: ToolCall, at: Place | None, result: ToolResult | None) -> ToolAction:
    """What one call did."""
    shape = _shape(call.name, call.arguments)
    about = shape.about or f"{call.name} {call.arguments}"
    return ToolAction(
        place, at, call.name, shape.kind, about, shape.paths, shape.lines, shape.command, _has_failed(result)
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a call's name and arguments tell; an empty ``about`` stands for both."""

    kind: ActionKind
    paths: tuple[str, ...] = ()
    lines: tuple[float, float] = (0, float("inf"))
    command: str = ""
    about: str = ""


# A session's calls are looked at again in each of its requests.
@lru_cache(maxsize=4096)
def _shape(name: str, raw: str) -> _Shape:
    arguments = _object(raw)
    command = _command(arguments)
    paths = tuple(_paths(arguments)) if arguments else ()
    verbs = _verbs(name)
    if _is_plan(verbs, arguments):
        return _Shape(ActionKind.PLAN)
    if patched := tuple(dict.fromkeys(_PATCHED.findall(_patch_text(raw, arguments, command)))):
        return _Shape(ActionKind.WRITE, patched, command=command, about=command)
    if command:
        written, read, lines = _files_of_command(command)
        if written:
            return _Shape(ActionKind.WRITE, written, command=command, about=command)
        return _Shape(ActionKind.READ if read else ActionKind.RUN, read or paths, lines, command, command)
    if verbs & _DELEGATING and any(isinstance(arguments.get(key), str) for key in _ERRANDS):
        return _Shape(ActionKind.DELEGATE, paths)
    if paths and (verbs & _WRITING or any(key in arguments for key in _CONTENTS)):
        return _Shape(ActionKind.WRITE, paths)
    if paths and not verbs & _SEARCHING:
        return _Shape(ActionKind.READ, paths, _requested_lines(arguments), about=f"{name} {paths[0]}")
    return _Shape(ActionKind.OTHER, paths)


_WRITING = frozenset(
    {"write", "edit", "patch", "replace", "create", "insert", "apply", "update", "delete", "multiedit"}
)
_SEARCHING = frozenset({"grep", "glob", "search", "find", "list", "ls", "tree", "query", "rg"})
_DELEGATING = frozenset({"task", "agent", "subagent", "spawn", "delegate", "sessions"})
_PLANNING = frozenset({"todo", "todos", "todowrite", "plan", "todolist"})
_CONTENTS = (
    *("content", "contents", "file_text", "insert_text", "new_string", "newString", "new_str", "newText", "new_text"),
    *("old_string", "oldString", "old_str", "replacement", "replace", "edits", "diff", "patch"),
)
_COMMANDS = ("command", "cmd", "script", "commandLine", "CommandLine")
_ERRANDS = ("prompt", "task", "message", "description", "instructions", "input")
_STATES = ("status", "state", "done", "completed", "checked")
_PATH_KEY = re.compile(r"(?:path|file|file_?name|uri|notebook)s?$", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: ([^\n]*\S)[ \t\r]*$", re.MULTILINE)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MOST_READ = 400_000


def _object(arguments: str) -> Mapping[str, Any]:
    if len(arguments) > _MOST_READ:
        return {}
    try:
        read = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _verbs(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name)) | {name.lower()}


def _command(arguments: Mapping[str, Any]) -> str:
    for key in _COMMANDS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "the script"] is the script; any other list is the command's words.
            return str(value[-1] if len(value) == 3 and value[1].startswith("-") else " ".join(value)).strip()
    several = arguments.get("commands")
    if isinstance(several, list) and several and all(isinstance(each, str) for each in several):
        return " && ".join(each.strip() for each in several)
    return ""


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for key, value in arguments.items():
        if not _PATH_KEY.search(key):
            continue
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):  # Cline reads several files at once, each with its lines
                yield from _paths(one)
            elif isinstance(one, str) and 0 < len(one) < 1000 and "\n" not in one:
                yield _plain(one)


def _plain(path: str) -> str:
    return path.strip().strip("\"'").removeprefix("file://").removeprefix("./")


def _patch_text(raw: str, arguments: Mapping[str, Any], command: str) -> str:
    if "*** " not in raw:
        return ""
    return "\n".join([command, *(value for value in arguments.values() if isinstance(value, str))]) or raw


def _is_plan(verbs: frozenset[str], arguments: Mapping[str, Any]) -> bool:
    if not verbs & _PLANNING and len(arguments) > 2:
        return False
    for value in arguments.values():
        if isinstance(value, list) and value and all(isinstance(step, dict) for step in value):
            return any(key in step for step in value for key in _STATES)
        if verbs & _PLANNING and isinstance(value, str) and "- [" in value:
            return True
    return False


def _requested_lines(arguments: Mapping[str, Any]) -> tuple[float, float]:
    def number(*keys: str) -> float | None:
        for key in keys:
            value = arguments.get(key)
            if isinstance(value, str) and value.isdecimal():
                value = int(value)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
        return None

    first = number("offset", "start_line", "startLine", "line_number", "start", "from") or 0
    last = number("end_line", "endLine", "end", "to")
    count = number("limit", "count", "num_lines", "lines")
    if last is not None and last >= 0:
        return first, last + 1
    return first, first + count if count is not None else float("inf")


_READING = re.compile(
    r"(?:(?:cat|nl|bat|less|more|type|Get-Content)(?:\s+-\w+)*\s+(?P<whole>[^\s|;&<>$*]+)"
    r"|sed\s+-n\s+['\"]?(?P<from>\d+),(?P<to>\d+)p['\"]?\s+(?P<cut>[^\s|;&<>$*]+)"
    r"|head\s+(?:-n\s*|-)(?P<head>\d+)\s+(?P<top>[^\s|;&<>$*]+))"
    r"(?:\s*\|\s*(?:nl\s+-ba|cat\s+-n))?(?:\s*\|\s*sed\s+-n\s+['\"]?(?P<first>\d+),(?P<last>\d+)p['\"]?)?\s*\Z"
)
_TURN = re.compile(r"\A\s*cd\s+\S+\s*&&\s*")
_SHELL_WRITING = re.compile(
    r"(?:>>?[ \t]*|\btee\s+(?:-a\s+)?|\bsed\s+-i\S*\s+(?:-e\s+)?(?:'[^']*'|\"[^\"]*\")\s+)"
    r"(?P<path>[\w./~-]*[\w~-][\w./-]*)"
)
_NOWHERE = re.compile(r"\A(?:/dev/|\d+\Z|&)")


def _files_of_command(command: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[float, float]]:
    """The files that a shell command writes, those that it only prints, and which lines of them."""
    text = _TURN.sub("", command[:4000])
    written = tuple(
        _plain(found["path"]) for found in _SHELL_WRITING.finditer(text) if not _NOWHERE.match(found["path"])
    )
    found = _READING.match(text)
    if written or found is None:
        return written, (), (0, float("inf"))
    path = found["whole"] or found["cut"] or found["top"]
    begin, end = found["from"] or found["first"], found["to"] or found["last"] or found["head"]
    return (), (_plain(path),), (float(begin or 0), float(end) + 1 if end else float("inf"))


_FAILED_AT_ONCE = re.compile(r"\s*(?:<tool_use_error>|Error\b|error:|Traceback |fatal:|FAIL\b)")
_FAILED_EXIT = re.compile(r"(?:xit(?:ed with)?(?: [Cc]ode|ed with code)?:? |\"exit_code\":\s*)[1-9]\d*\b")


def _has_failed(result: ToolResult | None) -> bool:
    """Whether a call failed: the runtime says so, or the beginning or the end of what it printed does."""
    if result is None:
        return False
    text = result.text
    if result.failed or _FAILED_AT_ONCE.match(text):
        return True
    ends = text[:400] + "\n" + text[-200:] if len(text) > 600 else text
    return "xit" in ends and _FAILED_EXIT.search(ends) is not None
