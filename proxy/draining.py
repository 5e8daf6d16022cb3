"""The end of a server that cuts no reply off.

First a balancer is told: ``/palimpsest/ready`` says no, and connections end with the reply that is under way. Then
nobody is let in any more, and the replies that are still under way are waited for.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from proxy.auth.middleware import OWN_ENDPOINTS
from proxy.settings import DrainSettings

STORES_SECONDS = 6.0
"""Of the time of an end these belong to the stores: what waits is written (four seconds at most), then how far the
workers came (one), then the files are let go of."""


class Draining:
    """Whether a server is about to end, by when it must have ended, and how many replies are under way."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._count = 0
        self._ends_at = math.inf

    @property
    def idle(self) -> bool:
        """Whether no reply is under way."""
        return self._idle.is_set()

    def end_within(self, seconds: float) -> None:
        """From now on the end may take so long, whatever hangs."""
        self._ends_at = time.monotonic() + seconds

    def may_take(self, seconds: float) -> float:
        """What a part of the end before the closing of the stores, which would take so many seconds at most, may take
        of what is left."""
        return max(min(seconds, self._ends_at - STORES_SECONDS - time.monotonic()), 0.0)

    def counting(self) -> Middleware:
        """Counts replies, those of our own endpoints not."""

        @web.middleware
        async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.path.startswith(OWN_ENDPOINTS):
                return await handler(request)
            self._count += 1
            self._idle.clear()
            try:
                return await handler(request)
            finally:
                self._count -= 1
                if not self._count:
                    self._idle.set()

        return count

    async def end_connection(self, request: web.Request, response: web.StreamResponse) -> None:
        """Once the server is about to end, a connection ends with its reply: the next request goes elsewhere."""
        if self.begun.is_set() and response.status >= 200:
            response.headers["Connection"] = "close"
            response.force_close()

    async def drain(self, runner: web.AppRunner, settings: DrainSettings) -> int:
        """Let nobody in any more, and wait for the replies that are under way; how many there still are then."""
        self.begun.set()
        await asyncio.sleep(settings.notice_seconds)
        for site in list(runner.sites):
            await site.stop()
        # Who has only just come in is begun before connections are asked whether they are idle.
        await asyncio.sleep(0)
        if runner.server is not None:
            runner.server.pre_shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(settings.reply_seconds):
                await self._idle.wait()
        return self._count
