"""Outlines by lines, for languages without a grammar: which lines define something, and how deep they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory.tiers.languages.table import LANGUAGES

_GENERIC = re.compile(
    r"(?:(?:export|public|private|protected|internal|static|abstract|final|async|pub|local|sealed|override|virtual)\s+)*"
    r"(?:def|defp|defn|defmodule|defun|func|fun|fn|function|sub|proc|class|interface|struct|enum|trait|impl|module|"
    r"namespace|package|type|typedef|record|object|protocol|extension|macro|const|val|task|describe|contract|library|"
    r"rule|service|message|rpc|query|mutation|input|model|scalar|union|resource|data|variable|output|provider)\b\s*\S"
    r"|\w[\w ]* = function\b|#\s*define\s|\w[\w.]*\s*:=\s*(?:proc|func)"
)
_PATTERNS = {name: re.compile(told["defines"]) for name, told in LANGUAGES.items() if "defines" in told}
_NESTED = frozenset(name for name, told in LANGUAGES.items() if told.get("nested"))


def defining(name: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The rows that define something in this language, each with its depth: 0 at the left edge, at most 3."""
    pattern = _PATTERNS.get(name, _GENERIC)
    deepest = 2 if name in _NESTED else 3
    for row, line in enumerate(lines):
        bare = line.lstrip()
        if not bare or not pattern.match(bare[:200]):
            continue
        indent = line[: len(line) - len(bare)].expandtabs(4)
        depth = (len(indent) + 1) // 2 if name == "yaml" else (len(indent) + 3) // 4
        if depth <= deepest:
            yield row, depth
