"""Give a session back as it is forwarded: the client's own history with the session's edits in it.

What the journal has are the messages' texts, without secrets, not the client's bytes: this is a view to go on from
or to read, not the request that was sent. In requests the edits go into the client's own bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from memory.conversation import Conversation, Form, Image, Message, Part, Text, ToolCall, ToolResult
from memory.edits import Append, Drop, Edit, Ledger, Replace
from memory.ports import Journal, JournaledMessage
from memory.scope import Layer, Scope
from memory.services.person.commands import Ambiguous, NotFound
from memory.session import Session

P = TypeVar("P", bound=Part)


def edited(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """The messages with the edits made, in the order in which a request takes them: a part's new content first, then
    what is appended. A message that changes keeps its digest, by which it is still the client's. What is inserted
    (rounds that the client never saw) is not shown."""
    parts = [list(message.parts) for message in messages]
    gone = {message for edit in edits if isinstance(edit, Drop) for message in edit.messages}
    for edit in edits:
        if isinstance(edit, Replace) and edit.part < len(parts[edit.message]):
            parts[edit.message][edit.part] = _replaced(parts[edit.message][edit.part], edit.text)
    for edit in edits:
        if isinstance(edit, Append):
            parts[edit.message] = _appended(parts[edit.message], edit.text, edit.form)
    return tuple(
        replace(message, parts=tuple(parts[index])) for index, message in enumerate(messages) if index not in gone
    )


def _replaced(part: Part, text: str) -> Part:
    match part:
        case ToolCall(id, name, _):
            return ToolCall(id, name, text)
        case ToolResult(call_id, _, failed):
            return ToolResult(call_id, (Text(text),), failed)
        case Text() | Image():
            return Text(text)
        case _:
            return part


def _appended(parts: list[Part], text: str, form: Form) -> list[Part]:
    if parts and isinstance(parts[-1], ToolResult):
        # At a tool's result text stands inside it, so that no human word stands in the middle of a tool loop.
        return [*parts[:-1], replace(parts[-1], content=tuple(_joined(parts[-1].content, text, form)))]
    return [*_joined(parts, text, form)]


def _joined(parts: Sequence[P], text: str, form: Form) -> list[P | Text]:
    if form is Form.SUFFIX and parts and isinstance(parts[-1], Text):
        return [*parts[:-1], Text(parts[-1].text + text)]
    return [*parts, Text(text)]


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
