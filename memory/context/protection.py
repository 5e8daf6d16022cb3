"""What of a conversation must not be shed, and what only as the last resort.

System messages, the head and the live tool loop are for ever whole; so are the newest plan, a sub-agent's report that
nobody has drawn on yet, and what is pinned. Human messages leave last of all.

What a person has pinned: it never gives way to a stub, and where it leaves with its round, the note says it.

Where a new segment begins: at the start of a whole group, with a tail of about the size that is wished for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memory.actions import ActionKind, Parts, Place, ToolAction, parts_of
from memory.conversation import Conversation, Role, ToolResult
from memory.edits import ActiveEdits, handle

_NAME = re.compile(r"[A-Za-z_][\w./:-]{7,}")
_DRAWN_ON = 2
"""So many of a report's own names in what the assistant says later, and it has been used."""
_LONG_AGO = 30
"""Messages of the assistant after which a report counts as used, whatever they say."""


@dataclass(frozen=True, slots=True)
class Protection:
    """``tail`` is the first message of the live loop, ``newest`` of its last round, which no step touches;
    ``parts`` stay whole wherever they stand; ``human`` are the messages of people."""

    head: int
    tail: int
    newest: int
    parts: frozenset[Place]
    human: frozenset[int]


def protection(
    conversation: Conversation,
    done: Sequence[ToolAction],
    sizes: Sequence[int],
    live: int,
) -> Protection:
    """What stays. ``live`` is how many tokens at the end are the live tool loop."""
    messages = conversation.messages
    newest = last_round(conversation)
    tail, left = newest, live - sum(sizes[newest:])
    while tail > conversation.head and sizes[tail - 1] <= left:
        tail -= 1
        left -= sizes[tail]
    parts = set[Place]()
    plans = [action for action in done if action.kind is ActionKind.PLAN]
    if plans:
        parts.update(place for place in (plans[-1].call, plans[-1].result) if place is not None)
    parts.update(_unused_reports(conversation, done))
    human = frozenset(index for index, message in enumerate(messages) if message.spoken)
    return Protection(conversation.head, tail, newest, frozenset(parts), human)


def last_round(conversation: Conversation) -> int:
    """Where the newest round begins: the last message of the assistant and what answers it, or the last message."""
    messages = conversation.messages
    newest = max(conversation.newest, 0)
    index = newest + 1 if messages else 0
    while index > 0 and messages[index - 1].role is not Role.ASSISTANT and not messages[index - 1].spoken:
        index -= 1
    # In the Responses format each call is an item of its own: a round's begin with the first behind the last result.
    while index > 0 and messages[index - 1].role is Role.ASSISTANT:
        index -= 1
    return min(index, newest)


def _unused_reports(conversation: Conversation, done: Sequence[ToolAction]) -> set[Place]:
    messages = conversation.messages
    found = set[Place]()
    for action in done:
        if action.kind is not ActionKind.DELEGATE or action.result is None:
            continue
        index, number = action.result
        after = [message for message in messages[index + 1 :] if message.role is Role.ASSISTANT]
        if len(after) >= _LONG_AGO:
            continue
        report = messages[index].parts[number]
        names = set(_NAME.findall(report.text)) if isinstance(report, ToolResult) else set()
        transcript = "\n".join(message.text + "".join(call.arguments for call in message.calls) for message in after)
        if sum(name in transcript for name in names) < _DRAWN_ON:
            found.add(action.result)
    return found


@dataclass(frozen=True, slots=True)
class PinnedContents:
    """The pinned contents of a request: ``texts`` by their handles, empty of what is no text, and the ``last`` message
    in which each stands whole."""

    texts: Mapping[str, str]
    last: Mapping[str, int]

    def leaving(self, cut: int) -> list[str]:
        """The texts that do not stand in a segment which begins at this message."""
        return [text for name, text in self.texts.items() if text and self.last.get(name, -1) < cut]


def pins(conversation: Conversation, standing: ActiveEdits, texts: Mapping[str, str]) -> PinnedContents:
    """Where what is pinned stands. What stands in the head never leaves."""
    wanted = {name.partition(".")[0] for name in texts}
    last: dict[str, int] = {}
    for index, message in enumerate(conversation.messages if wanted else ()):
        if index in standing.dropped or handle(message.digest, 0).partition(".")[0] not in wanted:
            continue
        stays = index if index >= conversation.head else len(conversation.messages)
        for number in range(len(message.parts)):
            if (index, number) not in standing.replaced:
                name = handle(message.digest, number)
                last[name] = max(stays, last.get(name, stays))
    return PinnedContents(texts, last)


def beginnings(conversation: Conversation, parts: Parts | None = None) -> list[int]:
    """The messages at which a segment may begin: a person's, or the first of a turn of the assistant. ``parts`` are the
    conversation's own where they are gathered already."""
    found = []
    calls, results, _ = parts if parts is not None else parts_of(conversation)
    # A call that is never answered holds nothing open.
    answered = {result.call_id for _, result in results}
    opens: dict[int, list[str]] = {}
    closes: dict[int, list[str]] = {}
    for (index, _), call in calls:
        if call.id in answered:
            opens.setdefault(index, []).append(call.id)
    for (index, _), result in results:
        if index in closes:
            closes[index].append(result.call_id)
        else:
            closes[index] = [result.call_id]
    open_calls: set[str] = set()
    head = conversation.head
    before: Role | None = None
    for index, message in enumerate(conversation.messages):
        role, closed = message.role, closes.get(index)
        free = closed is None and not open_calls and index > head
        if free and ((role is Role.ASSISTANT and before is not Role.ASSISTANT) or message.spoken):
            found.append(index)
        if (opened := opens.get(index)) is not None:
            open_calls.update(opened)
        if closed is not None:
            open_calls.difference_update(closed)
        before = role
    return found


def beginning(
    conversation: Conversation, sizes: Sequence[int], room: int, latest: int, parts: Parts | None = None
) -> int | None:
    """The earliest message at which a segment may begin so that what is from there on fits in ``room`` tokens; where
    none does, the last possible one, but not behind ``latest``."""
    behind = [*accumulate(reversed(sizes), initial=0)][::-1]
    places = [index for index in beginnings(conversation, parts) if index <= latest]
    return next((index for index in places if behind[index] <= room), places[-1] if places else None)
