"""Where a new segment begins: at the start of a whole group, with a tail of about the size that is wished for.

A group is what a dialect wants together: a call and its results, reasoning and what follows it. Nothing is cut in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from memory.actions import Parts, parts_of
from memory.conversation import Conversation, Role


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
