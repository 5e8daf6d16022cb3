"""What a message leaves behind beside itself: overviews and pins, what was put in its place, lines of a page or a
note that tell of it, and the lines of receipts. When it is forgotten, all of that goes too.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from memory.conversation import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from memory.conversation import digest as digest_of
from memory.edits import Act
from memory.stores.exchanges import forms
from memory.stores.messages import FORGOTTEN, unseal
from memory.stores.queries import QUERIES
from memory.stores.rows import listed, names
from memory.stores.shelf import ask_many

SHARED = 5
"""So many words in a row, and a line tells of a text."""

TELLING = 40
"""Characters from which on a part of a message is taken for one that no other message has."""

NO_ARGUMENTS = '{"forgotten":true}'
"""What stands in the place of a forgotten call's arguments, which must be JSON."""

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Traces:
    """What is looked for: the messages of one person under all their digests, and every text that is to go."""

    person: int
    messages: dict[bytes, Message | None] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def add(self, connection: sqlite3.Connection, digest: bytes) -> None:
        """A message that is to go, and the forms in which a client may have sent it back."""
        self.messages.setdefault(digest, None)
        for row in ask_many(connection, "messages_get", [digest], (self.person,)):
            try:
                message = unseal(row["digest"], row["role"], row["body"])
            except ValueError:
                continue
            if row["forgotten"]:
                continue
            self.messages[digest] = message
            if message.role is Role.ASSISTANT:
                for form in self._sent_back(message.parts):
                    self.messages.setdefault(form, None)
            self.texts.extend(texts_of(message.parts))

    def _sent_back(self, parts: Sequence[Part]) -> set[bytes]:
        """The digests under which a reply may come back. A part of it alone is one too, unless it says so little that
        other messages are likely to say the same."""
        found = {digest for sequence in forms(parts) for digest in sequence}
        for part in parts:
            said = "\n".join(texts_of([part]))
            if len(parts) > 1 and len(said) < TELLING and lines_without(said, self.texts) == said:
                found.discard(digest_of(Role.ASSISTANT, [part]))
        return found


def lines_without(text: str, gone: Sequence[str], handles: Iterable[str] = ()) -> str:
    """A text without the lines that tell of one of the texts that are gone, or name one of these handles."""
    runs, short = _runs(gone)
    marks = tuple(handles)
    kept = [
        line
        for line in text.split("\n")
        if not (any(mark in line for mark in marks) or _tells(_WORD.findall(line.casefold()), runs, short))
    ]
    return "\n".join(kept)


@dataclass(slots=True)
class Changed:
    """What was changed: the sessions whose ledger was, and the rows of entries and receipts."""

    sessions: set[str] = field(default_factory=set)
    entries: set[int] = field(default_factory=set)
    receipts: set[int] = field(default_factory=set)


def wipe(connection: sqlite3.Connection, traces: Traces, gone: Sequence[str], changed: Changed) -> None:
    """Remove what messages left behind. ``gone`` are the ids of the memories that go with them."""
    handles = [digest[:6].hex() for digest in traces.messages]
    for digest in traces.messages:
        connection.execute(QUERIES["overviews_forget"], (traces.person, digest))
        connection.execute(QUERIES["pins_forget"], (traces.person, digest))
    for session in ask_many(connection, "forget_sessions", list(traces.messages), (traces.person,)):
        for row in connection.execute(QUERIES["ledger_of"], (session["id"],)).fetchall():
            rewrite(connection, row, session["id"], _entry_without(row, traces, handles), gone, changed)
        for row in connection.execute(QUERIES["forget_sheds"], (session["number"],)).fetchall():
            told = orjson.loads(row["body"])
            lines = told["shed"]["parts"]
            told["shed"]["parts"] = [line for line in lines if lines_without(line, traces.texts, handles) == line]
            if told["shed"]["parts"] != lines:
                connection.execute(QUERIES["forget_receipt"], (orjson.dumps(told).decode(), row["number"]))
                changed.receipts.add(row["number"])


def rewrite(
    connection: sqlite3.Connection, row: sqlite3.Row, session: str, text: str, gone: Sequence[str], changed: Changed
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


def _entry_without(row: sqlite3.Row, traces: Traces, handles: Sequence[str]) -> str:
    """What an entry's text becomes."""
    text: str = row["text"]
    if not text or row["act"] == Act.OFFER:
        return text
    if row["act"] == Act.REPLACE:
        if row["digest"] not in traces.messages:
            return text
        message = traces.messages[row["digest"]]
        parts = message.parts if message else ()
        call = row["part"] < len(parts) and isinstance(parts[row["part"]], ToolCall)
        # Of a form that is not in the journal the kind is not known; what looks like arguments stays JSON.
        return NO_ARGUMENTS if call or (message is None and text.lstrip().startswith("{")) else FORGOTTEN
    if row["act"] == Act.APPEND and any(mark in text for mark in handles):
        return ""
    left = lines_without(text, traces.texts, handles)
    # Hidden rounds are JSON: they stay whole or go.
    return "" if row["act"] == Act.INSERT and left != text else left


def _runs(texts: Iterable[str]) -> tuple[set[tuple[str, ...]], list[tuple[str, ...]]]:
    """The runs of words of long texts, and short texts whole."""
    runs: set[tuple[str, ...]] = set()
    short: list[tuple[str, ...]] = []
    for text in texts:
        words = _WORD.findall(text.casefold())
        if len(words) >= SHARED:
            runs.update(tuple(words[start : start + SHARED]) for start in range(len(words) - SHARED + 1))
        elif len(words) > 1 or len(text.strip()) >= SHARED:
            short.append(tuple(words))
    return runs, short


def _tells(words: Sequence[str], runs: set[tuple[str, ...]], short: Sequence[tuple[str, ...]]) -> bool:
    if any(tuple(words[start : start + SHARED]) in runs for start in range(len(words) - SHARED + 1)):
        return True
    return any(
        tuple(words[start : start + len(phrase)]) == phrase
        for phrase in short
        if phrase
        for start in range(len(words) - len(phrase) + 1)
    )
