"""A conversation and a reply without what stands in files that memory never reads.

Known by the tool calls that name such a file: what they gave is left out, and what they wrote. Digests stay those of
what the client sent, so that sessions are found and edits stand where they did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import orjson

from memory.actions import ActionKind, Place, ToolAction, action, actions, parts_of
from memory.conversation import Conversation, Message, Part, Reply, Text, ToolCall, ToolResult
from memory.unread_files import MARKER, UnreadFiles

WITHHELD: Final = f"[never read by memory: {MARKER}]"
"""What stands in the place of what was in such a file."""

_LONGEST_NAME: Final = 1000
_LONGEST_COMMAND: Final = 20_000
_WORD: Final = re.compile(r"[^\s\"'`;|&<>()$=:,{}\[\]]+")
_LISTED: Final = re.compile(r"^\s*(?P<file>[^\s:]+)[:-]\d+[:-]", re.MULTILINE)


def withheld(conversation: Conversation, unread: UnreadFiles) -> Conversation:
    """The conversation without what such files say; itself where none was touched."""
    if not unread:
        return conversation
    parts = parts_of(conversation)
    calls = dict(parts.calls)
    changed: dict[Place, Part] = {}
    for each in actions(conversation, parts):
        call = calls[each.call]
        if not _concerns(each, call, unread):
            continue
        if each.kind is not ActionKind.READ:
            changed[each.call] = _without_arguments(call)
        if each.result is not None:
            changed[each.result] = _without_content(conversation, each.result)
    for place, result in parts.results:
        # What a search found is listed by file, whatever it was asked for.
        if place not in changed and any(unread.matches(line["file"]) for line in _LISTED.finditer(result.text)):
            changed[place] = _without_content(conversation, place)
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

    def written(part: Part) -> bool:
        if not isinstance(part, ToolCall):
            return False
        told = action((0, 0), part, None, None)
        return told.kind is not ActionKind.READ and _concerns(told, part, unread)

    kept = tuple(_without_arguments(each) if written(each) else each for each in reply.parts)
    return reply if kept == reply.parts else replace(reply, parts=kept, sent=reply.parts)


def _concerns(told: ToolAction, call: ToolCall, unread: UnreadFiles) -> bool:
    """Whether a call names one of the files: as a path, or as a word of a command."""
    words = _WORD.findall(told.command[:_LONGEST_COMMAND])
    return any(map(unread.matches, (*told.paths, *words, *_names(call.arguments))))


def _names(arguments: str) -> Iterator[str]:
    """The texts of a call's arguments that may name a file, however deep they stand."""
    try:
        left: list[Any] = [orjson.loads(arguments)]
    except orjson.JSONDecodeError:
        return
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and "\n" not in value:
            yield value


def _without_arguments(part: Part) -> Part:
    assert isinstance(part, ToolCall)
    return replace(part, arguments=orjson.dumps({"withheld": WITHHELD}).decode())


def _without_content(conversation: Conversation, place: Place) -> Part:
    part = conversation.messages[place[0]].parts[place[1]]
    assert isinstance(part, ToolResult)
    return replace(part, content=(Text(WITHHELD),))


def _with(message: Message, index: int, changed: dict[Place, Part]) -> Message:
    parts = tuple(changed.get((index, number), part) for number, part in enumerate(message.parts))
    return Message(message.role, parts, message.digest, message.spoken, message.takes)
