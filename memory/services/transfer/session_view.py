"""Give a session back as it is forwarded: the client's own history with the session's edits in it.

What the journal has are the messages' texts, without secrets, not the client's bytes: this is a view to go on from
or to read, not the request that was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.context.view import edited
from memory.conversation import Conversation, Message
from memory.edits import Ledger
from memory.ports import Journal, JournaledMessage
from memory.scope import Layer, Scope
from memory.services.person.commands import Ambiguous, NotFound
from memory.session import Session


@dataclass(frozen=True, slots=True)
class ExportedSession:
    """A session's newest turn as it was forwarded.

    ``messages`` are those of the request with the edits made; ``reply`` what was answered. ``left`` is how many of the
    client's messages a rotation has left out, ``shortened`` how many contents stand there in short; ``redacted`` and
    ``forgotten`` count messages that are not word for word.
    """

    session: Session
    dialect: str
    model: str
    at: datetime
    messages: tuple[Message, ...]
    reply: Message | None
    left: int
    shortened: int
    redacted: int
    forgotten: int


async def exported(journal: Journal, name: str, scope: Scope) -> ExportedSession:
    """The session of the scope's person whose id begins with ``name``, or whose runtime calls it so.

    Raises:
        NotFound: when there is none, or it has no turn yet.
        Ambiguous: when there are several.
    """
    person = scope.owner(Layer.USER)
    turns = await journal.turns(person, name, 5) if person and name else []
    if not turns:
        raise NotFound(f"there is no session {name[:60]!r}; a beginning of its id names it, or its runtime's own id")
    if len(turns) > 1:
        raise Ambiguous(name, [turn.session.id for turn in turns])
    turn = turns[0]
    ledger = Ledger(await journal.ledger(turn.session.id))
    messages = tuple(stored.message for stored in turn.messages)
    conversation = Conversation(turn.dialect, turn.model, messages)
    standing = ledger.active(conversation.keys(), conversation.head)
    there: list[JournaledMessage] = [
        stored for index, stored in enumerate(turn.messages) if index not in standing.dropped
    ]
    there += [turn.reply] if turn.reply else []
    return ExportedSession(
        turn.session,
        turn.dialect,
        turn.model,
        turn.at,
        edited(messages, standing.edits),
        turn.reply.message if turn.reply else None,
        left=len(standing.dropped),
        shortened=len(standing.replaced),
        redacted=sum(stored.redacted for stored in there),
        forgotten=sum(stored.forgotten for stored in there),
    )
