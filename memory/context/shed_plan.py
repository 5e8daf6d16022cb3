"""What is to leave a request, as a value: the plan that a shell carries out."""

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
