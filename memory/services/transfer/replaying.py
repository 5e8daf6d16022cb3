"""Play a recorded session of an agent into the journal, as if it had come through while it took place.

Each turn becomes an exchange with the turn's own time; the worker learns from it like from any other. An exchange's
id is made from what is in it, so that the same turn is journaled once however often its file is read, and a file
that has grown goes on where it stopped. What came through here at its time already is passed over.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from memory.conversation import Conversation, Message, Reply, Role
from memory.ports import StoreError
from memory.scope import OWN_PROJECT, Layer, Scope
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session

_SESSIONS = uuid.UUID("1f0d5a54-6f5e-5d3c-8d5b-0f4b5b1c7e22")
"""The namespace of the ids of replayed sessions."""

REPLAYED = "import"
"""Stands in the place of the credential in their keys, which no request can have."""

AROUND = timedelta(minutes=2)
"""How far a turn's own time may lie beside the times at which its session was seen here."""


class ReplayJournal(Protocol):
    """What this needs of the journal."""

    async def sessions_called(self, person: str, runtime: str, name: str) -> list[Session]:
        """A person's sessions that a runtime's own id names, in whatever namespace."""

    async def journaled(self, ids: Sequence[str]) -> frozenset[str]:
        """Which of these exchanges are in the journal."""

    async def commit(self, exchange: Exchange) -> None:
        """Append an exchange."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A recorded session. ``name`` is the runtime's own id of it, ``parent`` that of the agent that spawned it;
    ``times`` says when each message was said, ``copied`` which of them another session had before (a fork)."""

    runtime: str
    name: str
    scope: Scope
    conversation: Conversation
    times: tuple[datetime, ...]
    parent: str | None = None
    subagent: bool = False
    copied: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a transcript's turns: ``new`` ones were journaled, ``known`` ones were before, ``seen`` ones came
    through here when they took place, ``copied`` ones belong to another session. ``session`` is the id that its
    turns have here."""

    turns: int = 0
    new: int = 0
    known: int = 0
    seen: int = 0
    copied: int = 0
    session: str = ""


class SessionReplayer:
    """Journals recorded sessions."""

    def __init__(
        self, journal: ReplayJournal, journaled: Callable[[], None], room: Callable[[], bool] = lambda: True
    ) -> None:
        self._journal = journal
        self._journaled = journaled
        self._room = room

    async def replay(self, transcript: RecordedSession, dry: bool = False) -> Replayed:
        """Journal what is new of a transcript; with ``dry`` only say how much that is.

        Raises:
            StoreError: when the journal cannot be written; what was written before stays, and is known next time.
            ValueError: when there is nobody whose session it would be.
        """
        person = transcript.scope.owner(Layer.USER)
        if person is None:
            raise ValueError("there is no user whose session this could be")
        exchanges, copied = exchanges_of(transcript)
        here = await self._journal.sessions_called(person, transcript.runtime, transcript.name)
        times = [
            (each.started_at - AROUND, each.seen_at + AROUND)
            for each in here
            if not each.key.startswith(f"{REPLAYED}:")
        ]
        fresh = [each for each in exchanges if not any(a <= each.arrival.at <= b for a, b in times)]
        known = await self._journal.journaled([each.id for each in fresh])
        new = [each for each in fresh if each.id not in known]
        for exchange in () if dry else new:
            if not self._room():
                raise StoreError("there is less free disk than memory.journal.min_free_mib: nothing more is journaled")
            await self._journal.commit(exchange)
            self._journaled()
        seen = len(exchanges) - len(fresh)
        id = _id(transcript, transcript.name)
        return Replayed(len(exchanges) + copied, len(new), len(known), seen, copied, id)


def exchanges_of(transcript: RecordedSession) -> tuple[list[Exchange], int]:
    """A transcript's turns as exchanges, and how many turns are another session's.

    A turn begins where a person speaks and ends before the next one; its reply is the last text of the assistant's in
    it. What neither a person, nor a model, nor a tool said (environment, reminders, summaries) is left out: it tells
    a time that is not the turn's.
    """
    scope = transcript.scope
    turns_left = [
        (message, at, index in transcript.copied)
        for index, (message, at) in enumerate(zip(transcript.conversation.messages, transcript.times, strict=True))
        if _is_human_turn(message)
    ]
    messages = tuple(message for message, _, _ in turns_left)
    id = _id(transcript, transcript.name)
    if scope.project is None:
        scope = replace(scope, project=f"{OWN_PROJECT}{id}")
    kind = RequestKind.SUBAGENT if transcript.subagent else RequestKind.MAIN
    times = [at for _, at, _ in turns_left] or list(transcript.times)
    session = Session(
        id=id,
        key=f"{REPLAYED}:{transcript.runtime}:{transcript.name}",
        scope=scope,
        runtime=transcript.runtime,
        started_at=times[0],
        seen_at=times[-1],
        kind=kind,
        parent=_id(transcript, transcript.parent) if transcript.parent else None,
    )
    begins = [index for index, message in enumerate(messages) if message.spoken]
    trail = replace(transcript.conversation, messages=messages).trail()
    exchanges: list[Exchange] = []
    copied = 0
    for begin, end in zip(begins, [*begins[1:], len(messages)][: len(begins)], strict=True):
        message, at, another = turns_left[begin]
        if another:
            copied += 1
            continue
        answer = max((i for i in range(begin, end) if _answers(messages[i])), default=None)
        length = end if answer is None else answer
        reply = Reply() if answer is None else Reply(messages[answer].parts, stop="", complete=True)
        mark = trail[end - 1 if answer is None else answer] + message.digest + id.encode()
        name = hashlib.blake2b(mark, digest_size=16).hexdigest()
        arrival = Arrival(scope, kind, transcript.runtime, f"{REPLAYED}:{id}", at, session_key=session.key)
        conversation = replace(transcript.conversation, messages=messages[:length])
        receipt = Receipt("", at, id, kind, "imported", transcript.conversation.model)
        exchanges.append(Exchange(name, session, arrival, conversation, reply, 200, receipt))
    return exchanges, copied


def _id(transcript: RecordedSession, name: str) -> str:
    scope = transcript.scope
    seed = "\0".join((scope.owner(Layer.USER) or "", scope.project or "", transcript.runtime, name))
    return str(uuid.uuid5(_SESSIONS, seed))


def _is_human_turn(message: Message) -> bool:
    if message.role is Role.USER:
        return bool(message.spoken or message.results)
    return message.role in (Role.ASSISTANT, Role.TOOL)


def _answers(message: Message) -> bool:
    return message.role is Role.ASSISTANT and bool(message.text.strip())
