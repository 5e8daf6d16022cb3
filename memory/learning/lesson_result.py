"""What an exchange taught, before anything is decided about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.fact import FactDraft, Origin, Sensitivity


@dataclass(frozen=True, slots=True)
class Taught:
    """A draft with the digest of the message that it came from and that message's place in the request."""

    draft: FactDraft
    source: bytes
    turn: int


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """A passage before it has an id and an owner; the fields are those of :class:`memory.fact.Passage`."""

    text: str
    origin: Origin
    speaker: str
    source: bytes
    at: datetime
    turn: int
    piece: int
    question: bool
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class Learned:
    """What one exchange taught, in the order of its messages."""

    facts: tuple[Taught, ...] = ()
    pieces: tuple[PassageDraft, ...] = ()
