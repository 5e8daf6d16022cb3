"""What runtimes put around the output of a command or a tool, taken off: the exit code, and the output itself.

Knows the frames of the common runtimes (a head that ends in "Output:", a first line "Exit code 1", JSON with an
"output", a list of text blocks), and nothing of what the output is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

_HEAD = re.compile(r"\A\s{0,4}(?:[A-Z][A-Za-z ]{2,30}[: ][^\n]{0,400}\n){0,8}?Output:[ ]?\n?")
_EXIT = re.compile(r"(?:[Ee]xit(?:ed with)? ?[Cc]ode:? |[Ee]xited with code |<returncode>|<exit_code>)(-?\d{1,6})\b")
_FIRST_LINE = re.compile(r"\A(?:Error: )?(?:Command failed with )?[Ee]xit code:? (-?\d{1,6})\n")
_TAIL = re.compile(
    r"\n(?:Exit Code|exit code|Exit code): (-?\d{1,6})\b[^\n]{0,200}(?:\n[A-Z][\w ]{2,30}: [^\n]{0,200}){0,4}\s{0,8}\Z"
)
# Claude Code and its kin put reminders of their own into results; the same words in every one of them.
_REMINDER: Final = ("<system-reminder>", "</system-reminder>")
_BLOCKS = re.compile(r'\A\s{0,8}(?:\[\s{0,8}\{\s{0,8}"(?:type|text)"|\{\s{0,8}"(?:output|stdout|content)")\s{0,4}:')
_MOST_PARSED: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class UnframedOutput:
    """An output without its frame."""

    body: str
    exit: int | None
    """The exit code, None where none is told."""


def unframed(text: str) -> UnframedOutput:
    """The output in a tool's result, and how the command ended."""
    if _REMINDER[0] in text:
        text = _without_reminders(text)
    if _BLOCKS.match(text) and len(text) <= _MOST_PARSED and (inner := _in_json(text)) is not None:
        return inner
    if head := _HEAD.match(text):
        exit_line = _EXIT.search(head[0])
        body = text[head.end() :]
        if exit_line is None and (tail := _TAIL.search(body[-1200:])):
            return UnframedOutput(body, int(tail[1]))
        return UnframedOutput(body, int(exit_line[1]) if exit_line else None)
    if first := _FIRST_LINE.match(text):
        return UnframedOutput(text[first.end() :], int(first[1]))
    if exit_line := _EXIT.search(text[:200]) or _EXIT.search(text[-200:]):
        return UnframedOutput(text, int(exit_line[1]))
    return UnframedOutput(text, None)


def _without_reminders(text: str) -> str:
    """The text without the reminders of the runtime, unless it is nothing but these; one that does not end is text."""
    head, *others = text.split(_REMINDER[0])
    lines = [head]
    for other in others:
        _, end, rest = other.rpartition(_REMINDER[1])
        lines.append(rest if end else _REMINDER[0] + other)
    without = "".join(lines)
    return without if without.strip() else text


def _in_json(text: str) -> UnframedOutput | None:
    """The output where JSON is only its envelope: nothing else in it is large."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match value:
        case list() if all(isinstance(each, dict) and isinstance(each.get("text"), str) for each in value):
            return UnframedOutput("\n".join(each["text"] for each in value), None)
        case dict():
            for key in ("output", "stdout", "content"):
                inner = value.get(key)
                if isinstance(inner, str) and len(inner) * 4 > len(text) * 3:
                    return UnframedOutput(inner, _code(value))
    return None


def _code(value: dict[str, object]) -> int | None:
    for holder in (value, value.get("metadata")):
        if isinstance(holder, dict):
            for key in ("exit_code", "exitCode", "returncode", "code"):
                if isinstance(holder.get(key), int):
                    return int(holder[key])
    return None
