"""What an exchange taught, before anything is decided about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.fact import FactDraft, Origin, Passage, Sensitivity
from memory.language.terms import words_of


@dataclass(frozen=True, slots=True)
class Taught:
    """A draft with the digest of the message that it came from and that message's place in the request."""

    draft: FactDraft
    source: bytes
    turn: int


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What a person's message says beside the words that take something back, its digest, those of the messages before
    it, and the topic that it names: what was said of that may have been said in another conversation."""

    text: str
    source: bytes
    before: frozenset[bytes]
    topic: str = ""


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

    @property
    def has_subject(self) -> bool:
        """Whether it says something. A person's one word may be an answer; an assistant's is a nod."""
        return len(words_of(self.text)) >= (1 if self.origin.trusted else 3)

    def as_passage(self, id: str, owner: str, session: str) -> Passage:
        """The passage that it becomes."""
        return Passage(
            id=id,
            text=self.text,
            owner=owner,
            origin=self.origin,
            speaker=self.speaker,
            session=session,
            source=self.source,
            at=self.at,
            turn=self.turn,
            piece=self.piece,
            question=self.question,
            sensitivity=self.sensitivity,
        )


@dataclass(frozen=True, slots=True)
class Learned:
    """What one exchange taught, in the order of its messages."""

    facts: tuple[Taught, ...] = ()
    pieces: tuple[PassageDraft, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()
