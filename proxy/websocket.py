"""Responses over a WebSocket, with memory: frames go there and back, and what asks for a response is prepared as a
request over HTTP is.

A socket carries one response after the other. What its server says goes to the client at once, but for the event that
ends a response: that waits until the exchange is in the journal.

A frame that goes on from an earlier response (``previous_response_id``) has only what is new: the history stands at the
provider, and nothing can leave it there. Once it does not fit into the window any more, a client that is known to send
all of it again is told that the response is not there, and what it then sends is shed like a request over HTTP.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import aiohttp
import msgspec
from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from memory.memory_room import NO_ROOM
from memory.session import Prepared
from proxy import metrics
from proxy.access import why_without_memory
from proxy.caller import Prefix
from proxy.commit import ExchangeCommit
from proxy.edge import Edge
from proxy.errors import Refusal, UpstreamUnreachable
from proxy.limits import BUSY_SECONDS, Admitted, Limited
from proxy.preparing import prepare, written_body
from proxy.request_body import read
from proxy.request_quota import give_back_request, take_request
from proxy.upstream.direct import address, incoming_headers, outgoing_headers
from proxy.upstream.routes import base_of, checked, depends_on_model, route_of
from proxy.wire import dialect_of
from proxy.wire.dialect import Dialect, Listener, RequestView

log = logging.getLogger(__name__)

ASKS: Final = "response.create"
"""The kind of frame that asks for a response."""
ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
CLOSE_SECONDS: Final = 5.0
MOST_ASKED: Final = 16
"""Responses of one socket that may be asked for before one is answered: each keeps its whole history here."""

PrepareFrame = Callable[[RequestView | None, bool], Awaitable[tuple[RequestView | None, Prepared | None]]]
"""What memory reads of a frame, and what it needs; with whether its client can be asked for its whole history."""

_NOT_ON: Final = ("sec-websocket-", "origin")
_FALLS_BACK: Final = frozenset({200, 404, 405, 426, 501, 502, 503})
"""What a provider says that has no WebSocket there."""


@dataclass(frozen=True, slots=True)
class _Counting:
    """How what a socket carries counts against its caller's limits: ``take`` lets in so many responses that are asked
    for, with so many bytes, or raises :class:`Limited`; ``give_back`` takes a response for not asked for."""

    take: Callable[[int, int], Awaitable[None]]
    give_back: Callable[[], None]


@dataclass(slots=True)
class _PendingResponse:
    listener: Listener
    commit: ExchangeCommit


@dataclass(frozen=True, slots=True)
class _Close:
    code: int
    words: bytes = b""


_GONE: Final = _Close(WSCloseCode.GOING_AWAY)
_CARRIED: Final = frozenset({WSMsgType.TEXT, WSMsgType.BINARY})


def _close_of(message: WSMessage, code: int | None) -> _Close | None:
    """How an end closed its socket, by the last that came of it and the code that its own library gave it; None where
    it broke off."""
    if message.type is WSMsgType.CLOSE:
        return _Close(message.data or WSCloseCode.OK, (message.extra or "").encode())
    return _Close(code) if message.type is WSMsgType.ERROR and code and code != WSCloseCode.ABNORMAL_CLOSURE else None


class _Frame(msgspec.Struct):
    type: str = ""
    generate: bool | None = None


def is_socket(request: web.Request) -> bool:
    """Whether a client asks for a WebSocket."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


def _refuse_upgrade() -> web.Response:
    """There is no WebSocket here. Clients that prefer one go on over HTTP at once on 426, and only after many tries on
    anything else."""
    headers = {"x-palimpsest-status": "refused; no WebSocket here"}
    return web.Response(status=426, headers={"Upgrade": "HTTP/2.0", "Connection": "Upgrade", **headers})


async def socket(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, has_key: bool, admitted: Admitted
) -> web.StreamResponse:
    """Carry a client's WebSocket to the provider's. Only the Responses format has one; any other is refused. Each
    response that is asked for counts as a request of the one that was ``admitted``.

    Raises:
        Refusal: when the provider's address is not for this key, or the policy does not let it be asked.
        UpstreamUnreachable: when there is no answer there.
    """
    dialect = dialect_of(path.partition("?")[0])
    if dialect is None or dialect.name != "openai-responses":
        return _refuse_upgrade()
    no_memory = await edge.opened_in_time() is None or not (has_key or not await why_without_memory(request, edge))

    async def prepare_frame(view: RequestView | None, may_ask: bool) -> tuple[RequestView | None, Prepared | None]:
        view, prepared = await prepare(request, edge, prefix, view, path, may_ask)
        if prepared is None or edge.memory is None or view is None:
            return view, prepared
        # There are no hidden rounds here, and no reply but the provider's.
        return view, replace(edge.memory.preparation.offering(prepared, view.conversation, ""), answer=None)

    async def take(responses: int, size: int) -> None:
        admitted.more(responses, size)
        if responses and not no_memory:
            await take_request(request.headers, prefix, edge, dialect)

    def give_back() -> None:
        admitted.give_back(1)
        if not no_memory:
            give_back_request(request.headers, prefix, edge)

    counting = _Counting(take, give_back)
    return await _relay_socket(request, edge, prefix, path, dialect, None if no_memory else prepare_frame, counting)


