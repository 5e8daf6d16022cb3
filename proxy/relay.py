"""Pass a reply on as it comes, through a listener that hears it.

Every byte goes on at once, but for the terminator: it is held until the exchange is in the journal, so that what a
client has seen the end of is never lost. When the journal is slow, it is let go all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import aiohttp
from aiohttp import web

from memory.conversation import Reply
from proxy.upstream.direct import incoming_headers
from proxy.upstream.reply import ProviderReply, chunks
from proxy.wire.dialect import Listener

LARGE = 2**18
"""Bytes of a reply from which on it is put together in a thread, so that other streams have their turn."""

Commit = Callable[[Reply], Awaitable[None]]
"""Brings the exchange into the journal; returns when it is there, or when it was waited for long enough."""


async def relay(
    reply: ProviderReply,
    request: web.Request,
    headers: Mapping[str, str],
    listener: Listener | None,
    commit: Commit | None,
    begun: bytes = b"",
) -> web.StreamResponse:
    """Answer ``request`` with the provider's reply; ``headers`` of ours are added, ``begun`` was read of it before.

    A provider that breaks off in the middle is passed on as a connection that breaks off: a clean end would make
    half an answer look whole.
    """
    response = web.StreamResponse(
        status=reply.status, reason=reply.reason, headers=incoming_headers(reply.headers.items())
    )
    for name, value in headers.items():
        response.headers[name] = value
    held = listener is not None and commit is not None
    heard = 0

    async def ended() -> None:
        """What was held back goes on, once the exchange is safe."""
        nonlocal held
        if listener is not None and commit is not None and held:
            held = False
            await commit(await _whole(listener, heard))
            if rest := listener.finish():
                await response.write(rest)

    # The client may be gone at every write, the head's too; what was asked and heard is journaled all the same.
    with suppress(aiohttp.ClientConnectionResetError):
        try:
            await response.prepare(request)
            async for chunk in chunks(reply, begun) if begun else reply.content.iter_any():
                if listener is None or not held:
                    await response.write(chunk)
                    continue
                heard += len(chunk)
                if passing := listener.feed(chunk):
                    await response.write(passing)
                if listener.ended:
                    await ended()
        except aiohttp.ClientConnectionResetError:
            raise
        except aiohttp.ClientError:
            # What is held may be the terminator but for its last byte, and a client may act on that.
            with suppress(aiohttp.ClientConnectionResetError):
                await ended()
            if request.transport is not None:
                request.transport.close()
            return response
        await ended()
        await response.write_eof()
    return response


async def _whole(listener: Listener, heard: int) -> Reply:
    return await asyncio.to_thread(listener.reply) if heard > LARGE else listener.reply()
