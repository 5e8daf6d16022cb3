"""The body of a request: without its compression, parsed into a view, and with its edits written into it."""

from __future__ import annotations

import asyncio

from memory.memory_room import DECOMPRESSING
from memory.session import Prepared
from proxy import metrics
from proxy.edge import Edge
from proxy.errors import Refusal
from proxy.runtimes.user_text import user_text
from proxy.upstream.direct import INFLATION, decompressed
from proxy.wire.dialect import BadRequest, Dialect, RequestView, Unreadable
from proxy.wire.rounds import with_hidden_rounds
from proxy.wire.rounds.offering import with_tools
from proxy.wire.validation import newly_broken

THREAD_PARSE_BYTES = 2**20
"""Bytes. A body of this size is parsed in a thread, so that it does not block other requests."""

THREAD_PARSE_OBJECTS = 2000
"""Braces in a body from which on that is done, too: each may be that of a message."""

MAX_READ_BYTES = 64 * 2**20
"""Bytes. A larger body is relayed unparsed and without memory, because parsing it would block other requests. A session
of eight thousand turns has half as many."""

NO_THREAD = "can't start new thread"
"""What Python says where the system has nothing left for one more."""

WRITE_TIMEOUT = 30.0
"""Seconds that writing edits into the largest body may take."""


async def plain_text(edge: Edge, body: bytes, encoding: str) -> tuple[bytes | None, bool]:
    """The body without its compression, None where that cannot be read here; and whether there was room for it."""
    if not encoding:
        return body, True
    with edge.room.taken(min(MAX_READ_BYTES, INFLATION * len(body)), DECOMPRESSING) as has_room:
        if not has_room:
            return None, False
        try:
            return await asyncio.to_thread(decompressed, body, encoding, MAX_READ_BYTES), True
        except (MemoryError, RuntimeError):  # the latter where the system starts no thread any more
            return None, False


async def read(dialect: Dialect, text: bytes, path: str) -> RequestView | None:
    """Parse the body. None if it is not of this format (the provider may judge it) or too large to parse."""
    if len(text) > MAX_READ_BYTES:
        return None
    try:
        if len(text) >= THREAD_PARSE_BYTES or text.count(b"{") >= THREAD_PARSE_OBJECTS:
            return await asyncio.to_thread(dialect.read, text, user_text, path)
        return dialect.read(text, user_text, path)
    except (Unreadable, MemoryError):
        return None
    except RuntimeError as error:
        if NO_THREAD not in str(error):
            raise
        return None
    except BadRequest as error:
        raise Refusal(400, str(error), error.where) from error


async def write_edits(dialect: Dialect, view: RequestView, prepared: Prepared) -> bytes | None:
    """The body with its edits, written in a thread if it is large."""
    if (prepared.edits or prepared.tools) and len(view.body) >= THREAD_PARSE_BYTES:
        return await asyncio.to_thread(_body_to_send, dialect, view, prepared)
    return _body_to_send(dialect, view, prepared)


def _body_to_send(dialect: Dialect, view: RequestView, prepared: Prepared) -> bytes | None:
    """The body with its edits and with the tools that its session offers; None if there are neither."""
    written = _edited_body(dialect, view, prepared) if prepared.edits else None
    return (
        with_tools(view.body if written is None else written, dialect.name, prepared.tools)
        if prepared.tools
        else written
    )


def _edited_body(dialect: Dialect, view: RequestView, prepared: Prepared) -> bytes | None:
    """The body with its edits. None if they would break a rule of the format that the client's body keeps: then the
    client's own bytes are sent."""
    written = dialect.write(view, prepared.edits)
    written = with_hidden_rounds(dialect.name, written, prepared.edits, len(view.items))
    broken = dialect.check(written)
    if broken and newly_broken(dialect.check(view.body), broken):
        metrics.INVALID.inc()
        return None
    added = len(written) - len(view.body)
    (metrics.ADDED_BYTES if added > 0 else metrics.SHED_BYTES).inc(abs(added))
    metrics.RECALLED.inc(len(prepared.receipt.shown))
    return written
