"""What of research goes when a person has it, or something in it, forgotten: a research that holds it goes whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import orjson

from memory.conversation import Message, Role
from memory.learning.research_erasure import ErasedResearch, going, mentions_research, says, struck
from memory.research import Research
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.erasure import RemainingMessage
from memory.stores.history_cache import split
from memory.stores.messages import body_of, unseal
from memory.stores.queries import QUERIES


@dataclass(frozen=True, slots=True)
class ErasedMessages:
    """Messages (person, digest) that go ``whole`` with research, the ``passages`` of those, and messages of which only
    some parts go."""

    whole: tuple[tuple[int, bytes], ...] = ()
    passages: tuple[str, ...] = ()
    struck: tuple[RemainingMessage, ...] = ()


def holding(
    connection: Connection,
    ids: Sequence[str],
    sessions: Iterable[str],
    messages: Sequence[tuple[int, bytes]],
    owners: Sequence[str] | None = None,
) -> list[str]:
    """The ids of research that goes: those named themselves, as far as they are of these owners, those of which a piece
    goes (``sessions`` are the sessions that passages name, which for a piece is its research), and those in whose trail
    a message stands."""
    named = [row["id"] for row in ask_many(connection, "research_get", ids) if owners is None or row["owner"] in owners]
    found = [*named, *(row["id"] for row in ask_many(connection, "research_get", list(sessions)))]
    for person, digest in messages:
        found += [row["id"] for row in connection.execute(QUERIES["research_with_message"], (person, digest, digest))]
    return list(dict.fromkeys(found))


def leaving(connection: Connection, every: Sequence[Research]) -> ErasedMessages:
    """What of the journaled messages goes with research of one person: of the trails all that no other session and no
    other research has too, and, where the errands were given, the questions and the reports."""
    row = connection.execute(QUERIES["person_get"], (every[0].person,)).fetchone() if every else None
    if row is None:
        return ErasedMessages()
    person = row["number"]
    wanted = list(dict.fromkeys(digest for each in every for digest in each.trail))
    trails = _messages(connection, person, wanted)
    gone = [going(each, [trails[digest] for digest in each.trail if digest in trails]) for each in every]
    shared = _shared_texts(connection, person, every, trails)
    whole = dict.fromkeys(digest for digest in wanted if digest not in shared or _held(trails.get(digest), gone))
    left: dict[bytes, RemainingMessage] = {}
    for each, goes in zip(every, gone, strict=True):
        for message in _related_messages(connection, person, each).values():
            if message.digest in whole:
                continue
            if mentions_research(message, goes):
                whole[message.digest] = None
                left.pop(message.digest, None)
            elif parts := struck(message, goes):
                # Two errands of one message: each strikes its own call.
                before = left[message.digest].parts if message.digest in left else {}
                left[message.digest] = RemainingMessage(person, message, {**parts, **before})
        if each.returned and each.returned not in left:
            whole[each.returned] = None
    spoken = [digest for digest in whole if digest not in trails]
    rows = [
        row for digest in spoken for row in connection.execute(QUERIES["forget_passages_of_message"], (digest, person))
    ]
    return ErasedMessages(
        tuple((person, digest) for digest in whole), tuple(row["id"] for row in rows), tuple(left.values())
    )


def strike(connection: Connection, left: RemainingMessage) -> None:
    """Leave of a message only what does not go, under every digest that it may come by."""
    role = left.message.role.value
    for digest, parts, _ in left.forms():
        connection.execute(QUERIES["forget_parts"], (body_of(parts, left.message.spoken), left.person, digest, role))


def delete(connection: Connection, ids: Sequence[str]) -> None:
    """Take research out, how it was used, and the errand that sent it."""
    for row in ask_many(connection, "research_get", ids):
        sent = (row["parent"], row["call"], row["session"], row["person"], row["question"])
        connection.execute(QUERIES["research_forget_spawn"], sent)
        connection.execute(QUERIES["research_uses_delete"], (row["id"],))
        connection.execute(QUERIES["research_delete"], (row["id"],))


def _related_messages(connection: Connection, person: int, research: Research) -> dict[bytes, Message]:
    """The messages of the session that sent a research out, of those that share its history, and of those in which
    the research was used again."""
    rows = connection.execute(QUERIES["research_family"], (research.parent, research.id)).fetchall()
    digests = [
        each["digest"] for row in rows for each in connection.execute(QUERIES["research_seen"], (row["number"],))
    ]
    return _messages(connection, person, list(dict.fromkeys(digests)))


def _shared_texts(
    connection: Connection, person: int, every: Sequence[Research], trails: dict[bytes, Message]
) -> Collection[bytes]:
    """What of some trails is not theirs alone: what a runtime says to every session, and words that stand elsewhere."""
    ids = orjson.dumps([each.id for each in every]).decode()
    sessions = orjson.dumps([each.session for each in every]).decode()
    common = [
        message.digest for message in trails.values() if message.role is not Role.ASSISTANT and not message.results
    ]
    found = {row["digest"] for row in ask_many(connection, "research_elsewhere", common, (person, sessions))}
    others = connection.execute(QUERIES["research_trails"], (every[0].person, ids)).fetchall()
    found |= {message.digest for message in trails.values() if _is_runtime_frame(message)}
    return found | {digest for row in others for digest in (*split(row["trail"]), row["returned"]) if digest in trails}


def _is_runtime_frame(message: Message) -> bool:
    """Whether a runtime says this to its sessions: a later one may say it again."""
    if message.role in (Role.SYSTEM, Role.DEVELOPER):
        return True
    return message.role is Role.USER and not message.spoken and not message.results


def _held(message: Message | None, gone: Sequence[ErasedResearch]) -> bool:
    return message is not None and any(says(message.text, each) for each in gone)


def _messages(connection: Connection, person: int, digests: Sequence[bytes]) -> dict[bytes, Message]:
    found: dict[bytes, Message] = {}
    for row in ask_many(connection, "messages_get", digests, (person,)):
        try:
            found[row["digest"]] = unseal(row["digest"], row["role"], row["body"], whole=True)
        except ValueError:
            continue
    return found
