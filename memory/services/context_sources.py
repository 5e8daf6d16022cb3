"""What may be given to a request, and who finds it: the page of its owner, and what memory holds for the moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from memory.conversation import Conversation
from memory.scope import Scope
from memory.session import Arrival, Session, ShownMemory


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
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: frozenset[str]
    ) -> Recalled:
        """At most ``tokens`` tokens, nothing of ``present``."""


class PageSource(Protocol):
    """Gives the page of an owner."""

    async def page(self, scope: Scope) -> FrozenPage:
        """The page as it is now, framed for a request."""
