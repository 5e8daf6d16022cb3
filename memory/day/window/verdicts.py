"""Which results the journal will have word for word, as far as it is known, and found out beside where it is not.

Looking for secrets takes a millisecond for some ten thousand characters, and every stream stands still meanwhile. So
a request has only few of them looked at on the event loop; longer ones are looked at in a thread, one after the other,
and what was found is kept. All of it belongs to the event loop; only the looking itself runs in a thread, on values
that do not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from memory.conversation import Message, ToolResult
from memory.day.window.pieces import comes_back, texts

KEPT = 20_000
"""Verdicts that are kept; about 200 bytes each."""

AT_ONCE = 20_000
"""Characters of results that one request has looked at on the event loop."""

Key = tuple[bytes, int]
"""A message's digest, and the number of one of its parts."""


class Verdicts:
    """Remembers which results come back word for word. Of the event loop only."""

    def __init__(self) -> None:
        self._known: dict[Key, bool] = {}
        self._wanted: dict[Key, ToolResult] = {}
        self._looking: asyncio.Task[None] | None = None

    def at_once(self) -> Callable[[Message, int], bool]:
        """Whether a part of a message comes back word for word, for one request, without waiting: no for what is not
        known and too long to be looked at at once, which is then looked at beside."""
        left = AT_ONCE

        def comes_back_at_once(message: Message, number: int) -> bool:
            nonlocal left
            key, part = (message.digest, number), message.parts[number]
            known = self._known.get(key)
            if known is not None or not isinstance(part, ToolResult):
                return bool(known)
            length = sum(map(len, texts(part)))
            if length > left:
                self._want(key, part)
                return False
            left -= length
            return self._learnt(key, comes_back(part))

        return comes_back_at_once

    async def of(self, places: Sequence[tuple[Message, int]]) -> list[bool]:
        """Whether each of some parts comes back word for word; what is not known is looked at in a thread first."""
        asked = {(message.digest, number): message.parts[number] for message, number in places}
        found = {key: known for key in asked if (known := self._known.get(key)) is not None}
        for key, part in asked.items():
            if key not in found:
                back = isinstance(part, ToolResult) and await asyncio.to_thread(comes_back, part)
                found[key] = self._learnt(key, back)
        return [found[message.digest, number] for message, number in places]

    async def settle(self) -> None:
        """Wait until everything is known that was asked for."""
        while self._looking is not None:
            await asyncio.wait({self._looking})

    def _want(self, key: Key, part: ToolResult) -> None:
        self._wanted[key] = part
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_beside())

    async def _look_beside(self) -> None:
        try:
            while self._wanted:
                key, part = next(iter(self._wanted.items()))
                self._learnt(key, await asyncio.to_thread(comes_back, part))
                self._wanted.pop(key, None)
        finally:
            self._wanted.clear()
            self._looking = None

    def _learnt(self, key: Key, back: bool) -> bool:
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[key] = back
        return back
