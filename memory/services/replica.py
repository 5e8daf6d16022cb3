"""One server of several that share a journal: it takes requests, and one of them does the work that one alone must do.

What others have written is heard of with each request, and once a second in quiet times. The one that works learns,
has the nights and lets go of what is old; all keep their caches, and their own index where each has one, up to date.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from memory.ports import Guard, SharedEvents
from memory.services.worker import Worker

WITHIN_SECONDS = 600.0


class Duty(Protocol):
    """A part of the work that one alone must do."""

    def start(self) -> None:
        """Begin."""

    async def stop(self) -> None:
        """Give it up where it can be."""


class Replica:
    """Begins and ends the work, and tells the caches.

    Args:
        told: who tells of what others do, in any thread.
        duties: what one alone does, in the order in which it begins.
        grown: wakes what follows the journal, where that works here.
        changed: facts of these owners are others now; called on the loop.
        erased: something is gone that may be in a cache; called on the loop.
        catch_up: brings this replica's own index and pages up to date.
    """

    def __init__(
        self,
        told: SharedEvents,
        duties: list[Duty],
        grown: Callable[[], None],
        changed: Callable[[frozenset[str]], None],
        erased: Callable[[], None],
        catch_up: Callable[[], Awaitable[None]],
        guard: Guard,
    ) -> None:
        self._told = told
        self._duties = duties
        self._grown = grown
        self._changed = changed
        self._erased = erased
        self._catch_up = catch_up
        self._guard = guard
        self._wanted = False
        self._working = False
        self._leaving = False
        self._switching = asyncio.Lock()
        self._switches: set[asyncio.Task[None]] = set()
        self._keeping_up = Worker(self._keep_up)

    @property
    def working(self) -> bool:
        """Whether this one does the work."""
        return self._working

    def start(self, works: Callable[[], bool]) -> None:
        """Listen from now on; ``works`` says whether the work is this one's already."""
        loop = asyncio.get_running_loop()

        def on_loop(call: Callable[..., object], *arguments: object) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
                loop.call_soon_threadsafe(call, *arguments)

        self._told.work = lambda works: on_loop(self._turn, works)
        self._told.grown = lambda tables: on_loop(self._has_grown, tables)
        self._told.changed = lambda owners: on_loop(self._has_changed, owners)
        self._told.erased = lambda: on_loop(self._has_erased)
        self._keeping_up.start()
        self._turn(works())

    async def leave_work(self) -> None:
        """Give the work up where it is done here, and do not begin it again."""
        self._leaving = True
        self._wanted = False
        async with self._switching:
            await self._end()

    async def stop(self) -> None:
        """Give everything up."""
        nobody = SharedEvents()
        self._told.work, self._told.grown = nobody.work, nobody.grown
        self._told.changed, self._told.erased = nobody.changed, nobody.erased
        await self._keeping_up.stop()
        await self.leave_work()
        if self._switches:
            await asyncio.wait(self._switches)

    def _has_grown(self, tables: frozenset[str]) -> None:
        if self._working and "exchanges" in tables:
            self._grown()
        if "outbox" in tables:
            self._keeping_up.wake()

    def _has_changed(self, owners: frozenset[str]) -> None:
        self._changed(owners)
        self._keeping_up.wake()

    def _has_erased(self) -> None:
        self._erased()
        self._keeping_up.wake()

    def _turn(self, works: bool) -> None:
        if self._leaving:
            return
        self._wanted = works
        switch = asyncio.create_task(self._switch())
        self._switches.add(switch)
        switch.add_done_callback(self._switches.discard)

    async def _switch(self) -> None:
        async with self._switching:
            if self._wanted and not self._working and not self._leaving:
                self._working = True
                for duty in self._duties:
                    duty.start()
            elif not self._wanted:
                await self._end()

    async def _end(self) -> None:
        if self._working:
            self._working = False
            for duty in reversed(self._duties):
                await duty.stop()

    async def _keep_up(self) -> None:
        if not self._working:  # the learner does it
            await self._guard(
                self._catch_up(),
                default=None,
                timeout_seconds=WITHIN_SECONDS,
                operation="keeping up with other replicas",
            )
