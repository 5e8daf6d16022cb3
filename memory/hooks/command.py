"""A command of a feature, as a value: which endpoint it asks, and how it tells the answer. Imports nothing heavy: the
command line reads it at every start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Command:
    """``palimpsest NAME``: asks ``GET api/PATH`` of those whose memories are meant (``takes``), prints ``lines`` of
    the answer, and takes ``--limit``, for which ``limited`` is the help and ``limit`` the default."""

    name: str
    help: str
    path: str
    lines: Callable[[Mapping[str, Any]], Iterable[str]]
    limited: str
    limit: int = 10
    takes: tuple[Literal["project", "at_here", "user"], ...] = ("project", "at_here", "user")


SHORT: Final = 8
"""Characters of an id that tell it from others."""


def count(number: int, what: str) -> str:
    """So many of something."""
    many = f"{what[:-1]}ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else f"{what}s"
    return f"{number} {what if number == 1 else many}"


def day(at: str | None) -> str:
    """The day of an ISO time."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d") if at else ""


def project_of(owner: str) -> str:
    """An owner's project; empty where it holds everywhere."""
    layer, _, names = owner.partition(":")
    return unquote(names.rpartition("/")[2]) if layer in ("up", "p") else ""


def where(owner: str) -> str:
    """An owner's project in short, or that it holds everywhere."""
    project = project_of(owner) or "everywhere"
    return project if len(project) <= 24 else f"…{project[-23:]}"
