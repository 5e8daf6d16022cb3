"""Where a request ended, by which the next one of its session is found: its reply is part of that, in each form in
which a client may send it back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from memory.conversation import Message, Part, Reasoning, Reply, Role, chained, digest
from memory.stores.connection import Connection
from memory.stores.exchange_draft import ExchangeDraft
from memory.stores.histories import split
from memory.stores.history_cache import EarlierExchange
from memory.stores.queries import QUERIES, write_several
from memory.stores.rows import stamp


def reply_message(reply: Reply) -> Message | None:
    """The reply as the message that a client sends back; None where nothing was said."""
    name = digest(Role.ASSISTANT, reply.sent or reply.parts)
    return Message(Role.ASSISTANT, reply.parts, name) if reply.parts else None


def forms(parts: Sequence[Part], whole: bytes = b"") -> list[tuple[bytes, ...]]:
    """The digests of the messages as which a client may send a reply back, the likeliest first; ``whole`` is that of
    all parts as one message, where it is known.

    As one message or, in the Responses format, as one for each part; and without the reasoning, which most
    clients of the chat format leave out.
    """
    found: dict[tuple[bytes, ...], None] = {}
    plain = tuple(part for part in parts if not isinstance(part, Reasoning))
    for chosen in (tuple(parts), plain) if len(plain) < len(parts) else (plain,):
        if chosen:
            found[(whole if whole and len(chosen) == len(parts) else digest(Role.ASSISTANT, chosen),)] = None
            if len(chosen) > 1:
                found[tuple(digest(Role.ASSISTANT, (part,)) for part in chosen)] = None
    return list(found)


def going_on(link: bytes, digests: Iterable[bytes]) -> bytes:
    """The link of a trail that goes on with these messages (see :meth:`memory.conversation.Conversation.trail`)."""
    for key in digests:
        link = chained(link, key)
    return link


def links(digests: Iterable[bytes]) -> list[bytes]:
    """The trail of these messages."""
    return list(accumulate(digests, chained, initial=b""))[1:]


def last_link(history: bytes, bases: Iterable[EarlierExchange]) -> bytes:
    """The last link of the trail of a history; hashing goes on from an exchange that the request continues."""
    for past in bases:
        if past.link and history.startswith(past.history):
            return going_on(past.link, split(history[len(past.history) :]))
    return going_on(b"", split(history))


def write_trail(connection: Connection, draft: ExchangeDraft, session: int, number: int, link: bytes) -> None:
    """Where this request ended, and where the next one will be when it sends the reply along."""
    if not link or not (draft.kind.teaches or draft.extends):
        return
    if draft.kind.teaches:
        connection.execute(QUERIES["session_tip"], {"turn": number, "session": session, "at": stamp(draft.at)})
    links = [link]
    if draft.complete:
        links.extend(going_on(link, sequence) for sequence in draft.forms)
    write_several(
        connection, "trail_write", [(link, draft.namespace, session, number) for link in dict.fromkeys(links)]
    )
