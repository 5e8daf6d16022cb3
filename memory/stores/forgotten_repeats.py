"""Where a forgotten text stands in messages that no memory came from: a tool printed it, a call had it among its
arguments, a reply said it once more. The lines that hold it go, there and in what was put in their place; the rest of
a message stays.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import orjson

from memory.conversation import Part, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import Act
from memory.language.sentences import sentences
from memory.learning.research_erasure import FORGOTTEN, NO_ARGUMENTS
from memory.stores.connection import Connection, Row
from memory.stores.erasure import MIN_UNIQUE_CHARS, ErasedTraces, rewrite
from memory.stores.messages import body_of, opened, unseal
from memory.stores.queries import QUERIES

LEAST = 8
"""Characters of a text from which on it is looked for: what is shorter stands in many messages by chance."""

_WORD = re.compile(r"[^\W_]+")
_COMMAND = re.compile(r"`([^`\n]+)`")


class RepeatEraser:
    """Finds texts again, in whatever lines and punctuation they stand, and takes out the lines: a text whole, and each
    sentence and each command in it that is long enough to be of nothing else."""

    def __init__(self, texts: Iterable[str]) -> None:
        pieces = [piece for text in texts for piece in _pieces(text)]
        found = {words for piece in pieces if len(piece) >= LEAST and len(words := _words(piece)) > 1}
        self._texts = [(max(words, key=len), f" {' '.join(words)} ") for words in sorted(found)]

    def __bool__(self) -> bool:
        return bool(self._texts)

    def may_hold(self, text: str) -> bool:
        """Whether one of them may stand there: quick, and never wrong when it says no."""
        folded = text.casefold()
        return any(longest in folded for longest, _ in self._texts)

    def without(self, text: str) -> str:
        """A text without the lines in which one of them stands; empty where nothing is left."""
        if not self.may_hold(text):
            return text
        lines = text.split("\n")
        words = [" ".join(_words(line)) for line in lines]
        whole = f" {' '.join(filter(None, words))} "
        # Where each line begins in ``whole``: one without words is as long as nothing.
        starts = [1, *accumulate((len(each) + 1 if each else 0 for each in words), initial=1)][1:]
        gone: set[int] = set()
        for _, needle in self._texts:
            at = whole.find(needle)
            while at >= 0:
                begin, end = at + 1, at + len(needle) - 1
                gone.update(n for n, each in enumerate(words) if starts[n] < end and starts[n] + len(each) > begin)
                at = whole.find(needle, at + 1)
        if not gone:
            return text
        return "\n".join(line for number, line in enumerate(lines) if number not in gone).strip("\n")


@dataclass(frozen=True, slots=True)
class RepeatedMessage:
    """A message that holds it, as it is to be left."""

    person: int
    digest: bytes
    role: Role
    parts: tuple[Part, ...]
    spoken: str


def find(
    connection: Connection, persons: Iterable[int], repeats: RepeatEraser, behind: int = 0
) -> tuple[list[RepeatedMessage], int]:
    """The messages of some persons that hold one of the texts, of those whose number is ``behind`` one; and the number
    of the newest message that there is."""
    (newest,) = connection.execute(QUERIES["messages_newest"]).fetchone()
    found = []
    for person in persons if repeats else ():
        for row in connection.execute(QUERIES["messages_behind"], (person, behind)):
            try:
                # Of most messages this is all that is looked at.
                if not repeats.may_hold(opened(row["body"], whole=True).decode("utf-8", "replace")):
                    continue
                message = unseal(row["digest"], row["role"], row["body"], whole=True)
            except (ValueError, zlib.error):
                continue
            parts, spoken = tuple(_part(part, repeats) for part in message.parts), repeats.without(message.spoken)
            if parts != tuple(message.parts) or spoken != message.spoken:
                found.append(RepeatedMessage(person, message.digest, message.role, parts, spoken))
    return found, newest


def strike(
    connection: Connection,
    persons: Iterable[int],
    repeats: RepeatEraser,
    found: Sequence[RepeatedMessage],
    changed: ErasedTraces,
) -> None:
    """Leave of messages only what does not go, and take the lines out of overviews and ledger entries."""
    for each in found:
        body = body_of(each.parts, each.spoken)
        connection.execute(QUERIES["forget_parts"], (body, each.person, each.digest, each.role.value))
    for person in persons if repeats else ():
        for row in connection.execute(QUERIES["overviews_told"], (person,)).fetchall():
            remaining = repeats.without(row["line"]), repeats.without(row["overview"])
            if remaining != (row["line"], row["overview"]):
                connection.execute(
                    QUERIES["overview_rewrite"], (*(text or FORGOTTEN for text in remaining), row["number"])
                )
        for row in connection.execute(QUERIES["ledgers_of"], (person,)).fetchall():
            rewrite(connection, row, row["id"], _erased_entry_text(row, repeats), (), changed)


def _pieces(text: str) -> list[str]:
    return [text, *(piece for piece in (*sentences(text), *_COMMAND.findall(text)) if len(piece) >= MIN_UNIQUE_CHARS)]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _part(part: Part, repeats: RepeatEraser) -> Part:
    match part:
        case Text(text):
            return part if (left := repeats.without(text)) == text else Text(left or FORGOTTEN)
        case Reasoning(text, signature):
            return part if (left := repeats.without(text)) == text else Reasoning(left, signature)
        case ToolCall(id, name, arguments):
            return part if (left := _erased_arguments(arguments, repeats)) == arguments else ToolCall(id, name, left)
        case ToolResult(call_id, content, failed):
            inner = tuple(_part(each, repeats) for each in content)
            return part if inner == content else ToolResult(call_id, inner, failed)  # type: ignore[arg-type]
    return part


def _erased_arguments(arguments: str, repeats: RepeatEraser) -> str:
    """What a call's arguments become, which stay JSON."""
    if not repeats.may_hold(arguments):
        return arguments
    try:
        read = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments if repeats.without(arguments) == arguments else NO_ARGUMENTS
    left = _value(read, repeats)
    return arguments if left == read else orjson.dumps(left).decode()


def _value(value: Any, repeats: RepeatEraser) -> Any:
    match value:
        case str():
            return value if (left := repeats.without(value)) == value else left or FORGOTTEN
        case Mapping():
            return {name: _value(inner, repeats) for name, inner in value.items()}
        case list():
            return [_value(inner, repeats) for inner in value]
    return value


def _erased_entry_text(row: Row, repeats: RepeatEraser) -> str:
    """What a ledger entry's text becomes. Hidden rounds are JSON: they stay whole or go."""
    text: str = row["text"]
    if row["act"] == Act.OFFER or not text:
        return text
    if row["act"] == Act.REPLACE and text.lstrip().startswith("{"):
        return _erased_arguments(text, repeats)
    left = repeats.without(text)
    if left == text:
        return text
    return "" if row["act"] == Act.INSERT else left or (FORGOTTEN if row["act"] == Act.REPLACE else "")
