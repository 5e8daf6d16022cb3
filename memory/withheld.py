"""A conversation and a reply without what stands in files that memory never reads.

Known by the tool calls that name such a file: what they gave is left out, and what they wrote. Digests stay those of
what the client sent, so that sessions are found and edits stand where they did.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum
from threading import Lock
from typing import Any, Final

import orjson

from memory.actions import ActionKind, Place, action
from memory.conversation import Conversation, Message, Part, Reply, Text, ToolCall, ToolResult
from memory.unread_files import LONGEST_PATH, MARKER, UnreadFiles

WITHHELD: Final = f"[never read by memory: {MARKER}]"
"""What stands in the place of what was in such a file."""

MOST_VERDICTS: Final = 2**16
"""Messages of which it is known whether they touch such a file, about a hundred bytes each."""

_WRITTEN: Final = frozenset(
    {
        *("content", "contents", "file_text", "insert_text", "new_string", "newString", "new_str", "newText"),
        *("new_text", "old_string", "oldString", "old_str", "replacement"),
        *("CodeContent", "ReplacementContent", "code_edit"),
    }
)
"""Arguments that say what a file is to hold, and name none."""

# Each of these takes one way through a text: no two repetitions beside each other take the same characters.
_WORD: Final = re.compile(r"(?:\b[A-Za-z]:(?=[\\/]))?[^\s\"'`;|&<>()$=:,@{}\[\]]+")
_QUOTED: Final = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'")
_ESCAPED: Final = re.compile(r"(?:[^\s\\\"'`;|&<>()]|\\.)+")
_BEHIND: Final = re.compile(r"(?:[)}\]]|(?<=[\w)}\]])[\"'`])/+")
_PATCHES: Final = re.compile(r"^(?:\*\*\* |diff --git |--- |\+\+\+ )", re.MULTILINE)
_PATCHED: Final = re.compile(r"^(?:\*\*\* \w+ (?:File|to): |--- |\+\+\+ )([^\t\n]+)", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*[mK]")
_PLACE: Final = re.compile(r"-\d{1,9}-")
_NUMBERED: Final = re.compile(r"[ \t]*(?:Line |L)?\d{1,9}[ \t]*[:-]")
_MOST_PLACES: Final = 5
_HEADINGS: Final = ("--- ", "+++ ", "==> ", "rename from ", "rename to ", "copy from ", "copy to ")


class _Verdict(IntEnum):
    """Whether a part touches such a file: not; only by reading, or listing; also by its own words."""

    NONE = 0
    READS = 1
    SAYS = 2


class _Verdicts:
    """What is known of messages, by their digests and the globs: a history comes again with every request."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[_Verdict, ...]] = {}
        self._lock = Lock()
        self.read = 0
        """How many messages had to be read."""

    def of(self, message: Message, unread: UnreadFiles) -> tuple[_Verdict, ...]:
        """Part by part; empty where no part can touch a file."""
        parts = message.parts
        if not any(isinstance(part, ToolCall | ToolResult) for part in parts):
            return ()
        # The digest leaves out what is called an id: it may name a file.
        calls = [[part.name, part.arguments] for part in parts if isinstance(part, ToolCall)]
        key = unread.digest + message.digest
        if calls:
            key += hashlib.blake2b(repr(calls).encode(errors="backslashreplace"), digest_size=16).digest()
        known = self._known.get(key)
        if known is None:
            known = tuple(_verdict(part, unread) for part in parts)
            with self._lock:
                self.read += 1
                while len(self._known) >= MOST_VERDICTS:
                    del self._known[next(iter(self._known))]
                self._known[key] = known
        return known


verdicts: Final = _Verdicts()


def withheld(conversation: Conversation, unread: UnreadFiles) -> Conversation:
    """The conversation without what such files say; itself where none was touched."""
    if not unread:
        return conversation
    changed: dict[Place, Part] = {}
    # By a call's id, which may come again in another turn: whether it touches such a file, and has been answered.
    asked: dict[str, tuple[bool, bool]] = {}
    for index, message in enumerate(conversation.messages):
        for number, verdict in enumerate(verdicts.of(message, unread)):
            part = message.parts[number]
            if isinstance(part, ToolCall):
                touched, answered = asked.get(part.id, (False, False))
                asked[part.id] = (verdict > _Verdict.NONE or (touched and not answered), False)
                if verdict is _Verdict.SAYS:
                    changed[index, number] = _without_arguments(part)
            elif isinstance(part, ToolResult):
                touched = asked.get(part.call_id, (False, False))[0]
                asked[part.call_id] = (touched, True)
                if touched or verdict:
                    changed[index, number] = replace(part, content=(Text(WITHHELD),))
    if not changed:
        return conversation
    messages = list(conversation.messages)
    for index in dict.fromkeys(index for index, _ in changed):
        messages[index] = _with(messages[index], index, changed)
    return replace(conversation, messages=tuple(messages))


