"""What of a session without end is looked at: its head, what stands in the request, and what left within reach of it.

A client sends all it ever said, and most of it left long ago. Nothing of that stands in a request, a note is made of
the newest of it, and what it says is still to be had by its handle: so neither the time that a request takes nor the
memory grows with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory.conversation import Conversation
from memory.edits import Key, Standing

REACH = 250_000
"""Tokens of what left a request that are still looked at, the newest."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A request without the messages that left beyond reach: ``beyond`` of them, which stood behind its head. ``keys``,
    ``sizes`` and ``standing`` are of the messages that are left, in their places here."""

    conversation: Conversation
    keys: Sequence[Key]
    sizes: Sequence[int]
    standing: Standing
    beyond: int = 0

    def place(self, message: int) -> int:
        """Where a message stands in the whole request."""
        return message if message < self.conversation.head else message + self.beyond


def sight(
    conversation: Conversation, keys: Sequence[Key], whole: Sequence[int], sizes: Sequence[int], standing: Standing
) -> Sight:
    """What is looked at. ``whole`` are the messages' tokens as the client sent them, ``sizes`` as they stand."""
    head, beyond, left = conversation.head, len(standing.dropped), REACH
    while beyond > 0 and whole[head + beyond - 1] <= left:
        beyond -= 1
        left -= whole[head + beyond]
    if beyond == 0:
        return Sight(conversation, keys, sizes, standing)
    end, messages = head + beyond, conversation.messages

    def here(message: int) -> int:
        return message if message < head else message - beyond

    return Sight(
        replace(conversation, messages=(*messages[:head], *messages[end:])),
        (*keys[:head], *keys[end:]),
        (*sizes[:head], *sizes[end:]),
        Standing(
            tuple((here(index), entry) for index, entry in standing.entries),
            {(here(index), part): entry for (index, part), entry in standing.replaced.items()},
            range(head, standing.dropped.stop - beyond),
            {here(index): entry for index, entry in standing.inserted.items()},
        ),
        beyond,
    )
