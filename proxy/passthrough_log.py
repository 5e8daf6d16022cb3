"""Which clients were passed on without memory, and where: what a person would wonder about who misses it.

No name that a person chose is kept: of a client the name of its program, of a path the words that are an API's own.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

MOST = 50
"""Kinds of requests that are told apart; further ones are counted as one."""

_PROGRAM = re.compile(r"[A-Za-z][\w.@-]{0,40}(?:/[A-Za-z][\w-]{0,30})?")
_WORD = re.compile(r"v\d[a-z0-9]{0,6}|[A-Za-z_-]{1,30}")
_NAMES_BEHIND = frozenset({"models", "deployments", "engines", "model", "tunedModels", "projects", "threads"})


class PassthroughKind(NamedTuple):
    """A kind of request: what program sent it, its method and path, and why memory took no part."""

    client: str
    path: str
    why: str


class PassthroughLog:
    """Counts them since the server was started."""

    def __init__(self) -> None:
        self._seen: Counter[PassthroughKind] = Counter()

    def add(self, agent: str, method: str, path: str, why: str) -> None:
        """One more request."""
        kind = PassthroughKind(program(agent), f"{method} {shape(path)}", why)
        if kind not in self._seen and len(self._seen) >= MOST:
            kind = PassthroughKind("others", "", "")
        self._seen[kind] += 1

    @property
    def counted(self) -> list[tuple[PassthroughKind, int]]:
        """Every kind and how often it was seen, the most frequent first."""
        return self._seen.most_common()


def program(agent: str) -> str:
    """The program that a user agent names, without its version."""
    found = _PROGRAM.match(agent)
    return found[0] if found else "unknown"


def shape(path: str) -> str:
    """A path without its query, in which whatever may be a name is a star."""
    parts: list[str] = []
    for segment in path.partition("?")[0].strip("/").split("/")[:6]:
        if not segment:
            continue
        name, colon, method = segment.partition(":")
        plain = _WORD.fullmatch(name) is not None and not (parts and parts[-1] in _NAMES_BEHIND)
        parts.append((name if plain else "*") + (colon + method if _WORD.fullmatch(method) else ""))
    return "/" + "/".join(parts)
