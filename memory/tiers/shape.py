"""What the tiers of a text are, and what is known of a text before it is read.

The nouns of this room: nothing here looks into a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MAX_LINE_CHARS = 160
"""The most characters that an L0 may have."""
MAX_OVERVIEW_CHARS = 6000
"""The most characters that an L1 may have, however long the text is."""
SHARE = 5
"""An L1 has at most one in so many of its text's characters."""

# The names that file and shell tools of the known runtimes give to what they work on; the first that is there wins.
_PATHS = (
    "path",
    "file_path",
    "filePath",
    "filename",
    "file",
    "target_file",
    "AbsolutePath",
    "TargetFile",
    "absolute_path",
    "notebook_path",
    "notebookPath",
    "uri",
)
_COMMANDS = ("command", "cmd", "script", "CommandLine", "commandLine")
# Arguments longer than this are a file's content, in which neither a path nor a command is worth the reading.
_MOST_READ = 2_000_000


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a text from the call that gave it; every field may be empty."""

    tool: str = ""
    """The name of the tool that gave the text."""
    arguments: str = ""
    """The call's arguments, JSON as on the wire."""
    path: str = ""
    """The file that the arguments name."""
    failed: bool = False
    """Whether the tool said that it failed."""
    command: str = ""
    """The shell command that the tool ran."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """The two lower tiers of a text; the text itself is L2."""

    line: str
    """L0: one line, at most :data:`MAX_LINE_CHARS` characters, without a newline."""
    overview: str
    """L1; empty where no overview is worth its place."""


Overview = Callable[[str, Hint, int], str | None]
"""Makes an overview of at most `limit` characters, or None where the text is not of its kind."""


def budget_of(text: str) -> int:
    """How many characters the L1 of this text may have."""
    return min(len(text) // SHARE, MAX_OVERVIEW_CHARS)


def hint_of(tool: str, arguments: str, failed: bool = False) -> Hint:
    """What a call tells of its result. Never raises: what cannot be read tells nothing."""
    read = _object(arguments)
    return Hint(
        tool=tool, arguments=arguments, path=_first(read, _PATHS), failed=failed, command=_first(read, _COMMANDS)
    )


def _object(arguments: str) -> Mapping[str, object]:
    if len(arguments) > _MOST_READ:
        return {}
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _first(read: Mapping[str, object], names: tuple[str, ...]) -> str:
    for name in names:
        match read.get(name):
            case str() as value if value.strip():
                return value
            case list() as values if values and all(isinstance(value, str) for value in values):
                return " ".join(str(value) for value in values)
    return ""
