"""Connections are bounded, and so is the time that the head of a request may take; what the loop reports is counted.

A process has so many descriptors, and a request takes two: its client's connection and its provider's. Without a bound
a crowd of clients takes all of them, and then the journal has none either. Whoever comes beyond it is told to come
again, in its own format; where even that would take too many, the connection is closed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from proxy import metrics

log = logging.getLogger(__name__)

HEAD_SECONDS = 20.0
"""How long the head of a request may take from its first byte to its last."""

SILENT_SECONDS = 75.0
"""How long a new connection may say nothing."""

DESCRIPTORS = 2**16
"""Descriptors at most that the system is asked for: more than a process of this kind can use."""

SPARE = 48
"""Descriptors that connections leave to files, to the threads that read the journal, and to those who are refused."""

REFUSED_AT_ONCE = 16
"""Connections beyond the bound that are told so, or a sixteenth of it where that is more; the others are closed."""

STALLED_SECONDS = 5.0
"""After how long a body of which nothing comes any more gives way to others who need the connection."""

REPEATED_SECONDS = 60.0
"""For how long a fault of the loop that was told is only counted when it comes again."""


def raise_descriptors() -> int:
    """Raise the soft limit of open files as far as the system lets us; what it is then."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError) as error:  # macOS tells of more than it gives
            log.warning("the limit of open files stays at %d: %s", soft, error)
    return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def bound(wanted: int, descriptors: int, taken: int) -> int:
    """How many connections there may be, of which each may need another one to a provider."""
    return max(min(wanted, (descriptors - taken - SPARE) // 2), 4)


def open_files() -> int:
    """How many descriptors this process has open; a guess where the system does not tell."""
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return SPARE


class Connections(web.Server):
    """The server's connections, ``most`` of them at a time, and ``of_each`` caller, whom ``caller_at`` tells by an
    address; None for any number."""

    def __init__(
        self,
        server: web.Server,
        most: int,
        of_each: int | None = None,
        caller_at: Callable[[str], str] = lambda address: address,
    ) -> None:
        # aiohttp makes its server deep inside an application's runner; this one takes its place.
        self.__dict__.update(vars(server))
        self.most = most
        self.of_each = of_each
        self.caller_at = caller_at

    def __call__(self) -> RequestHandler:
        """The protocol of a new connection."""
        return Connection(self, loop=self._loop, **self._kwargs)

    def room(self) -> int:
        """For how many more connections there is room; below zero where there are too many. Those on which no request
        is under way give way, and then those whose body has ceased to come, the ones first that have been there for
        longest."""
        if len(self._connections) <= self.most:
            return self.most - len(self._connections)
        return _room_among([each for each in self.connections if isinstance(each, Connection)], self.most)

    def room_of(self, caller: str) -> int:
        """The same for the connections of one caller."""
        if self.of_each is None:
            return 0
        own = [each for each in self.connections if isinstance(each, Connection) and each.caller == caller]
        return _room_among(own, self.of_each)


def _is_idle(connection: Connection) -> bool:
    return connection.idle


def _is_stalled(connection: Connection) -> bool:
    return connection.stalled


def _room_among(connections: list[Connection], most: int) -> int:
    room = most - len(connections) + sum(each.leaving for each in connections)
    for gives_way in (_is_idle, _is_stalled):
        for each in connections[:-1]:  # the last one has only just come
            if room >= 0:
                return room
            if gives_way(each) and not each.leaving:
                each.force_close()
                room += 1
    return room


class Connection(RequestHandler):
    """One client's connection. ``crowded`` says that it came beyond the bound, ``excessive`` that it came beyond its
    caller's own."""

    __slots__ = ("_head", "_last", "caller", "crowded", "excessive")

    def __init__(self, manager: Connections, **named: Any) -> None:
        super().__init__(manager, **named)
        self._head: asyncio.TimerHandle | None = None
        self._last = self._loop.time()
        self.caller = ""
        self.crowded = self.excessive = False

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self._current_request is None and not self._messages

    @property
    def stalled(self) -> bool:
        """Whether a request waits for the rest of its body, and nothing has come for a while; not where the provider
        takes it more slowly than it would come."""
        request = self._current_request
        waits = request is not None and not request.content.is_eof() and not self._reading_paused
        return waits and self._loop.time() - self._last >= STALLED_SECONDS

    @property
    def leaving(self) -> bool:
        """Whether it is being closed."""
        return self._force_close

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        manager = self._manager
        assert isinstance(manager, Connections)
        peer = transport.get_extra_info("peername")
        self.caller = manager.caller_at(str(peer[0])) if isinstance(peer, tuple) else ""
        own, room = manager.room_of(self.caller), manager.room()
        self.excessive = own < 0
        if room < 0:
            self.crowded = True
            metrics.CROWDED.inc()
        if min(own, room) < -max(REFUSED_AT_ONCE, manager.most // 16) and isinstance(transport, asyncio.Transport):
            transport.abort()
            return
        self._head = self._loop.call_later(SILENT_SECONDS, self._late)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._last = self._loop.time()
        began = self._head is not None and self._head.when() - self._loop.time() <= HEAD_SECONDS
        super().data_received(data)
        if not self.idle:
            self._heard()
        elif not began:
            self._heard()
            self._head = self._loop.call_later(HEAD_SECONDS, self._late)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """See :class:`aiohttp.web_protocol.RequestHandler`: what no handler of ours answers, such as a head that cannot
        be parsed, says so, too."""
        response = super().handle_error(request, status, exc, message)
        response.headers["x-palimpsest-status"] = f"refused; {status}"
        return response

    def _heard(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _late(self) -> None:
        self._head = None
        if self.idle:
            metrics.LATE_HEADS.inc()
            self.force_close()


class LoopFaults:
    """What the event loop cannot tell anybody: each kind is logged once in a while, and all are counted. Out of
    descriptors, a loop reports the same thing thousands of times a second. ``report`` hears what is logged."""

    def __init__(self, report: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._logged_at = report
        self._clock = clock
        self._logged: dict[str, float] = {}
        self._since: dict[str, int] = {}

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        kind = type(error).__name__ if error is not None else "message"
        metrics.LOOP_FAULTS.labels(kind).inc()
        what = f"{kind}: {context.get('message', '')}"[:200]
        self._since[what] = self._since.get(what, 0) + 1
        now = self._clock()
        if now - self._logged.get(what, float("-inf")) < REPEATED_SECONDS:
            return
        times = self._since.pop(what)
        self._logged[what] = now
        if len(self._logged) > 100:
            self._logged = {what: now}
        log.error("the event loop reports (%d times since it was told last): %s", times, what, exc_info=error)
        self._logged_at(what)
