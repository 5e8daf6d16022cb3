"""The tiers of a recorded session's parts, each made once."""

from __future__ import annotations

import json
from typing import Any

from memory.conversation import Conversation, Image, Text, ToolCall, ToolResult
from memory.edits import handle
from memory.tiers.lines import lines
from memory.tiers.shape import budget_of, hint_of


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
            return "", _arguments(said, handle(self._conversation.messages[message].digest, part))
        if isinstance(said, ToolResult) and said.call_id in self._calls:
            call = self._calls[said.call_id]
            hint = hint_of(call.name, call.arguments, said.failed)
            line = f"{call.name} {hint.path or hint.command or call.arguments}"[:120]
        else:
            hint, line = hint_of("", ""), text.strip().split("\n")[0][:100]
        return line, lines(text, hint, budget_of(text))


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


def _arguments(call: ToolCall, name: str) -> str:
    try:
        read = json.loads(call.arguments)
    except ValueError:
        return ""
    if not isinstance(read, dict):
        return ""
    short = {}
    for key, value in read.items():
        if isinstance(value, str) and len(value) > 300:
            value = lines(value, hint_of(call.name, ""), len(value) // 4) + f"\n[shortened: palimpsest show {name}]"
        short[key] = value
    text = json.dumps(short, ensure_ascii=False)
    return text if len(text) < len(call.arguments) * 0.7 else ""
