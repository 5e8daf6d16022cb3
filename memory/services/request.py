"""A request of a session: what its shells hand on to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.conversation import Conversation
from memory.edits import ActiveEdits, Edit, Entry, Key
from memory.services.sessions.live import LiveSession
from memory.session import Arrival


@dataclass(frozen=True)
class SessionRequest:
    """What a client sent, the session that it belongs to, and how it came."""

    conversation: Conversation
    live: LiveSession
    arrival: Arrival

    @cached_property
    def keys(self) -> Sequence[Key]:
        """Where each of its messages stands in the ledger."""
        return self.conversation.keys()

    @property
    def session(self) -> str:
        """Its session's id."""
        return self.live.session.id

    @property
    def model(self) -> str:
        """The model that it is for."""
        return self.conversation.model

    def standing(self, more: Sequence[Entry] = ()) -> ActiveEdits:
        """What its session's ledger holds for it now, and would with some entries more."""
        ledger = self.live.ledger.with_more(more) if more else self.live.ledger
        return ledger.active(self.keys, self.conversation.head)

    def edits(self, more: Sequence[Entry] = ()) -> tuple[Edit, ...]:
        """The edits that it needs, by the same."""
        return self.standing(more).edits


def takes_part(conversation: Conversation, arrival: Arrival) -> bool:
    """Whether a request is one of a session: side requests that are conversations of their own are not."""
    owned = bool(conversation.messages) and arrival.scope.user is not None
    return owned and (arrival.kind.teaches or arrival.extends)
