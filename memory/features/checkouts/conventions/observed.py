"""All that a project's own files say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from memory.features.checkouts.conventions.ci import ci, is_ci
from memory.features.checkouts.conventions.commands import commands
from memory.features.checkouts.conventions.observation import Observation
from memory.features.checkouts.conventions.style import style
from memory.features.checkouts.conventions.tools import tools
from memory.features.checkouts.declared import MANIFESTS

MOST: Final = 40
"""Sentences about one project."""

_ALSO: Final = frozenset(
    (
        "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile",
        ".editorconfig", ".prettierrc", ".prettierrc.json", "tsconfig.json", "rustfmt.toml",
    )
)  # fmt: skip


def is_read(path: str) -> bool:
    """Whether a file is one that says how a project is worked on. What is written for agents is not among them: they
    read it themselves."""
    return path in MANIFESTS or path in _ALSO or is_ci(path)


def observed(texts: Mapping[str, str], there: Iterable[str]) -> tuple[Observation, ...]:
    """What files say, by their names and texts; ``there`` are the names of all at the root."""
    names = frozenset(there)
    found = (*commands(texts, names), *tools(texts, names), *style(texts), *ci(texts))
    return tuple({each.text: each for each in found}.values())[:MOST]
