"""A request in which memory takes no part: bytes there, bytes back, to the provider whose they are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from typing import TypeVar

from aiohttp import web

from proxy import metrics
from proxy.access import HOW_TO_SHOW_A_KEY
from proxy.caller import Prefix
from proxy.edge import Edge
from proxy.errors import Refusal
from proxy.relay import relay
from proxy.settings import UpstreamSettings
from proxy.upstream.direct import address, decompressed, outgoing_headers
from proxy.upstream.routes import base_for_path, base_of, checked, depends_on_model, route_of
from proxy.wire.dialect import BadRequest, Dialect
from proxy.wire.model_name import (
    is_bytes,
    may_begin_object,
    may_have_model,
    model_in_path,
    models_in_body,
    models_in_query,
)

T = TypeVar("T")

BODY_SECONDS = 60.0
BODY_BYTES_A_SECOND = 2048
"""How long a body may take, and by how much longer for what has come of it."""

LARGE = 8 * 2**20
"""Bytes of a body from which on its pieces are joined in a thread."""

MODEL_WITHIN = 2**28
"""Bytes of a body, uncompressed, within which its model is looked for."""


async def pass_through(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, why: str, dialect: Dialect | None = None
) -> web.StreamResponse:
    """A request in which memory takes no part, and ``why``: bytes there, bytes back. ``dialect`` is the one that it
    speaks, where it does."""
    ours = {"x-palimpsest-status": f"passed; {why}"}
    edge.passed.add(request.headers.get("User-Agent", ""), request.method, path, why)
    metrics.PASSED.labels(request.method if request.method in _METHODS else "other").inc()
    headers = outgoing_headers(request.headers.items(), listened=False, is_secret=edge.secrets.stand_in)
    pieces = pieces_of(request) if request.can_read_body else None
    body, pieces = await _body_with_model(request, edge, path, dialect, pieces)
    models = models_in_url(path) if body is None else await _models_of(request, edge, path, dialect, body)
    base = same_for_all(models, lambda model: _base(edge, path, request.headers, model, dialect))
    url = address(checked(await edge.upstream_policy(request.headers, prefix), base), path)
    if body is None and pieces is not None and request.content_length is not None:
        # Without it the body would go on in chunks, which not every server takes.
        headers["Content-Length"] = str(request.content_length)
    async with edge.upstream.send(request.method, url, headers, pieces if body is None else body) as reply:
        return await relay(reply, request, ours, None, None)


async def _models_of(
    request: web.Request, edge: Edge, path: str, dialect: Dialect | None, body: bytes
) -> Collection[str]:
    """The models that a request names. Bytes of no said kind that only begin like JSON name none in them."""
    try:
        return await asyncio.to_thread(named_models, edge.settings.upstream, path, request.headers, body)
    except BadRequest:
        if dialect is None and is_bytes(request.headers.get("Content-Type", "")):
            return models_in_url(path)
        raise


async def _body_with_model(
    request: web.Request, edge: Edge, path: str, dialect: Dialect | None, pieces: AsyncIterator[bytes] | None
) -> tuple[bytes | None, AsyncIterator[bytes] | None]:
    """The body, where the request's way depends on the model in it; else None, and it is passed on as it comes."""
    if pieces is None or not depends_on_model(edge.settings.upstream, path, request.headers):
        return None, pieces
    if _UPLOADS.search(path):
        return None, pieces
    kind = request.headers.get("Content-Type", "")
    # A request of a dialect is for a model, whatever kind its client says it is of.
    if dialect is None and is_bytes(kind) and "Content-Encoding" not in request.headers:
        begin = await anext(pieces, b"")
        pieces = _beginning_with(begin, pieces)
        if not may_begin_object(begin):
            return None, pieces
    elif dialect is None and not may_have_model(kind) and not is_bytes(kind):
        return None, pieces
    return await _joined(request, pieces), None


