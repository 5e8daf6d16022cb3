"""What of a conversation must not be shed, and what only as the last resort.

System messages, the head and the live tool loop are for ever whole; so are the newest plan, a sub-agent's report that
nobody has drawn on yet, and what is pinned. Human messages leave last of all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.actions import ActionKind, Place, ToolAction
from memory.conversation import Conversation, Role, ToolResult

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
