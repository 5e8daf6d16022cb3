"""A gate that many may pass side by side, and that one may close for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class LoopGate:
    """For one event loop. Passing an open gate takes no turn of the loop."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = 0
        self._changed = asyncio.Condition()

    @property
    def shut(self) -> bool:
        """Whether somebody is inside alone, or waits to be."""
        return self._closed > 0

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """Be inside, together with others; waits while the gate is closed."""
        while self._closed:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._closed)
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            if self._closed:
                async with self._changed:
                    self._changed.notify_all()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Be inside alone: whoever is there is waited for, whoever comes waits."""
        self._closed += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._inside)
                yield
        finally:
            self._closed -= 1
            async with self._changed:
                self._changed.notify_all()
