"""A model calls memory's tools: for whom, and who answers and offers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from memory.context.tools import ToolAnswer
from memory.conversation import Conversation
from memory.fact import Origin
from memory.learning.taint import taint_of
from memory.scope import Scope
from memory.session import Prepared


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """For whom a tool is called. ``origin`` is the trust of what the model says: its own, or the taint of what it has
    read; ``session`` is where it said it; ``writes`` whether notes may be taken; ``everything`` whether who runs the
    server asks, and may change what many share."""

    scope: Scope
    session: str
    origin: Origin = Origin.ASSISTANT
    writes: bool = True
    everything: bool = False


class AnswersTools(Protocol):
    """Answers calls."""

    async def answer(self, name: str, arguments: str | Mapping[str, Any], asker: ToolCaller) -> ToolAnswer:
        """The answer, also where the call cannot be answered as it was made."""


class OffersTools(Protocol):
    """Decides what a session offers, and keeps what a reply hides."""

    def offered(self, prepared: Prepared, conversation: Conversation, spelling: Callable[[], str]) -> str:
        """The definitions of the tools that stand in a request; empty where there are none."""

    def keep(
        self, prepared: Prepared, conversation: Conversation, hidden: str, stored: str, memories: tuple[str, ...]
    ) -> None:
        """Write down what the reply to a request hides."""


def origin_of(conversation: Conversation, subagent: bool) -> Origin:
    """The trust of what a model says next: the lowest of what it has read since a person spoke."""
    return Origin.SUBAGENT if subagent else taint_of(conversation.messages) or Origin.ASSISTANT