async def _relay_socket(
    request: web.Request,
    edge: Edge,
    prefix: Prefix,
    path: str,
    dialect: Dialect,
    prepare_frame: PrepareFrame | None,
    counting: _Counting,
) -> web.StreamResponse:
    """Carry a socket; without ``prepare_frame`` memory takes no part."""
    settings = edge.settings.upstream
    route = route_of(settings, dialect.name, "")
    bridged = route is not None and bool(route.bridge)
    if not settings.websocket or bridged or depends_on_model(settings, path, request.headers):
        # Which provider it is for stands in the frames, and they come when it is too late to choose.
        return _refuse_upgrade()
    policy = await edge.upstream_policy(request.headers, prefix)
    url = address(checked(policy, base_of(settings, dialect.name, "", request.headers, path)), path)
    headers = outgoing_headers(request.headers.items(), listened=True, is_secret=edge.secrets.stand_in)
    headers.popall("Accept-Encoding", None)
    for name in [name for name in headers if name.lower().startswith(_NOT_ON)]:
        headers.popall(name, None)
    reply_headers = (each.strip() for each in request.headers.get("Sec-WebSocket-Protocol", "").split(","))
    spoken = [each for each in reply_headers if each and not edge.secrets.stand_in(each)]
    largest = edge.settings.server.max_body_mib * 2**20
    try:
        there, answered = await edge.upstream.connect(url, headers, spoken, largest)
    except aiohttp.WSServerHandshakeError as error:
        if error.status in _FALLS_BACK:
            return _refuse_upgrade()
        return web.Response(status=error.status, headers=incoming_headers((error.headers or {}).items()))
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise UpstreamUnreachable(f"no WebSocket to the provider: {type(error).__name__}") from error
    here = web.WebSocketResponse(
        protocols=[there.protocol] if there.protocol else (),
        max_msg_size=largest,
        compress=False,
        autoping=True,
        autoclose=False,
    )
    for name, value in incoming_headers(answered.items()).items():
        if not name.lower().startswith(("sec-websocket-", "content-")):
            here.headers.add(name, value)
    here.headers["x-palimpsest-status"] = "a WebSocket; memory takes part" if prepare_frame else "passed; a WebSocket"
    try:
        await here.prepare(request)
        await _SocketRelay(edge, path, dialect, prepare_frame, counting, here, there, request.transport).run()
    finally:
        await there.close()
    return here


