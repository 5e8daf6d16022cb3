"""What stands in the place of a content that was shed: what it was, how large, how to get it back, and its overview.

The bytes depend on nothing but the content and the tier, so that a stub is the same whenever it is made. It is read
in every later turn: each word of it costs.
"""

from __future__ import annotations

from memory.edits import Tier

FRAME = 26
"""Tokens of a stub beside its line and its overview, about."""

_LONGEST_LINE = 200


def stub(tier: Tier, line: str, overview: str, tokens: int, handle: str) -> str:
    """The text in the place of a result, a text or a picture. ``tokens`` is how large the whole was."""
    said = " ".join(line.split())[:_LONGEST_LINE] or "earlier content"
    head = f"[shortened: {said} · {_size(tokens)} tokens · whole: palimpsest show {handle}]"
    return f"{head}\n{overview}" if tier is Tier.L1 and overview else head


def excerpt_of(stub: str) -> str:
    """What stands below a stub's first line."""
    return stub.partition("\n")[2]


def _size(tokens: int) -> str:
    """Two digits are enough to choose by, and cost less than all of them."""
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)