async def _beginning_with(begin: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begin
    async for piece in pieces:
        yield piece


def _base(edge: Edge, path: str, headers: Mapping[str, str], model: str, dialect: Dialect | None) -> str:
    """Where a request goes that is passed on.

    Raises:
        Refusal: 401, when it would be bridged with a key of ours for somebody who is not known, or its own key is
            another company's; 501, when nothing says where it goes.
    """
    upstream = edge.settings.upstream
    if dialect is None:
        return base_for_path(upstream, path, headers, model)
    route = route_of(upstream, dialect.name, model)
    if route is not None and route.bridge:
        raise Refusal(
            401, f"this model uses a server-side API key, which only known callers may use: {HOW_TO_SHOW_A_KEY}"
        )
    return base_of(upstream, dialect.name, model, headers, path)


_UPLOADS = re.compile(r"/(files|uploads?|blobs|skills)(/|\?|$)")
"""Paths at which files go up, of any size, which are for no model."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


async def pieces_of(request: web.Request) -> AsyncIterator[bytes]:
    """A body as it comes.

    Raises:
        Refusal: 408, when it comes more slowly than any network is: a crowd of such bodies would take all connections.
    """
    loop, size = asyncio.get_running_loop(), 0
    began = loop.time()
    while True:
        try:
            async with asyncio.timeout_at(began + BODY_SECONDS + size / BODY_BYTES_A_SECOND):
                piece = await request.content.readany()
        except TimeoutError:
            raise Refusal(408, f"the body did not come: {size} bytes in {loop.time() - began:.0f} s", "body") from None
        if not piece:
            return
        size += len(piece)
        yield piece


async def whole_body(request: web.Request) -> bytes:
    """The whole body. The request's own way to read it would keep it there, and an idle connection keeps its last
    request.

    Raises:
        HTTPRequestEntityTooLarge: it is larger than is taken.
    """
    content = request.content
    if content.is_eof() and content.total_bytes <= request.client_max_size:
        return content.read_nowait()
    return await _joined(request, pieces_of(request))


async def _joined(request: web.Request, pieces: AsyncIterator[bytes]) -> bytes:
    joined, size = list[bytes](), 0
    async for piece in pieces:
        size += len(piece)
        if size > request.client_max_size:
            raise web.HTTPRequestEntityTooLarge(max_size=request.client_max_size, actual_size=size)
        joined.append(piece)
    # Joining much gives the lock back, so that other requests have their turn meanwhile.
    return await asyncio.to_thread(b"".join, joined) if size >= LARGE else b"".join(joined)


def models_in_url(path: str) -> frozenset[str]:
    """The models that a URL names: one in its path, and else those in its query; an empty name where it names none."""
    in_path = model_in_path(path)
    return frozenset({in_path}) if in_path else models_in_query(path) or frozenset({""})


def named_models(upstream: UpstreamSettings, path: str, headers: Mapping[str, str], body: bytes) -> frozenset[str]:
    """The models that a request names which is passed on unread: the one in its path, for which a body is not read,
    and else those in its query and its body; an empty name where it names none.

    Raises:
        Refusal: when where the request goes depends on the body and it cannot be read: 415 for its compression, else
            400.
    """
    if model_in_path(path) or not depends_on_model(upstream, path, headers):
        return models_in_url(path)
    encoding = headers.get("Content-Encoding", "")
    plain = decompressed(body, encoding, MODEL_WITHIN)
    if plain is None:
        message = (
            f"where this goes depends on its model, and a body compressed as {encoding[:40]!r} cannot be read here"
        )
        raise Refusal(415, f"{message}: send it uncompressed", "body")
    try:
        in_body = models_in_body(plain, headers.get("Content-Type", ""), path)
    except BadRequest as error:
        message = f"where this goes depends on its model, and its body cannot be read: {error}"
        raise Refusal(400, message, error.where) from error
    in_query = models_in_query(path)
    return in_query | in_body - {""} if in_query else in_body


def same_for_all(models: Iterable[str], where: Callable[[str], T]) -> T:
    """Where a request goes that names some models.

    Raises:
        Refusal: 400, when it is not the same for all of them.
    """
    first, *others = sorted(models)
    there = where(first)
    for other in others:
        if where(other) != there:
            message = f"the models {first!r} and {other!r} of this request belong to different providers"
            raise Refusal(400, f"{message}: ask for them one by one", "model")
    return there
