"""How long a request may be prepared, and each step of that: after it, it is sent without."""

from __future__ import annotations

from memory.conversation import Conversation
from memory.ports import BoundedSeconds, bounded_by
from memory.services.context_sources import PriorFindings
from memory.services.deciding import ContextDecider
from memory.services.request import takes_part
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.shortening import REFUSED_SECONDS
from memory.services.window.fitting import SHED_SECONDS, WindowFitter
from memory.session import Arrival

PATIENCE = 2
"""Finding a session may take this many times the deadline of a recall."""

USED = 0.9
"""The share of its time limit that the steps of a preparation may use. What is late by then is left out and the rest is
used; at the time limit itself, everything would be lost."""

REPLAY_SECONDS = 5.0
"""How long finding a session may take that this process does not know. If its history was edited before, the same edits
must be replayed, or its prefix breaks; on a busy machine that takes long after a start. A journal that answers nobody
tells so much sooner (``memory.postgresql.unresponsive_ms``)."""

HOPELESS = 8
"""Bytes per token of the window. A request with more never fits unedited."""

AGREED_SECONDS = 1.0
"""How long a request waits at least for what other replicas have decided: its prefix depends on it."""


class TimeLimits:
    """Seconds for a request that arrived in its own namespace."""

    def __init__(
        self,
        sessions: SessionMatcher,
        deciding: ContextDecider,
        fitting: WindowFitter | None,
        findings: PriorFindings | None,
    ) -> None:
        self._sessions = sessions
        self._deciding = deciding
        self._fitting = fitting
        self._findings = findings

    def whole(self, conversation: Conversation, arrival: Arrival) -> BoundedSeconds:
        """For all of it. A request that is far too large for its model would only be refused, so it waits longer; so
        does one whose ledger must be read after a start."""
        limit = self._decision(conversation, arrival) + self.replay(conversation, arrival)
        if self._sessions.replicas.shared:
            limit += self.look(conversation, arrival) + AGREED_SECONDS
        return bounded_by(self._deadline(conversation).setting, limit)

    def look(self, conversation: Conversation, arrival: Arrival) -> float:
        """To find out what other replicas have written. Where that takes longer what is remembered here will do, as far
        as anything is."""
        known = self._sessions.find_remembered(conversation, arrival) is not None
        return AGREED_SECONDS if known else REPLAY_SECONDS

    def deciding(self, conversation: Conversation, arrival: Arrival) -> float:
        """For all that is decided."""
        return USED * self._decision(conversation, arrival)

    def finding(self, conversation: Conversation, arrival: Arrival, replay: float) -> float:
        """To find its session."""
        return PATIENCE * self._deadline(conversation) + self._extra(conversation, arrival) + replay

    def replay(self, conversation: Conversation, arrival: Arrival) -> float:
        """Beside these, for a request whose session may be known to the journal only."""
        known = self._sessions.find_remembered(conversation, arrival) is not None
        return 0.0 if known or not takes_part(conversation, arrival) else REPLAY_SECONDS

    def _decision(self, conversation: Conversation, arrival: Arrival) -> float:
        looking = self._findings.deadline if self._findings is not None else 0.0
        shedding = SHED_SECONDS if self._fitting is not None else 0.0
        return PATIENCE * self._deadline(conversation) + looking + shedding + self._extra(conversation, arrival)

    def _deadline(self, conversation: Conversation) -> BoundedSeconds:
        return self._deciding.deadline(
            bool(conversation.messages) and bool(conversation.messages[conversation.newest].spoken)
        )

    def _extra(self, conversation: Conversation, arrival: Arrival) -> float:
        if self._fitting is None or arrival.size <= HOPELESS * self._fitting.window(conversation):
            return 0.0
        return REFUSED_SECONDS
