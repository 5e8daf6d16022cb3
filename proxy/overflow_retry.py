"""A request that its provider refuses for its length is shortened and sent once more, before the client sees anything.

A provider refuses with an error's status, or with 200 and an error at the very beginning of the stream: so the
beginning of a large request's stream is read before it is passed on. Where the shorter request is refused too, or there
is nothing to leave out, the provider's first word stands.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace

from aiohttp import ClientError, ClientResponse
from multidict import CIMultiDict

from memory.session import Prepared
from proxy import metrics
from proxy.edge import Edge
from proxy.errors import UpstreamUnreachable
from proxy.fail_open import fail_open
from proxy.hidden_rounds import Send
from proxy.request_body import write_edits
from proxy.upstream.direct import decompressed
from proxy.upstream.reply import ProviderReply, plain
from proxy.wire.dialect import Dialect, RequestView
from proxy.wire.overflow import MAX_ERROR_BYTES, STATUSES, Overflow, StreamProbe, overflow

SHORTEN_SECONDS = 5.0
"""How long finding what a refused request can do without may take: its only other answer is an error."""

OPENING_SECONDS = 10.0
"""How long a stream's beginning is waited for; then it is passed on as far as it has come."""

NEAR = 0.5
"""The share of a window from which on a request may turn out to be too long."""

UNMEASURED = 32 * 1024
"""The bytes from which on it may, where its tokens were not counted."""

REFUSED = 400
"""The status that an error in a stream would have had."""

MALFORMED = frozenset({400, 413, 422})
"""Statuses with which a provider refuses a request for what stands in it: it has not read that."""


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request on its way: how it is sent, and what, how it was understood (``view`` is None where it was not) and
    what was prepared for it. ``size`` are its bytes before compression."""

    edge: Edge
    dialect: Dialect
    send: Send
    headers: CIMultiDict[str]
    body: bytes
    size: int
    view: RequestView | None
    prepared: Prepared | None


async def send_with_retry(
    request: OutgoingRequest, replies: AsyncExitStack
) -> tuple[ProviderReply, bytes, Prepared | None]:
    """The provider's reply, what was read of it already, and the plan that it answers."""
    view, prepared = request.view, request.prepared
    first = await replies.enter_async_context(request.send(request.body))
    if view is None or prepared is None:
        return first, b"", prepared
    begun, refused = await _length_refusal(first, _may_be_too_long(prepared, request.size))
    if refused is None:
        return first, begun, prepared
    metrics.OVERFLOWS.labels("refused").inc()
    found, _ = await fail_open(
        _shorten(request, view, prepared, refused),
        default=None,
        timeout_seconds=SHORTEN_SECONDS,
        operation="shortening a request",
        degradations=request.edge.degradations,
    )
    if found is None:
        return first, begun, prepared
    shorter, body = found
    request.headers.popall("Content-Encoding", None)
    with suppress(UpstreamUnreachable):
        second, ahead, fits = await _resend(request, shorter, body, replies)
        metrics.OVERFLOWS.labels("answered" if fits else "refused again").inc()
        if fits:
            return second, ahead, shorter
    return first, begun, prepared


async def _shorten(
    request: OutgoingRequest, view: RequestView, prepared: Prepared, refused: Overflow
) -> tuple[Prepared, bytes] | None:
    """A plan with which a refused request is shorter, and its body; None where there is none. Of a plan that is not
    sent nothing is written down."""
    memory = request.edge.memory
    if memory is None:
        return None
    shorter = await memory.preparation.shorten_after_overflow(
        view.conversation, prepared.arrival, prepared, refused.limit, refused.size
    )
    if shorter is None:
        return None
    shorter = replace(shorter, tools=prepared.tools)
    body = await write_edits(request.dialect, view, shorter)
    return (shorter, body) if body is not None and len(body) < request.size else None


async def _resend(
    request: OutgoingRequest, shorter: Prepared, body: bytes, replies: AsyncExitStack
) -> tuple[ProviderReply, bytes, bool]:
    """The reply to the shorter request, what was read of it already, and whether it is one that fits.

    What the provider may read is in the journal before it goes, and stands in the ledger from then on. Where it finds
    fault with what the request says, it has read nothing, and the same plan would be refused again with every later
    request: then nothing stands. Nor does anything where the client goes away before it is sent.
    """
    memory, stands = request.edge.memory, False
    try:
        if memory is not None:
            await memory.preparation.ledgers.mark_sending(shorter)
        stands = True
        second = await replies.enter_async_context(request.send(body))
        ahead, again = await _length_refusal(second, True)
        stands = again is not None or second.status not in MALFORMED
        return second, ahead, second.status < 400 and again is None
    finally:
        if memory is not None:
            await (memory.preparation.ledgers.mark_sent if stands else memory.preparation.ledgers.mark_unread)(shorter)


def _may_be_too_long(prepared: Prepared, size: int) -> bool:
    """Whether a stream's beginning is worth waiting for."""
    receipt = prepared.receipt
    return receipt.tokens >= NEAR * receipt.window if receipt.tokens else size >= UNMEASURED


async def _length_refusal(reply: ProviderReply, may_be_too_long: bool) -> tuple[bytes, Overflow | None]:
    """What was read of a reply, and what it says of the request's length where it refuses it for that."""
    if reply.status in STATUSES:
        begun = await _error_body(reply)
        text = decompressed(begun, reply.headers.get("Content-Encoding", ""), MAX_ERROR_BYTES)
        return begun, overflow(reply.status, text or b"")
    # Over the bridge a refusal comes as a status; and its stream cannot be left waiting and be read on later.
    streamed = isinstance(reply, ClientResponse) and reply.content_type == "text/event-stream" and plain(reply)
    if reply.status != 200 or not streamed or not may_be_too_long:
        return b"", None
    begun, error = await _probe(reply)
    return begun, overflow(REFUSED, error)


async def _error_body(reply: ProviderReply) -> bytes:
    """An error's body, whole if it is small; the rest of a large one is still to be read."""
    begun = b""
    with suppress(ClientError):  # the relay meets it again, and passes it on
        async for chunk in reply.content.iter_any():
            begun += chunk
            if len(begun) > MAX_ERROR_BYTES:
                break
    return begun


async def _probe(reply: ProviderReply) -> tuple[bytes, bytes]:
    """What a stream begins with, up to its first event that means something, and the error that this is, if it is."""
    begun, opening = b"", StreamProbe()
    with suppress(ClientError, TimeoutError):
        async with asyncio.timeout(OPENING_SECONDS):
            async for chunk in reply.content.iter_any():
                begun += chunk
                if opening.feed(chunk) or len(begun) > MAX_ERROR_BYTES:
                    break
    return begun, opening.error
