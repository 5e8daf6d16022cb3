"""A recorded session, as every reader here gives it and as the server takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

Problem = Callable[[Path, int, str], None]
"""Told of what cannot be read: the file, its line from 1 (0 where it is the whole file), and why."""


@dataclass(slots=True)
class Transcript:
    """A session of an agent. ``path`` is where the wire format of its messages is spoken; ``at`` says when each of
    them was said (ISO 8601), ``copied`` which stood in an earlier session; ``directory`` is where the agent worked."""

    runtime: str
    session: str
    path: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    at: list[str] = field(default_factory=list)
    parent: str | None = None
    subagent: bool = False
    directory: str | None = None
    remote: str | None = None
    model: str = ""
    copied: list[int] = field(default_factory=list)

    def add(self, message: dict[str, Any], at: str, copied: bool = False) -> None:
        """One more message."""
        if copied:
            self.copied.append(len(self.messages))
        self.messages.append(message)
        self.at.append(at)

    def body(self) -> bytes:
        """As the server takes it."""
        return orjson.dumps(asdict(self))


def objects(file: Path, problem: Problem) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file, one a line, with the lines' numbers from 1.

    A last line without its end is being written at this moment, or was cut: it is passed over until it is whole.
    """
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                why = f"it is no JSON: {error}" if line.endswith(b"\n") else "the line was cut off"
                problem(file, number, why)
                continue
            if isinstance(value, dict):
                yield number, value
            else:
                problem(file, number, "it is no JSON object")


def time_of(value: object) -> str | None:
    """A time as ISO 8601 with its zone, out of such a text or of milliseconds since 1970; None where it is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000).astimezone().isoformat()
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone().isoformat() if at is not None and at.year > 1970 else None
    except (ValueError, OverflowError, OSError):
        return None


def text_of(value: object) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None
