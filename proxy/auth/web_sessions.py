"""Who looks at the web page: tickets of one use, and the sessions that they are traded for. Both live in memory only.

A browser sends the cookies of a host to every port of it, so that other servers on this machine may see a session. It
therefore opens pages and nothing else, is good for one host name and port, and ends with the server; one that began in
a program of our own user goes on in such programs only.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from proxy.auth.tokens import ApiToken

TICKET_SECONDS = 60.0
IDLE_SECONDS = 12 * 3600.0
MAX_SESSION_SECONDS = 7 * 86_400.0
"""How long a ticket is good, a session that nobody uses, and one that somebody does."""

MOST = 64
"""Tickets, and sessions, that there are at once: the oldest makes room."""

_SESSION = "palimpsest-page-"
_SHAPE = re.compile(rf"{_SESSION}[\w-]{{43}}")


@dataclass(frozen=True, slots=True)
class DecidedFact:
    """A fact that was decided about last, in a ``word``, and the page where that was done."""

    id: str
    text: str
    word: str
    page: str


@dataclass(slots=True)
class WebSession:
    """A browser that has been let in under the name ``host`` (with its port), ``own`` where it is known to be a program
    of our own user. ``form`` is the token that stands in each of its forms, ``notice`` what the next page tells once,
    ``decided`` the candidate that was decided about last, or ``fact`` the fact, whichever was it. ``token`` is that of
    whoever logged in by one of their own, for what it allows and as long as it is in force; None for who runs the
    server."""

    host: str
    own: bool
    began: float
    seen: float
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    notice: str = ""
    decided: str = ""
    fact: DecidedFact | None = None
    token: ApiToken | None = None


class Visitors:
    """Gives tickets out and knows the sessions. Of both only hashes are kept, so that no dump of memory opens a page.
    ``clock`` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tickets: dict[bytes, float] = {}
        self._sessions: dict[bytes, WebSession] = {}

    def ticket(self) -> str:
        """A new ticket."""
        ticket = secrets.token_urlsafe(32)
        _make_room(self._tickets)
        self._tickets[_hash(ticket)] = self._clock() + TICKET_SECONDS
        return ticket

    def redeem(self, ticket: str) -> bool:
        """Whether a ticket is good. It is none any more afterwards."""
        until = self._tickets.pop(_hash(ticket), None)
        return until is not None and self._clock() <= until

    def begin(self, host: str, own: bool = False, token: ApiToken | None = None) -> str:
        """A new session: the value of its cookie."""
        value = f"{_SESSION}{secrets.token_urlsafe(32)}"
        now = self._clock()
        _make_room(self._sessions)
        self._sessions[_hash(value)] = WebSession(host.lower(), own, now, now, token=token)
        return value

    def session(self, value: str, host: str) -> WebSession | None:
        """The session of a cookie that came to a host; None where there is none, or its time is over."""
        key, now = _hash(value), self._clock()
        found = self._sessions.get(key)
        if found is None or found.host != host.lower():
            return None
        if now - found.seen > IDLE_SECONDS or now - found.began > MAX_SESSION_SECONDS:
            del self._sessions[key]
            return None
        found.seen = now
        return found

    def leave(self, value: str) -> None:
        """End a session."""
        self._sessions.pop(_hash(value), None)


def holds_session(text: str) -> bool:
    """Whether the cookie of some session, ours or another server's, stands in a text."""
    return _SHAPE.search(text) is not None


def cookie_name(host: str) -> str:
    """The cookie of a server on one port: several may run under one name."""
    port = host.rpartition(":")[2]
    return f"palimpsest_page_{port if port.isdigit() else 'default'}"


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _make_room(held: dict[bytes, float] | dict[bytes, WebSession]) -> None:
    while len(held) >= MOST:
        del held[next(iter(held))]
