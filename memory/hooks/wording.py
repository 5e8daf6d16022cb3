"""Words that commands have in common."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import unquote

SHORT: Final = 8
"""Characters of an id that tell it from others."""


def count(number: int, what: str) -> str:
    """So many of something."""
    many = f"{what[:-1]}ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else f"{what}s"
    return f"{number} {what if number == 1 else many}"


def day(at: str | None) -> str:
    """The day of an ISO time."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d") if at else ""


def where(owner: str) -> str:
    """An owner's project, or that it holds everywhere."""
    layer, _, names = owner.partition(":")
    project = unquote(names.rpartition("/")[2]) if layer in ("up", "p") else "everywhere"
    return project if len(project) <= 24 else f"…{project[-23:]}"
