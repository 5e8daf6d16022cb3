"""Page in what the talk turns to: the shell that keeps what was shed of each session at hand and asks for it.

A client sends its whole history every time, so what was shed stands in its own request; nothing is read from a store.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from memory.context.paging import ShedContents, question, rendered, turned_to
from memory.conversation import Conversation, Message, Part, Role, Text, ToolCall, ToolResult
from memory.edits import PAGED, ActiveEdits, handle
from memory.settings import SheddingSettings

FLOOR = 6.0
"""How much a line must share with what was said last to come back: a rare word or two."""

AT_A_RESULT = 2 / 3
"""The share of the budget that may come back at a tool's result: a turn has many of those."""

SHARE = 0.3
"""The share of the window that what came back may fill."""

BYTES_PER_TOKEN = 4

ROOM = 96 * 2**20
"""Bytes, about, of what is kept at hand of what was shed. The session that asks has it though it alone be larger."""

SHORT = 240
"""Characters of a call below which it does not come back: it says what was done, and what came of that is its result's
to say."""

FEW = 8
"""Contents that are taken in without a thread."""

MANY = 200
"""Contents from which on they are searched in a thread."""

LONG = 20_000
"""Characters of what was newly said from which on it is read in a thread: a few milliseconds for so many."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What comes back: the text that is added, and the handles of what it is from."""

    text: str = ""
    handles: tuple[str, ...] = ()


class PageIn:
    """Finds what of a session's shed content the newest message turns to."""

    def __init__(self, settings: SheddingSettings) -> None:
        self._settings = settings
        self._absent: OrderedDict[str, tuple[ShedContents, Lock]] = OrderedDict()

    async def page_in(self, session: str, conversation: Conversation, standing: ActiveEdits, window: int) -> Returned:
        """What should come back at the newest message; nothing where nothing was shed."""
        budget = self._page_in_budget(conversation, standing, window)
        if not (standing.replaced or standing.dropped) or budget <= 0:
            return Returned()
        gone = gone_from(conversation, standing)
        absent, lock = self._absent.setdefault(session, (ShedContents(), Lock()))
        if len(absent) > 2 * len(gone) + MANY:
            # Most of what is at hand has left the request's sight since.
            absent, lock = self._absent[session] = ShedContents(), Lock()
        self._absent.move_to_end(session)
        self._make_room()

        def found() -> Returned:
            # A search that was given up for its time still runs to its end: the next one waits for it.
            with lock:
                take_in(absent, conversation, gone)
                return found_in(absent, conversation, standing, gone, budget)

        much = (
            len(gone) > len(absent) + FEW
            or len(gone) > MANY
            or lock.locked()
            or _new_chars(absent, conversation) > LONG
        )
        return await asyncio.to_thread(found) if much else found()

    def _make_room(self) -> None:
        """Let go of the sessions that were not asked about for the longest time."""
        size = sum(absent.size for absent, _ in self._absent.values())
        while size > ROOM and len(self._absent) > 1:
            _, (gone, _) = self._absent.popitem(last=False)
            size -= gone.size

    def _page_in_budget(self, conversation: Conversation, standing: ActiveEdits, window: int) -> int:
        """Tokens that may come back here."""
        share = 1.0 if conversation.messages[conversation.newest].spoken else AT_A_RESULT
        back = sum(len(entry.text) for _, entry in standing.entries if entry.about == PAGED) // BYTES_PER_TOKEN
        return min(int(self._settings.paging_tokens * share), int(SHARE * window) - back)


Place = tuple[int, int]


def gone_from(conversation: Conversation, standing: ActiveEdits) -> dict[str, Place]:
    """By handle the parts that do not stand in the request as they were, anywhere: the same message may have been said
    again, and stand there whole."""
    messages, dropped = conversation.messages, standing.dropped
    left = [(index, part) for index in dropped for part in range(len(messages[index].parts))]
    places = dict.fromkeys((*standing.replaced, *left))
    digests = {messages[index].digest for index, _ in places}
    whole = {
        handle(message.digest, part)
        for index, message in enumerate(messages)
        if message.digest in digests and index not in dropped
        for part in range(len(message.parts))
        if (index, part) not in places
    }
    gone = {handle(messages[index].digest, part): (index, part) for index, part in places}
    return {name: place for name, place in gone.items() if name not in whole and not _short(messages, *place)}


def _new_chars(absent: ShedContents, conversation: Conversation) -> int:
    """Characters of what was said since the last time."""
    said = conversation.messages[absent.heard_messages(conversation) :]
    return sum(len(_text(part)) for message in said for part in message.parts)


def _short(messages: Sequence[Message], index: int, number: int) -> bool:
    parts = messages[index].parts
    part = parts[number] if number < len(parts) else None
    return isinstance(part, ToolCall) and len(part.arguments) < SHORT


def take_in(absent: ShedContents, conversation: Conversation, gone: Mapping[str, Place]) -> None:
    """What the session said since the last time, and what was shed of it."""
    for message in conversation.messages[absent.heard_messages(conversation) :]:
        for number, part in enumerate(message.parts):
            spoken = message.role in (Role.ASSISTANT, Role.USER)
            absent.hear(handle(message.digest, number), _text(part), spoken)
    new = {name: place for name, place in gone.items() if name not in absent}
    if not new:
        return
    calls = {call.id: call for message in conversation.messages for call in message.calls}
    for name, (index, number) in new.items():
        message = conversation.messages[index]
        if number < len(message.parts):
            part = message.parts[number]
            absent.add(name, _describe_content(part, calls), _text(part))


def found_in(
    absent: ShedContents, conversation: Conversation, standing: ActiveEdits, gone: Mapping[str, Place], budget: int
) -> Returned:
    """What of a session's absent contents the newest message turns to."""
    back = "\n".join(entry.text for _, entry in standing.entries if entry.about != "recall")

    def stands(name: str) -> str:
        entry = standing.replaced.get(gone[name])
        return f"{entry.text}\n{back}" if entry else back

    found = absent.excerpts(question(turned_to(conversation)), budget, gone, stands, FLOOR)
    return Returned(rendered(found), tuple(excerpt.handle for excerpt in found))


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


def _describe_content(part: Part, calls: Mapping[str, ToolCall]) -> str:
    """What a content is, in a few words: what its call was on, or which tool it was."""
    call = part if isinstance(part, ToolCall) else calls.get(part.call_id) if isinstance(part, ToolResult) else None
    if call is None:
        return ""
    found = _ON.search(call.arguments)
    return found["on"] if found else call.name


_ON = re.compile(
    r'"(?:file_?path|path|filename|file|command|cmd|pattern|query|url)"\s*:\s*"(?P<on>[^"\\]{1,60})', re.IGNORECASE
)
