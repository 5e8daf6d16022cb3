"""What a message leaves behind beside itself: overviews and pins, what was put in its place, lines of a page or a
note that tell of it, and the lines of receipts. When it is forgotten, all of that goes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from memory.conversation import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from memory.conversation import digest as digest_of
from memory.edits import Act
from memory.learning.research_erasure import FORGOTTEN, NO_ARGUMENTS
from memory.stores.base import ask_many
from memory.stores.connection import Connection, Row
from memory.stores.messages import unseal
from memory.stores.queries import QUERIES
from memory.stores.rows import listed, names
from memory.stores.sessions import forms

SHARED = 5
"""So many words in a row, and a line tells of a text."""

MIN_UNIQUE_CHARS = 40
"""Characters from which on a part of a message is taken for one that no other message has."""

# Chinese and Japanese are written without spaces: there each character is a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


@dataclass(slots=True)
class MessageTraces:
    """What is looked for: the messages of one person under all their digests, of those that stay the parts that are
    ``struck``, by their place, and every text that is to go; ``told`` finds those of the memories that go."""

    person: int
    texts: list[str]
    line_eraser: LineEraser
    messages: dict[bytes, Message | None] = field(default_factory=dict)
    struck: dict[bytes, Mapping[int, Part]] = field(default_factory=dict)

    def strike(self, left: RemainingMessage) -> None:
        """A message of which only some parts go, and the forms in which a client may have sent it back."""
        for digest, _, parts in left.forms():
            self.struck[digest] = parts
        self.texts.extend(texts_of(left.message.parts[place] for place in left.parts))

    def add(self, connection: Connection, digest: bytes) -> None:
        """A message that is to go, and the forms in which a client may have sent it back."""
        self.messages.setdefault(digest, None)
        for row in ask_many(connection, "messages_get", [digest], (self.person,)):
            try:
                message = unseal(row["digest"], row["role"], row["body"], whole=True)
            except ValueError:
                continue
            if row["forgotten"]:
                continue
            self.messages[digest] = message
            if message.role is Role.ASSISTANT:
                for form in self._reply_digests(message.parts):
                    self.messages.setdefault(form, None)
            self.texts.extend(texts_of(message.parts))

    def _reply_digests(self, parts: Sequence[Part]) -> set[bytes]:
        """The digests under which a reply may come back. A part of it alone is one too, unless it says so little that
        other messages are likely to say the same."""
        found = {digest for sequence in forms(parts) for digest in sequence}
        for part in parts:
            text = "\n".join(texts_of([part]))
            if len(parts) > 1 and len(text) < MIN_UNIQUE_CHARS and self.line_eraser.without(text) == text:
                found.discard(digest_of(Role.ASSISTANT, [part]))
        return found


@dataclass(frozen=True, slots=True)
class RemainingMessage:
    """A message of a person's of which some parts go: the message as it was, and those parts as they are left."""

    person: int
    message: Message
    parts: Mapping[int, Part]

    def forms(self) -> Iterator[tuple[bytes, tuple[Part, ...], Mapping[int, Part]]]:
        """The digests under which it may stand, with all the parts of each form as they are left, and those of them
        that were struck."""
        message = self.message
        places = tuple(range(len(message.parts)))
        yield message.digest, self._remaining_parts(places), self.parts
        if message.role is not Role.ASSISTANT:
            return
        plain = tuple(place for place in places if not isinstance(message.parts[place], Reasoning))
        for chosen in {places, plain, *((place,) for place in self.parts)}:
            form = digest_of(Role.ASSISTANT, [message.parts[place] for place in chosen])
            if form != message.digest:
                struck = {at: self.parts[place] for at, place in enumerate(chosen) if place in self.parts}
                yield form, self._remaining_parts(chosen), struck

    def _remaining_parts(self, places: Sequence[int]) -> tuple[Part, ...]:
        return tuple(self.parts.get(place, self.message.parts[place]) for place in places)


