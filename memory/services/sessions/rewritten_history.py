"""Which session a history belongs to that its client has written anew: told by what was said in it.

A trail is a chain from the first message on, so that it leads nowhere when a client changes an early one: Qwen Code
takes its reminders out when a session is resumed, clears old results, and sends only the end of a history to the agent
that extracts its memories. What a model said and what tools answered stays, and is hardly ever said twice.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence

from memory.conversation import Message, Role

MAX_MESSAGES = 16_384
"""Messages that are remembered; about 250 bytes each."""

LOOKED_AT = 64
"""Messages of a history that are looked at, the newest ones."""

ENOUGH = 4
"""So many messages of one session must stand in a history for it to be that session's."""


class HistoryIndex:
    """The messages of the sessions that are alive, each with the session in which it was said last."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, bytes], str] = OrderedDict()

    def heard(self, whose: str, session: str, messages: Sequence[Message]) -> None:
        """A session has these messages now; looked at from the end, up to what is known of it."""
        for message in reversed(messages[-LOOKED_AT:]):
            place = whose, message.digest
            if self._sessions.get(place) == session:
                break
            if _tells(message):
                self._sessions[place] = session
        while len(self._sessions) > MAX_MESSAGES:
            self._sessions.popitem(last=False)

    def session(self, whose: str, messages: Sequence[Message]) -> str | None:
        """The session of most of the newest messages of a history; None where no session has enough of them."""
        found = {message.digest for message in messages[-LOOKED_AT:] if _tells(message)}
        if len(found) < ENOUGH:
            return None
        votes = Counter(session for digest in found if (session := self._sessions.get((whose, digest))))
        best = votes.most_common(1)
        return best[0][0] if best and best[0][1] >= ENOUGH else None

    def forget(self) -> None:
        """Know nothing any more."""
        self._sessions.clear()


def _tells(message: Message) -> bool:
    return message.role in (Role.ASSISTANT, Role.TOOL) or bool(message.results)
