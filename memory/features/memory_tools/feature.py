"""Memory's tools, behind the hooks: answered, and offered for the length of a session.

Offer memory's tools for the length of a session, and keep the rounds of a reply that its client does not see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory.conversation import Conversation, Form
from memory.edits import OFFERED, Act, Entry
from memory.features.memory_tools.tools import MemoryTools
from memory.hooks.feature import Core, Feature
from memory.services.sessions.live import LiveSession
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.tiers.content import Contents
from memory.services.tool_calls import AnswersTools, OffersTools
from memory.session import Prepared


class ToolOffering:
    """Decides what a session offers. ``wanted`` is the setting."""

    def __init__(self, sessions: SessionMatcher, wanted: bool) -> None:
        self._sessions = sessions
        self.wanted = wanted

    def offered(self, prepared: Prepared, conversation: Conversation, spelling: Callable[[], str]) -> str:
        """The definitions of the tools that stand in this request, behind the client's; empty where there are none.
        Never waits.

        ``spelling`` gives those that a new session would offer, or nothing where this request can take none. A side
        request that is a conversation of its own has none; whatever belongs to a session has what that has.
        """
        arrival = prepared.arrival
        if prepared.session is None:
            if not (arrival.kind.teaches or arrival.extends) or arrival.scope.user is None:
                return ""
            near = self._sessions.find_nearest(conversation, arrival)
            return near.ledger.offers if near else ""
        live = self._sessions.get(prepared.session.id)
        if live is None:
            return ""
        gives = self.wanted and not live.session.held_out
        new = gives and prepared.journaled and arrival.kind.teaches and _is_first_request(live, prepared)
        if new and not live.ledger.offers and (definitions := spelling()):
            entry = Entry(*OFFERED, definitions, Form.PART, "offer", act=Act.OFFER)
            live.ledger.write(entry)
            live.unwritten.append(entry)
        return live.ledger.offers

    def keep(
        self, prepared: Prepared, conversation: Conversation, hidden: str, stored: str, memories: tuple[str, ...]
    ) -> None:
        """Write down what the reply to this request hides: ``hidden`` for this process, ``stored``, which is free of
        secrets, for the journal. Empty where the newest reply hides nothing: an earlier one to the same message then
        no longer counts. Never waits; it is in the journal when the exchange is."""
        live = self._sessions.get(prepared.session.id) if prepared.session else None
        if live is None or not conversation.messages:
            return
        key = conversation.keys()[conversation.newest]
        if not hidden and not any(entry.act is Act.INSERT and entry.text for entry in live.ledger.at([key])):
            return
        free = None if stored == hidden else stored
        entry = Entry(*key, hidden, Form.PART, "hidden", memories, Act.INSERT, stored=free)
        live.ledger.write(entry)
        live.unwritten.append(entry)


def _is_first_request(live: LiveSession, prepared: Prepared) -> bool:
    """Whether this is a session's first request, and nothing of the session's history was said elsewhere."""
    return live.session.started_at == prepared.arrival.at and live.session.forked_from is None


class MemoryToolsFeature(Feature):
    """The feature."""

    name = "memory_tools"

    def __init__(self, core: Core) -> None:
        settings = core.settings.tools
        self.offering = ToolOffering(core.sessions, settings.offer)
        self.tools = MemoryTools(
            settings.tokens,
            core.journal,
            core.recall,
            core.commands,
            core.learner,
            Contents(core.journal).content,
            core.new_id,
            core.now,
        )

    def port(self, kind: type[Any]) -> Any:
        return {AnswersTools: self.tools, OffersTools: self.offering}.get(kind)


FEATURE = MemoryToolsFeature
