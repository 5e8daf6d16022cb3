"""Take secrets out of text before anything is stored, logged or embedded.

Deterministic, linear in the text's length, and idempotent: what stands in a secret's place is never taken for one.
The shapes are in :mod:`memory.learning.secret_patterns`, the names in :mod:`memory.learning.secret_assignments`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.learning.private_keys import find_private_keys
from memory.learning.secret_assignments import find_assigned
from memory.learning.secret_locations import find_located
from memory.learning.secret_patterns import find_issued


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without its secrets; how many were taken out, and of which kinds (sorted, each once)."""

    text: str
    count: int = 0
    kinds: tuple[str, ...] = ()


Span = tuple[int, int, str]

_PLACEHOLDER = re.compile(r"\[secret: [a-z0-9.]{1,20}(?: [a-z0-9.]{1,20}){0,3}\]")
# What a redaction uncovers is looked at again; the bound only guards against a text made to uncover for ever.
_ROUNDS = 8


def redact(text: str) -> Redacted:
    """The text with every secret replaced by a typed placeholder such as `[secret: github token]`.

    Never raises. Text without secrets comes back as the same object.
    """
    count, kinds = 0, set[str]()
    for _ in range(_ROUNDS):
        spans = _merged(_found(text), text)
        if not spans:
            break
        count += len(spans)
        kinds.update(kind for _, _, kind in spans)
        text = _replaced(text, spans)
    return Redacted(text, count, tuple(sorted(kinds)))


def _found(text: str) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) != len(text):
        # The one letter that grows when it is made small.
        lower = text.replace("İ", "I").lower()
    yield from find_private_keys(text)
    yield from find_issued(text)
    yield from find_located(text, lower)
    yield from find_assigned(text, lower)


def _merged(spans: Iterator[Span], text: str) -> list[Span]:
    """Spans in order, overlapping ones joined under the kind of the one that came first in the list."""
    placeholders = [match.span() for match in _PLACEHOLDER.finditer(text)] if "[secret: " in text else []
    ordered = sorted(enumerate(spans), key=lambda item: (item[1][0], item[0]))
    merged: list[tuple[int, int, str, int]] = []
    for rank, (start, end, kind) in ordered:
        if merged and start < merged[-1][1]:
            before = merged[-1]
            best = before if before[3] <= rank else (0, 0, kind, rank)
            merged[-1] = (before[0], max(before[1], end), best[2], best[3])
        else:
            merged.append((start, end, kind, rank))
    return [(start, end, kind) for start, end, kind, _ in merged if not any(a < end and start < b for a, b in placeholders)]


def _replaced(text: str, spans: list[Span]) -> str:
    pieces, at = [], 0
    for start, end, kind in spans:
        pieces += (text[at:start], f"[secret: {kind}]")
        at = end
    return "".join((*pieces, text[at:]))