class _SocketRelay:
    def __init__(
        self,
        edge: Edge,
        path: str,
        dialect: Dialect,
        prepare_frame: PrepareFrame | None,
        counting: _Counting,
        here: web.WebSocketResponse,
        there: aiohttp.ClientWebSocketResponse,
        connection: asyncio.BaseTransport | None,
    ) -> None:
        self._edge = edge
        self._path = path
        self._dialect = dialect
        self._prepare_frame = prepare_frame
        self._counting = counting
        self._here = here
        self._there = there
        self._connection = connection
        self._pending_responses: deque[_PendingResponse | None] = deque()
        self._answered = asyncio.Event()

    async def run(self) -> None:
        """Until one of both ends."""
        ending = asyncio.create_task(self._until_the_server_ends())
        from_here = asyncio.create_task(self._from_here())
        from_there = asyncio.create_task(self._from_there())
        ways: set[asyncio.Task[_Close | None]] = {from_here, from_there, ending}
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for pending in filter(None, self._pending_responses):
                # What was asked and heard is kept, though its end never came.
                pending.commit.begin(pending.listener.reply())
        ended = next(way for way in (from_here, from_there, ending) if way in done)
        close = ended.result() if ended.exception() is None else None
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                if ended is from_there and close is None and isinstance(self._connection, asyncio.Transport):
                    # What broke off there must not look like an end that was meant.
                    self._connection.abort()
                close = close or _GONE
                await asyncio.gather(
                    self._here.close(code=close.code, message=close.words),
                    self._there.close(code=close.code, message=close.words),
                    return_exceptions=True,
                )
        for way in done:
            if (error := way.exception()) is not None and not isinstance(error, ConnectionError):
                raise error

    async def _until_the_server_ends(self) -> _Close | None:
        """Until the server is about to end and no response is under way here."""
        await self._edge.draining.begun.wait()
        self._answered.clear()
        if self._pending_responses:
            await self._answered.wait()
        return None

    async def _from_here(self) -> _Close | None:
        while (message := await self._here.receive()).type in _CARRIED:
            frame = _frame(message.data) if message.type is WSMsgType.TEXT else _Frame()
            asks = frame.type == ASKS
            try:
                if asks and len(self._pending_responses) >= MOST_ASKED:
                    raise Limited("responses asked for that are not answered yet", BUSY_SECONDS)
                await self._counting.take(int(asks), len(message.data))
            except Limited as limited:
                if not asks:
                    # Nothing answers such a frame: who sends too many is told by the end of the socket.
                    return _Close(WSCloseCode.TRY_AGAIN_LATER, b"too many bytes a minute")
                await self._here.send_str(_refused_frame(self._dialect, limited))
                continue
            if message.type is WSMsgType.TEXT:
                written = await self._prepared(message.data, frame)
                if written is None:
                    self._counting.give_back()
                    metrics.HISTORIES_ASKED_FOR.inc()
                    log.info("a history outgrew the window at its server: its client is asked for all of it")
                    await self._here.send_str(_NOT_FOUND)
                else:
                    await self._there.send_str(written)
            else:
                await self._there.send_bytes(message.data)
        return _close_of(message, self._here.close_code)

    async def _from_there(self) -> _Close | None:
        while (message := await self._there.receive()).type in _CARRIED:
            if message.type is WSMsgType.TEXT:
                await self._hear(message.data)
                await self._here.send_str(message.data)
                if not self._pending_responses:
                    self._answered.set()
            else:
                await self._here.send_bytes(message.data)
        return _close_of(message, self._there.close_code)

    async def _prepared(self, text: str, frame: _Frame) -> str | None:
        """A frame of the client's, with what memory adds to it; None where its client is to send its whole history
        instead. That is told like a provider's fault, so it is only where no response is under way that it could belong
        to."""
        if self._prepare_frame is None or frame.type != ASKS or frame.generate is False:
            if frame.type == ASKS:
                self._pending_responses.append(None)
            return text
        body = text.encode("utf-8", "surrogatepass")
        written = view = prepared = None
        with self._edge.room.taken(len(body)) as has_room:
            if not has_room:
                self._edge.degradations.add("reading a body", NO_ROOM)
            else:
                # What is wrong with a frame is for the provider to say.
                with suppress(Refusal):
                    view = await read(self._dialect, body, self._path)
                    if view is not None:
                        # A socket's server has what was said over it, whatever the client wants stored.
                        view = replace(view, conversation=replace(view.conversation, stored=True))
                    view, prepared = await self._prepare_frame(view, not self._pending_responses)
            if prepared is not None and prepared.outgrown:
                return None
            if view is not None and prepared is not None:
                written = await written_body(self._edge, self._dialect, view, prepared)
        heard = prepared is not None and prepared.journaled
        commit = ExchangeCommit(self._edge, view, prepared)
        self._pending_responses.append(_PendingResponse(self._dialect.listen(True), commit) if heard else None)
        return text if written is None else written.decode("utf-8", "surrogatepass")

    async def _hear(self, text: str) -> None:
        """Hear an event; when this is over, it may go on."""
        if not self._pending_responses:
            return
        kind, pending = _frame(text).type, self._pending_responses[0]
        if pending is not None:
            pending.listener.feed(b"data: " + text.encode("utf-8", "surrogatepass") + b"\n\n")
        if kind in ENDS or kind == "error":
            self._pending_responses.popleft()
            if pending is not None and kind in ENDS:
                await pending.commit.commit_before_end(pending.listener.reply())


_NOT_FOUND: Final = msgspec.json.encode(
    {
        "type": "error",
        "status": 400,
        "error": {
            "type": "invalid_request_error",
            "code": "previous_response_not_found",
            "message": "Previous response not found. Send its whole history, so that it can be shortened.",
            "param": "previous_response_id",
        },
    }
).decode()
"""What makes a client send its whole history: the provider's own words for a response that it has no more."""


def _refused_frame(dialect: Dialect, limited: Limited) -> str:
    """The event that refuses a response, as the provider tells it over a socket."""
    body = msgspec.json.decode(dialect.refusal(limited.status, limited.message, limited.where))
    told = {
        "type": "error",
        "status": limited.status,
        **body,
        "headers": {"retry-after": str(limited.retry_after), **limited.headers},
    }
    return msgspec.json.encode(told).decode()


def _frame(text: str) -> _Frame:
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=_Frame)
    except (msgspec.DecodeError, RecursionError):
        return _Frame()
