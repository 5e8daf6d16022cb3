"""Whether a request goes on with a session: is its next turn, tries one again, or has its history from there.

Told by the messages alone, of which a session has those of its trail, and by when it was seen last.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from datetime import timedelta

from memory.conversation import Conversation, Message, Role
from memory.services.sessions.live import LiveSession
from memory.session import Arrival

RETRY = timedelta(minutes=10)
"""The same request again within this time is a retry of it; later it is a new session that opens alike."""


def goes_on(live: LiveSession, shared: int, trail: Sequence[bytes], arrival: Arrival) -> bool:
    """Whether a request that shares so many messages with a session's trail is that session's next, or a retry."""
    if shared == len(trail):
        return _recent(live, arrival)
    return live.tip in (b"", trail[shared - 1])


def began_in_session(live: LiveSession, shared: int, conversation: Conversation, arrival: Arrival) -> bool:
    """Whether a request's history was made in a session: the same opening again after a while, or in a session that its
    client names otherwise once it had its reply, is somebody who begins anew."""
    longer = shared < len(conversation.trail())
    replied = conversation.continues is not None or any(each.role is Role.ASSISTANT for each in conversation.messages)
    return longer or replied or (_recent(live, arrival) and not _begins_anew(live, conversation, arrival))


def _begins_anew(live: LiveSession, conversation: Conversation, arrival: Arrival) -> bool:
    """Whether the opening of a session that has a name of its own had its whole reply in another one, or was gone on
    from there: what was learnt meanwhile belongs to it. Without a name nothing would tell the two apart, and what
    one has in its prefix must stay in it."""
    link = conversation.trail()[-1]
    return arrival.session_key is not None and (live.answered == link or live.tip not in (b"", link))


def _recent(live: LiveSession, arrival: Arrival) -> bool:
    return arrival.at - live.session.seen_at < RETRY


def in_common(
    key: str | None, conversation: Conversation, trail: Sequence[bytes], arrival: Arrival
) -> tuple[str, bytes]:
    """What two requests have in common that may be of one new session: its key, or all up to a person's first words.
    What stands before those is the same in every session of an agent."""
    if key is not None:
        return key, b""
    first = next((index for index, message in enumerate(conversation.messages) if message.spoken), 0)
    return arrival.namespace, trail[first] if trail else b""


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
        telling = telling_messages(messages)
        votes = Counter(session for digest in telling if (session := self._sessions.get((whose, digest))))
        best = votes.most_common(1)
        return best[0][0] if best and best[0][1] >= ENOUGH else None

    def forget(self) -> None:
        """Know nothing any more."""
        self._sessions.clear()


def telling_messages(messages: Sequence[Message]) -> set[bytes]:
    """The digests by which a history is known for a session's, of its newest messages; none where they are too few."""
    telling = {message.digest for message in messages[-LOOKED_AT:] if _tells(message)}
    return telling if len(telling) >= ENOUGH else set()


def _tells(message: Message) -> bool:
    return message.role in (Role.ASSISTANT, Role.TOOL) or bool(message.results)
