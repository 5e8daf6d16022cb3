"""A request of a session: what its shells hand on to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.conversation import Conversation, Usage
from memory.edits import ActiveEdits, Edit, Entry, Key
from memory.services.sessions.live import NOTHING_HELD, HeldHistory, LiveSession
from memory.session import Arrival


@dataclass(frozen=True)
class SessionRequest:
    """What a client sent, the session that it belongs to, and how it came."""

    conversation: Conversation
    live: LiveSession
    arrival: Arrival

    @cached_property
    def keys(self) -> Sequence[Key]:
        """Where each of its messages stands in the ledger: what is said again is another message, also where only its
        server has the first."""
        counts = self.held.counts
        keys = self.conversation.keys()
        return [(digest, occurrence + counts[digest]) for digest, occurrence in keys] if counts else keys

    @property
    def held(self) -> HeldHistory:
        """What its server holds before its messages, as far as this process knows."""
        return self.live.held.get(self.conversation.continues or "", NOTHING_HELD)

    def held_with_own(self, usage: Usage | None) -> HeldHistory:
        """What its server holds behind the response to it, and what it reported of that."""
        before = self.held
        messages = self.conversation.messages
        spoken = next((index for index in range(len(messages) - 1, -1, -1) if messages[index].spoken), None)
        newest = before.newest_spoken if spoken is None else len(before.keys) + spoken
        return HeldHistory((*before.keys, *self.keys), newest, usage or Usage())

    def standing_before(self) -> list[tuple[int, Entry]]:
        """What its session's ledger holds at the messages that its server has, each with its index: the newest of them
        is -1."""
        keys = self.held.keys
        return [(at - len(keys), entry) for at, key in enumerate(keys) for entry in self.live.ledger.at([key])]

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