class LineEraser:
    """Takes lines out that tell of one of some texts, or name one of some handles."""

    def __init__(self, gone: Iterable[str], handles: Iterable[str] = ()) -> None:
        self._handles = tuple(handles)
        self._runs: set[tuple[str, ...]] = set()
        self._short: set[tuple[str, ...]] = set()
        for text in gone:
            words = _WORD.findall(text.casefold())
            if len(words) >= SHARED:
                self._runs.update(_runs(words, SHARED))
            elif len(words) > 1 or len("".join(words)) >= SHARED:
                self._short.add(tuple(words))
        self._lengths = {len(phrase) for phrase in self._short}

    def without(self, text: str) -> str:
        """A text without those lines."""
        return "\n".join(line for line in text.split("\n") if not (self.names(line) or self._tells(line)))

    def names(self, text: str) -> bool:
        """Whether a text names one of the handles."""
        return any(mark in text for mark in self._handles)

    def _tells(self, line: str) -> bool:
        words = _WORD.findall(line.casefold())
        if not self._runs.isdisjoint(_runs(words, SHARED)):
            return True
        return any(not self._short.isdisjoint(_runs(words, length)) for length in self._lengths)


def _runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]


@dataclass(slots=True)
class ErasedTraces:
    """What was changed: the sessions whose ledger was, and the rows of entries and receipts."""

    sessions: set[str] = field(default_factory=set)
    entries: set[int] = field(default_factory=set)
    receipts: set[int] = field(default_factory=set)


def wipe(connection: Connection, traces: MessageTraces, gone: Sequence[str], changed: ErasedTraces) -> None:
    """Remove what messages left behind. ``gone`` are the ids of the memories that go with them."""
    lines = LineEraser(traces.texts, (digest[:6].hex() for digest in traces.messages))
    looked_for = [*traces.messages, *traces.struck]
    for digest in looked_for:
        connection.execute(QUERIES["overviews_forget"], (traces.person, digest))
        connection.execute(QUERIES["pins_forget"], (traces.person, digest))
    for session in ask_many(connection, "forget_sessions", looked_for, (traces.person,)):
        for row in connection.execute(QUERIES["ledger_of"], (session["id"],)).fetchall():
            rewrite(connection, row, session["id"], _entry_without(row, traces, lines), gone, changed)
        for row in connection.execute(QUERIES["forget_sheds"], (session["number"],)).fetchall():
            data = orjson.loads(row["body"])
            parts = data["shed"]["parts"]
            data["shed"]["parts"] = [line for line in parts if lines.without(line) == line]
            if data["shed"]["parts"] != parts:
                connection.execute(QUERIES["forget_receipt"], (orjson.dumps(data).decode(), row["number"]))
                changed.receipts.add(row["number"])


def rewrite(
    connection: Connection,
    row: Row,
    session: str,
    text: str,
    gone: Sequence[str],
    changed: ErasedTraces,
) -> None:
    """Give a ledger entry another text, where it is another; without one it holds no memories either."""
    if text == row["text"]:
        return
    left = names(tuple(id for id in listed(row["memories"]) if id not in gone)) if text else "[]"
    connection.execute(QUERIES["forget_in_entry"], (text, left, row["number"]))
    changed.sessions.add(session)
    changed.entries.add(row["number"])


def texts_of(parts: Iterable[Part]) -> list[str]:
    """Every text in some parts."""
    found: list[str] = []
    for part in parts:
        match part:
            case Text(text) | Reasoning(text):
                found.append(text)
            case ToolCall(_, _, arguments):
                found.append(arguments)
            case ToolResult():
                found.append(part.text)
            case _:
                pass
    return found


def _entry_without(row: Row, traces: MessageTraces, lines: LineEraser) -> str:
    text: str = row["text"]
    if not text or row["act"] == Act.OFFER:
        return text
    if row["act"] == Act.REPLACE:
        if row["part"] in traces.struck.get(row["digest"], ()):
            return NO_ARGUMENTS if isinstance(traces.struck[row["digest"]][row["part"]], ToolCall) else FORGOTTEN
        if row["digest"] not in traces.messages:
            return text
        message = traces.messages[row["digest"]]
        parts = message.parts if message else ()
        call = row["part"] < len(parts) and isinstance(parts[row["part"]], ToolCall)
        # Of a form that is not in the journal the kind is not known; what looks like arguments stays JSON.
        return NO_ARGUMENTS if call or (message is None and text.lstrip().startswith("{")) else FORGOTTEN
    if row["act"] == Act.APPEND and lines.names(text):
        return ""
    left = lines.without(text)
    # Hidden rounds are JSON: they stay whole or go.
    return "" if row["act"] == Act.INSERT and left != text else left
