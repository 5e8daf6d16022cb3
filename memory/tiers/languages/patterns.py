"""Outlines by lines, for languages without a grammar: which lines define something, and how deep they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_GENERIC = re.compile(
    r"(?:(?:export|public|private|protected|internal|static|abstract|final|async|pub|local|sealed|override|virtual)\s+)*"
    r"(?:def|defp|defn|defmodule|defun|func|fun|fn|function|sub|proc|class|interface|struct|enum|trait|impl|module|"
    r"namespace|package|type|typedef|record|object|protocol|extension|macro|const|val|task|describe|contract|library|"
    r"rule|service|message|rpc|query|mutation|input|model|scalar|union|resource|data|variable|output|provider)\b\s*\S"
    r"|\w[\w ]* = function\b|#\s*define\s|\w[\w.]*\s*:=\s*(?:proc|func)"
)
_PATTERNS: dict[str, re.Pattern[str]] = {
    "powershell": re.compile(
        r"(?i:function|filter|class|enum|param|workflow|configuration)\b|\$(?:script|global):\w+ ="
    ),
    "sql": re.compile(r"(?i:create|alter|drop|insert into|with|grant|comment on|begin|declare|delimiter|merge into)\b"),
    "css": re.compile(r"[^\s{};][^{};]*\{|@\w|\$[\w-]+:|--[\w-]+:"),
    "html": re.compile(r"</?(?:script|template|style)\b|(?:export |async )*(?:const|function|class|type)\b|import\b"),
    "yaml": re.compile(r"(?:- )?[\w./\"'-][^#\n]{0,80}?:(?:\s|$)|---|- \S"),
    "toml": re.compile(r"\[|[\w.\"-]+\s*[=:]"),
    "make": re.compile(r"[\w./%$(){} -]+:(?!=)|[\w.]+\s*[:?+]?=|define\b|include\b|\.PHONY"),
    "docker": re.compile(r"(?i:from|arg|env|run|copy|add|workdir|expose|entrypoint|cmd|user|label|volume)\b"),
    "terraform": re.compile(r"(?:resource|data|variable|output|module|provider|locals|terraform)\b|\w+\s*=\s"),
    "proto": re.compile(r"(?:message|service|rpc|enum|oneof|package|import|option|syntax|struct|exception|typedef)\b"),
    "graphql": re.compile(r"(?:type|interface|input|enum|union|scalar|extend|schema|query|mutation|model)\b"),
}
# Languages that are lists of settings: the deeper a line stands, the less it names.
_NESTED = frozenset({"yaml", "toml", "terraform", "css", "make"})


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