def withheld_reply(reply: Reply, unread: UnreadFiles) -> Reply:
    """The reply without what it has such files hold; itself where it touches none."""
    if not unread:
        return reply
    kept = tuple(
        _without_arguments(each)
        if isinstance(each, ToolCall) and _call_names_file(each, unread) is _Verdict.SAYS
        else each
        for each in reply.parts
    )
    return reply if kept == reply.parts else replace(reply, parts=kept, sent=reply.parts)


def _verdict(part: Part, unread: UnreadFiles) -> _Verdict:
    if isinstance(part, ToolCall):
        return _call_names_file(part, unread)
    # What a search found is listed by file, whatever it was asked for.
    if isinstance(part, ToolResult) and _any_of(_files_of_result(part.text), unread):
        return _Verdict.READS
    return _Verdict.NONE


def _call_names_file(call: ToolCall, unread: UnreadFiles) -> _Verdict:
    """Whether a call names one of the files: as a path, or as a word of a command."""
    told = action((0, 0), call, None, None)
    if not _any_of((*told.paths, *_names_in_text(told.command), *_names_in_arguments(call.arguments)), unread):
        return _Verdict.NONE
    return _Verdict.READS if told.kind is ActionKind.READ else _Verdict.SAYS


def _any_of(names: Iterator[str] | tuple[str, ...], unread: UnreadFiles) -> bool:
    seen = set[str]()
    for name in names:
        if name not in seen:
            seen.add(name)
            if unread.matches(name):
                return True
    return False


def _names_in_arguments(arguments: str) -> Iterator[str]:
    """What may name a file in a call's arguments, however deep it stands."""
    try:
        left: list[Any] = [orjson.loads(arguments)]
    except orjson.JSONDecodeError:
        return
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += (each for key, each in value.items() if not (key in _WRITTEN and isinstance(each, str)))
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield from _names_in_text(value)


def _names_in_text(text: str) -> Iterator[str]:
    """What may name a file in a text: all of it, what stands in quotes, and its words. Of a patch, its headings."""
    if not text:
        return
    if _PATCHES.match(text.lstrip()):
        for heading in _PATCHED.finditer(text):
            yield heading[1]
        text = "\n".join(line for line in text.split("\n") if line.startswith("diff --git "))
    elif len(text) <= LONGEST_PATH:
        yield text
    for quoted in _QUOTED.finditer(text):
        yield quoted[1] or quoted[2]
    if "\\ " in text:
        for escaped in _ESCAPED.finditer(text):
            yield escaped[0].replace("\\ ", " ")
    for word in _WORD.finditer(_BEHIND.sub(" ", text)):
        yield word[0]
        if "*" in word[0]:
            # For a shell, a star may be nothing.
            yield word[0].replace("*", "")


def _files_of_result(text: str) -> Iterator[str]:
    """The files by whose names a result is ordered: ``path:text``, ``path-3-text``, a heading above numbered lines, and
    the headings of a patch."""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    heading = ""
    for whole in text.split("\n"):
        line = whole[:LONGEST_PATH].strip("\r")
        if not line or line.isspace():
            continue
        if line.startswith("diff --git "):
            yield from _names_in_text(line)
        elif line.startswith(_HEADINGS):
            yield line.split(" ", 2 if line[0] in "rc" else 1)[-1].split("\t")[0].removesuffix(" <==")
        if _NUMBERED.match(line):
            if heading:
                yield heading.strip().removesuffix(":")
                heading = ""
        else:
            heading = line
        yield from _file_before_text(line)


def _file_before_text(line: str) -> Iterator[str]:
    at = line.find(":", 2 if line[1:3] in (":\\", ":/") else 0)
    if at > 0:
        file, text = line[:at].strip(), line[at + 1 :]
        if file.casefold() in ("file", "path"):
            yield text.strip()
        # A key of a YAML file is none.
        elif text and ("/" in file or "." in file or not text[0].isspace()):
            yield file
    if "-" in line:
        for number, place in enumerate(_PLACE.finditer(line)):
            if number == _MOST_PLACES:
                break
            yield line[: place.start()].strip()


def _without_arguments(part: Part) -> Part:
    assert isinstance(part, ToolCall)
    return replace(part, arguments=orjson.dumps({"withheld": WITHHELD}).decode())


def _with(message: Message, index: int, changed: dict[Place, Part]) -> Message:
    parts = tuple(changed.get((index, number), part) for number, part in enumerate(message.parts))
    return Message(message.role, parts, message.digest, message.spoken, message.takes)
