"""The tiers of a recorded session's parts, each made once."""

from __future__ import annotations

import json
from typing import Any

from memory.conversation import Conversation, Image, Text, ToolCall, ToolResult
from memory.edits import handle
from memory.tiers.calls import arguments
from memory.tiers.shape import Hint, hint_of
from memory.tiers.tier_choice import tiers

CALL = 0.2
"""The share of a call's arguments that their overview has."""


class Overviews:
    """L0 and L1 of each part of a conversation, and how large the part is."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._calls = {call.id: call for message in conversation.messages for call in message.calls}
        self._made: dict[tuple[int, int], tuple[str, str]] = {}
        self._sizes: dict[tuple[int, int], int] = {}

    def tokens(self, message: int, part: int) -> int:
        """How large a part is."""
        place = message, part
        if place not in self._sizes:
            self._sizes[place] = _size(text_of(self._conversation.messages[message].parts[part]))
        return self._sizes[place]

    def of(self, message: int, part: int) -> tuple[str, str]:
        """The line and the overview of a part."""
        place = message, part
        if place not in self._made:
            self._made[place] = self._make(message, part)
        return self._made[place]

    def _make(self, message: int, part: int) -> tuple[str, str]:
        said = self._conversation.messages[message].parts[part]
        text = text_of(said)
        if isinstance(said, ToolCall):
            name = handle(self._conversation.messages[message].digest, part)
            return "", arguments(said.name, said.arguments, int(len(said.arguments) * CALL), name) or ""
        hint = Hint()
        if isinstance(said, ToolResult) and said.call_id in self._calls:
            call = self._calls[said.call_id]
            hint = hint_of(call.name, call.arguments, said.failed)
        made = tiers(text, hint)
        return made.line, made.overview


def text_of(part: Any) -> str:
    """What a part says."""
    match part:
        case Text(text):
            return text
        case ToolResult():
            return part.text
        case ToolCall():
            return part.arguments
        case Image(source):
            return source
    return ""


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) // 4
