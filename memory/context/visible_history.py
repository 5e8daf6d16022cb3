"""The part of an endless session that is looked at.

A client sends its whole history with every request, and in a session without end most of it left long ago. What is
looked at is the head, all that stands in the request, and the newest of what left: a continuity note is made of that,
and the rest is still to be had by its handle. So a request takes no more time and memory, however long its session is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.conversation import Conversation
from memory.edits import ActiveEdits, Key

REACH = 250_000
"""How many tokens of what left a request are still looked at, counted back from its newest message."""


@dataclass(frozen=True, slots=True)
class VisibleHistory:
    """A request without the messages that left it too long ago to be looked at. There are ``beyond`` of these, and they
    stood right behind its head. ``keys``, ``sizes`` and ``standing`` count places in this shorter conversation."""

    conversation: Conversation
    keys: Sequence[Key]
    sizes: Sequence[int]
    standing: ActiveEdits
    beyond: int = 0

    def place(self, message: int) -> int:
        """Where a message stands in the whole request."""
        return message if message < self.conversation.head else message + self.beyond


def sight(
    conversation: Conversation, keys: Sequence[Key], whole: Sequence[int], sizes: Sequence[int], standing: ActiveEdits
) -> VisibleHistory:
    """What is looked at of a request. ``whole`` are the tokens of its messages as the client sent them, ``sizes`` those
    of what stands there with the session's edits."""
    head, beyond, left = conversation.head, len(standing.dropped), REACH
    while beyond > 0 and whole[head + beyond - 1] <= left:
        beyond -= 1
        left -= whole[head + beyond]
    if beyond == 0:
        return VisibleHistory(conversation, keys, sizes, standing)
    end, messages = head + beyond, conversation.messages

    def here(message: int) -> int:
        return message if message < head else message - beyond

    return VisibleHistory(
        replace(conversation, messages=(*messages[:head], *messages[end:])),
        (*keys[:head], *keys[end:]),
        (*sizes[:head], *sizes[end:]),
        ActiveEdits(
            tuple((here(index), entry) for index, entry in standing.entries),
            {(here(index), part): entry for (index, part), entry in standing.replaced.items()},
            range(head, standing.dropped.stop - beyond),
            {here(index): entry for index, entry in standing.inserted.items()},
        ),
        beyond,
    )
