"""Where a new segment begins: at the start of a whole group, with a tail of about the size that is wished for.

A group is what a dialect wants together: a call and its results, reasoning and what follows it. Nothing is cut in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.conversation import Conversation, Role


def beginnings(conversation: Conversation) -> list[int]:
    """The messages at which a segment may begin: a person's, or the first of a turn of the assistant."""
    found = []
    open_calls: set[str] = set()
    messages = [(message, message.calls, message.results) for message in conversation.messages]
    # A call that is never answered holds nothing open.
    answered = {result.call_id for _, _, results in messages for result in results}
    head = conversation.head
    before: Role | None = None
    for index, (message, calls, results) in enumerate(messages):
        fits = (
            not open_calls
            and not results
            and (bool(message.spoken) or (message.role is Role.ASSISTANT and before is not Role.ASSISTANT))
        )
        if fits and index > head:
            found.append(index)
        if calls:
            open_calls.update([call.id for call in calls if call.id in answered])
        if results:
            open_calls.difference_update([result.call_id for result in results])
        before = message.role
    return found


def beginning(conversation: Conversation, sizes: Sequence[int], room: int, latest: int) -> int | None:
    """The earliest message at which a segment may begin so that what is from there on fits in ``room`` tokens; where
    none does, the last possible one, but not behind ``latest``."""
    behind = [0] * (len(sizes) + 1)
    for index in range(len(sizes) - 1, -1, -1):
        behind[index] = behind[index + 1] + sizes[index]
    places = [index for index in beginnings(conversation) if index <= latest]
    return next((index for index in places if behind[index] <= room), places[-1] if places else None)
