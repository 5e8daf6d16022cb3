"""What may be given to a request, and who finds it: the page of its owner, and what memory holds for the moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from memory.context.prior_findings import MENTION
from memory.conversation import Conversation, Role
from memory.scope import Scope
from memory.session import Arrival, ResearchAnswer, Session, ShownMemory


@dataclass(frozen=True, slots=True)
class Recalled:
    """What memory holds for a moment, ready to be added; ``text`` is empty where it holds nothing."""

    text: str = ""
    shown: tuple[ShownMemory, ...] = ()
    note: str = ""
    failed: bool = False
    steps: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FrozenPage:
    """MEMORY.md as it is added to a session, and the ids of the memories that stand on it."""

    text: str = ""
    memories: tuple[str, ...] = ()


class Recaller(Protocol):
    """Finds what memory holds for the newest message."""

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: Mapping[str, str]
    ) -> Recalled:
        """At most ``tokens`` tokens, and nothing of what is ``present``, by its id, in a text that tells it whole."""


class PageSource(Protocol):
    """Gives the page of an owner."""

    async def page(self, scope: Scope) -> FrozenPage:
        """The page as it is now, framed for a request."""


class PriorFindings(Protocol):
    """What others found before for the question that opens a sub-agent's session."""

    @property
    def enabled(self) -> bool:
        """Whether findings are given at all."""

    @property
    def deadline(self) -> float:
        """Seconds that looking for findings may take."""

    async def earlier(
        self, conversation: Conversation, session: Session, arrival: Arrival
    ) -> tuple[Recalled, ResearchAnswer | None]:
        """What was found, and a report that may stand for a reply."""

    async def used(self, session: str, at: datetime, given: Recalled, answer: ResearchAnswer | None) -> None:
        """Count that findings were used again in a session."""

    async def mentioned(self, session: str, at: datetime, lines: Mapping[str, int]) -> None:
        """Count that a talk was reminded of findings, by what may be their lines (see :func:`mentions`)."""


def mentions(shown: Sequence[ShownMemory]) -> dict[str, int]:
    """The memories among some that may be lines of research, and what each cost, in tokens: most requests have none."""
    return {each.memory: each.tokens for each in shown if each.text.startswith(MENTION)}


def opens(conversation: Conversation) -> bool:
    """Whether a request opens its session: no assistant has spoken in it yet."""
    return not any(message.role is Role.ASSISTANT for message in conversation.messages)
