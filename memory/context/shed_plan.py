"""What is to leave a request, as a value: the plan that a shell carries out.

What stands in the place of a content that was shed: what it was, how large, how to get it back, and its overview.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory.edits import ContentTier
from memory.session import Shed


@dataclass(frozen=True, slots=True)
class Replacement:
    """A part goes down to this tier; ``text`` stands there from now on."""

    message: int
    part: int
    tier: ContentTier
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class SegmentCut:
    """A new segment begins at this message; ``text`` is the continuity note, for the end of the head."""

    message: int
    text: str


@dataclass(frozen=True, slots=True)
class ShedPlan:
    """What to do to a request. ``tokens`` is about how large it will be, messages and what stands outside together;
    ``why`` says why nothing, or not enough, could be done, and is a warning where ``tokens`` passes the window."""

    replacements: tuple[Replacement, ...] = ()
    cut: SegmentCut | None = None
    shed: Shed | None = None
    tokens: int = 0
    why: str = ""


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
