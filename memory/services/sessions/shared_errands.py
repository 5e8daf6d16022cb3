"""Errands that were given through another replica: a sub-agent's first request may come to any of them."""

from __future__ import annotations

from memory.conversation import Conversation, Role
from memory.ports import Journal
from memory.scope import Layer
from memory.services.sessions.namespaces import session_key
from memory.services.sessions.subagent_detection import MAX_REPLIES_PER_FAMILY, RecentErrands
from memory.session import Arrival


class SharedErrands:
    """Reads in the journal what other replicas have heard: a reply is there before its client sees the end of it."""

    def __init__(self, journal: Journal, errands: RecentErrands) -> None:
        self._journal = journal
        self._errands = errands

    async def hear(self, conversation: Conversation, arrival: Arrival) -> None:
        """Before it is asked whether a request that opens a session is a sub-agent's.

        Raises:
            StoreError: when the journal cannot be read.
        """
        person = arrival.scope.owner(Layer.USER)
        if person is None or not arrival.kind.teaches:
            return
        if any(message.role is Role.ASSISTANT for message in conversation.messages):
            return
        replies = await self._journal.recent_replies(person, MAX_REPLIES_PER_FAMILY)
        self._errands.heard_elsewhere(arrival.whose, replies)
        if not self._errands.knows_parent(arrival):
            key = session_key(arrival, arrival.parent_key)
            parent = await self._journal.session_by_key(key) if key is not None else None
            if parent is not None:
                self._errands.parent_found(arrival, parent)
