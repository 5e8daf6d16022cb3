"""A command of a feature, as a value: which endpoint it asks, and how it tells the answer. Imports nothing heavy: the
command line reads it at every start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


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
