"""What stands in the place of a content that was shed: what it was, how large, how to get it back, and its overview.

The bytes depend on nothing but the content and the tier, so that a stub is the same whenever it is made. It is read
in every later turn: each word of it costs.
"""

from __future__ import annotations

from memory.edits import ContentTier

FRAME = 26
"""Tokens of a stub beside its line and its overview, about."""

_MAX_LINE_CHARS = 200


def stub(tier: ContentTier, line: str, overview: str, tokens: int, handle: str) -> str:
    """The text in the place of a result, a text or a picture. ``tokens`` is how large the whole was."""
    line_text = " ".join(line.split())[:_MAX_LINE_CHARS] or "earlier content"
    head = f"[shortened: {line_text} · {_size(tokens)} tokens · whole: palimpsest show {handle}]"
    return f"{head}\n{overview}" if tier is ContentTier.L1 and overview else head


def excerpt_of(stub: str) -> str:
    """What stands below a stub's first line."""
    return stub.partition("\n")[2]


def _size(tokens: int) -> str:
    """Two digits are enough to choose by, and cost less than all of them."""
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)
