"""How much one caller may ask: requests and bytes in a minute, requests and connections at a time. Off unless the
settings say so.

A caller is who shows a key that opens memory, else an address: names that anybody could make up count for nothing. Of a
connection nobody knows a key when it comes: there the address is the caller.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from proxy import metrics
from proxy.errors import Refusal
from proxy.settings import LimitSettings

MINUTE: Final = 60.0

KNOWN: Final = 10_000
"""Callers that are remembered; of those who ask for nothing just now the ones go first that did not ask for longest."""

BUSY_SECONDS: Final = 1.0
"""After how long those are to come again who have too many requests under way."""

_CONNECTIONS: Final = "connections at a time"

PREFIX: Final = "x-palimpsest-limit-"

LEFT: Final[ContextVar[Mapping[str, str]]] = ContextVar("left", default={})  # noqa: B039 - nobody writes into it
"""The headers that tell how much the caller of the request under way has left."""


class Limited(Refusal):
    """The caller has asked for too much; ``after`` so many seconds there is room again."""

    def __init__(self, what: str, after: float) -> None:
        seconds = max(math.ceil(after), 1)
        super().__init__(429, f"too many {what}: try again in {seconds} s (server.limits of this palimpsest)")
        self.retry_after = seconds


@dataclass(slots=True)
class _Bucket:
    """What is left of a minute's worth; it fills again evenly."""

    most: float
    left: float
    at: float

    def refill(self, now: float) -> None:
        """Bring it up to this moment."""
        self.left = min(self.most, self.left + (now - self.at) * self.most / MINUTE)
        self.at = now

    def wait(self, wanted: float) -> float:
        """How many seconds until so much is there; what is more than all of it waits for a full one."""
        return max(min(wanted, self.most) - self.left, 0.0) * MINUTE / self.most


@dataclass(slots=True)
class _Caller:
    requests: _Bucket | None
    size: _Bucket | None
    under_way: int = 0


def _count_nothing(size: int) -> None:
    """Where there is no limit nothing is counted."""


def _unlimited(requests: int, size: int) -> None:
    """Nor is anything refused."""


def _uncounted(requests: int) -> None:
    """Nor given back."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that was let in; ``headers`` tell how much is left. ``charge`` counts the bytes of a body whose size
    was not said before: they are owed where they are more than there was. ``more`` lets in further requests, with so
    many bytes, that come on the same connection (or none: bytes alone); it raises :class:`Limited` as the first does.
    ``give_back`` takes so many requests for not asked that were let in, and went nowhere.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    charge: Callable[[int], None] = _count_nothing
    more: Callable[[int, int], None] = _unlimited
    give_back: Callable[[int], None] = _uncounted


class TooManyConnections(Limited):
    """The caller has too many connections; this one ends."""

    def __init__(self) -> None:
        metrics.LIMITED.labels(_CONNECTIONS).inc()
        super().__init__(_CONNECTIONS, BUSY_SECONDS)
        self.ends_connection = True


class Limits:
    """The limits of all callers, for one event loop."""

    def __init__(self, settings: LimitSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._callers: OrderedDict[str, _Caller] = OrderedDict()
        self._off = settings.requests_per_minute is settings.mib_per_minute is settings.at_once is None

    @contextmanager
    def admitted(self, caller: str, size: int) -> Iterator[Admitted]:
        """Let in one request of a caller, with a body of so many bytes, and count it until it is done.

        Raises:
            Limited: when there is no room for it.
        """
        if self._off:
            yield Admitted()
            return
        known = self._known(caller)
        most = self._settings.at_once
        if most is not None and known.under_way >= most:
            raise _limited("requests at a time", BUSY_SECONDS)
        _take(known, 1, size)
        known.under_way += 1
        try:
            yield Admitted(
                self._headers(known),
                lambda size: _charge(known, size),
                lambda *more: _take(self._known(caller), *more),
                lambda requests: _give_back(self._known(caller), requests),
            )
        finally:
            known.under_way -= 1

    def _known(self, caller: str) -> _Caller:
        now, settings = self._clock(), self._settings
        known = self._callers.get(caller)
        if known is None:
            each, size = settings.requests_per_minute, settings.mib_per_minute
            known = _Caller(
                None if each is None else _Bucket(each, each, now),
                None if size is None else _Bucket(size * 2**20, size * 2**20, now),
            )
            self._callers[caller] = known
            self._make_room()
        self._callers.move_to_end(caller)
        for bucket in (known.requests, known.size):
            if bucket is not None:
                bucket.refill(now)
        return known

    def _headers(self, known: _Caller) -> dict[str, str]:
        headers = {}
        if known.requests is not None:
            headers["requests"] = f"{max(int(known.requests.left), 0)}/{int(known.requests.most)}"
        if known.size is not None:
            headers["bytes"] = f"{max(int(known.size.left), 0)}/{int(known.size.most)}"
        if self._settings.at_once is not None:
            headers["at-once"] = f"{self._settings.at_once - known.under_way}/{self._settings.at_once}"
        return {PREFIX + name: value for name, value in headers.items()}

    def _make_room(self) -> None:
        for name in [name for name, each in self._callers.items() if not each.under_way]:
            if len(self._callers) <= KNOWN:
                return
            del self._callers[name]


def _take(known: _Caller, requests: int, size: int) -> None:
    """Take what is asked for, or nothing."""
    if known.requests is not None and (wait := known.requests.wait(requests)):
        raise _limited("requests a minute", wait)
    if known.size is not None and (wait := known.size.wait(size)):
        raise _limited("bytes a minute", wait)
    if known.requests is not None:
        known.requests.left -= requests
    if known.size is not None:
        known.size.left -= size


def _give_back(known: _Caller, requests: int) -> None:
    if (bucket := known.requests) is not None:
        bucket.left = min(bucket.most, bucket.left + requests)


def _charge(known: _Caller, size: int) -> None:
    if known.size is not None:
        known.size.left -= size


def _limited(what: str, after: float) -> Limited:
    metrics.LIMITED.labels(what).inc()
    return Limited(what, after)


@lru_cache(maxsize=1024)
def network_of(address: str) -> str:
    """Who asks from an address: of IPv6 the network, in which one machine has any number of addresses."""
    try:
        told = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return address if told.version == 4 else str(ipaddress.ip_network((told, 64), strict=False))
