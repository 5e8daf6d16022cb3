"""What looking for secrets finds in parts of messages: which results the journal will have word for word, and how a
note says what is pinned. It is kept where it is known, and found out beside where it is not.

Looking for secrets takes a millisecond for some ten thousand characters, and every stream stands still meanwhile. So
a request has only few of them looked at on the event loop; longer ones are looked at in a thread, one after the other,
and what was found is kept. All of it belongs to the event loop; only the looking itself runs in a thread, on values
that do not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from memory.conversation import Message, Part
from memory.services.window.sheddable_parts import length

V = TypeVar("V")

MAX_VERDICTS = 20_000
"""Verdicts that are kept; about 200 bytes each, where they are not texts."""

AT_ONCE = 20_000
"""Characters that one request has looked at on the event loop."""

Key = tuple[bytes, int]
"""A message's digest, and the number of one of its parts."""


class RedactionVerdicts(Generic[V]):
    """Remembers what was found in parts. Of the event loop only.

    Args:
        look: what is to be found in a part; run in a thread where the part is long.
        kept: how many findings are kept.
    """

    def __init__(self, look: Callable[[Part], V], limit: int = MAX_VERDICTS) -> None:
        self._look = look
        self._limit = limit
        self._known: dict[Key, V] = {}
        self._wanted: dict[Key, Part] = {}
        self._looking: asyncio.Task[None] | None = None

    def at_once(self) -> Callable[[Message, int], V | None]:
        """What is found in a part of a message, for one request, without waiting: None for what is not known and too
        long to be looked at at once, which is then looked at beside."""
        left = AT_ONCE

        def found_at_once(message: Message, number: int) -> V | None:
            nonlocal left
            key, part = (message.digest, number), message.parts[number]
            if key in self._known:
                return self._known[key]
            if (long := length(part)) > left:
                self._want(key, part)
                return None
            left -= long
            return self._learnt(key, self._look(part))

        return found_at_once

    async def of(self, places: Sequence[tuple[Message, int]]) -> list[V]:
        """What is found in each of some parts; what is not known is looked at in a thread first."""
        parts = {(message.digest, number): message.parts[number] for message, number in places}
        found = {key: self._known[key] for key in parts if key in self._known}
        for key, part in parts.items():
            if key not in found:
                found[key] = self._learnt(key, await asyncio.to_thread(self._look, part))
        return [found[message.digest, number] for message, number in places]

    async def settle(self) -> None:
        """Wait until everything is known that was asked for."""
        while self._looking is not None:
            await asyncio.wait({self._looking})

    def _want(self, key: Key, part: Part) -> None:
        self._wanted[key] = part
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_beside())

    async def _look_beside(self) -> None:
        try:
            while self._wanted:
                key, part = next(iter(self._wanted.items()))
                self._learnt(key, await asyncio.to_thread(self._look, part))
                self._wanted.pop(key, None)
        finally:
            self._wanted.clear()
            self._looking = None

    def _learnt(self, key: Key, found: V) -> V:
        if len(self._known) >= self._limit:
            self._known.clear()
        self._known[key] = found
        return found
