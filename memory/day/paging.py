"""Page in what the talk turns to: the shell that keeps what was shed of each session at hand and asks for it.

A client sends its whole history every time, so what was shed stands in its own request; nothing is read from a store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from memory.context.paging import Absent, question, rendered, turned_to
from memory.conversation import Conversation, Message, Part, Text, ToolCall, ToolResult
from memory.edits import PAGED, Standing, handle
from memory.settings import SheddingSettings

FLOOR = 14.0
"""The least score of lines that come back: two or three rare words of what was said last. Measured: each thousandth
of the cost below it buys less than a richer overview does."""

AT_A_RESULT = 0.1
"""The share of the budget that may come back at a tool's result: a turn has many of those."""

SHARE = 0.1
"""The share of the window that what came back may fill."""

BYTES_PER_TOKEN = 4

SESSIONS = 64
"""Sessions of which what was shed is kept at hand."""

FEW = 4
"""Contents that are taken in without a thread."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What comes back: the text that is added, and the handles of what it is from."""

    text: str = ""
    handles: tuple[str, ...] = ()


class Paging:
    """Finds what of a session's shed content the newest message turns to."""

    def __init__(self, settings: SheddingSettings) -> None:
        self._settings = settings
        self._absent: OrderedDict[str, Absent] = OrderedDict()

    async def page_in(self, session: str, conversation: Conversation, standing: Standing, window: int) -> Returned:
        """What should come back at the newest message; nothing where nothing was shed."""
        budget = self._budget(conversation, standing, window)
        if not (standing.replaced or standing.dropped) or budget <= 0:
            return Returned()
        absent = self._absent.setdefault(session, Absent())
        self._absent.move_to_end(session)
        while len(self._absent) > SESSIONS:
            self._absent.popitem(last=False)
        stands = _stands(conversation, standing)
        new = {name: place for name, (place, _) in stands.items() if name not in absent}
        if len(new) > FEW:
            await asyncio.to_thread(_take_in, absent, conversation, new)
        else:
            _take_in(absent, conversation, new)
        back = "\n".join(entry.text for _, entry in standing.entries if entry.about == PAGED)
        found = absent.excerpts(
            question(turned_to(conversation)),
            budget * BYTES_PER_TOKEN,
            {name: text for name, (_, text) in stands.items()},
            FLOOR,
            back,
        )
        return Returned(rendered(found), tuple(excerpt.handle for excerpt in found))

    def _budget(self, conversation: Conversation, standing: Standing, window: int) -> int:
        """Tokens that may come back here."""
        share = 1.0 if conversation.messages[-1].spoken else AT_A_RESULT
        back = sum(len(entry.text) for _, entry in standing.entries if entry.about == PAGED) // BYTES_PER_TOKEN
        return min(int(self._settings.paging_tokens * share), int(SHARE * window) - back)


Place = tuple[int, int]


def _stands(conversation: Conversation, standing: Standing) -> dict[str, tuple[Place, str]]:
    """By handle the parts that do not stand in the request as they were, each with what stands there instead."""
    messages = conversation.messages
    stands = {
        handle(messages[index].digest, part): ((index, part), entry.text)
        for (index, part), entry in standing.replaced.items()
    }
    for index in standing.dropped:
        for part in range(len(messages[index].parts)):
            stands[handle(messages[index].digest, part)] = (index, part), ""
    return stands


def _take_in(absent: Absent, conversation: Conversation, new: Mapping[str, Place]) -> None:
    if not new:
        return
    calls = {call.id: call for message in conversation.messages for call in message.calls}
    for name, (index, number) in new.items():
        message = conversation.messages[index]
        if number < len(message.parts):
            part = message.parts[number]
            absent.add(name, _label(message, part, calls), _text(part))


def _text(part: Part) -> str:
    match part:
        case ToolResult():
            return part.text
        case ToolCall(_, _, arguments):
            return arguments.replace("\\n", "\n")
        case Text(text):
            return text
        case _:
            return ""


def _label(message: Message, part: Part, calls: Mapping[str, ToolCall]) -> str:
    match part:
        case ToolResult(call_id):
            call = calls.get(call_id)
            return f"{call.name} {call.arguments}"[:160] if call else "a tool's result"
        case ToolCall(_, name, _):
            return name
        case _:
            return f"said by the {message.role}"
