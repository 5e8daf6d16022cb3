"""ONE REQUEST, FROM ARRIVAL TO MEMORY: read this first.

The body is parsed into a view, memory decides which edits it needs, and they are spliced into the client's own bytes.
The provider's reply is relayed as it arrives while a listener parses it, and the exchange is in the journal before the
client sees the end of the reply. A request that the provider refuses as too long is shortened and sent once more,
before the client sees anything. Memory may fail at any step; the model call never does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from aiohttp import web

from memory.conversation import Reply
from memory.memory_room import NO_ROOM
from memory.session import Mode, Prepared
from proxy import metrics
from proxy.access import check_key, limit_key, why_without_memory
from proxy.auth.request_target import forwardable, origin_form
from proxy.caller import Prefix, key_shown, shows_key, split_prefix
from proxy.commit import ExchangeCommit
from proxy.connections import Connection
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal, UpstreamUnreachable, refuse
from proxy.fail_open import one_line
from proxy.hidden_rounds import HiddenRounds, RoundRequest
from proxy.limits import LEFT, Admitted, TooManyConnections
from proxy.overflow_retry import OutgoingRequest, send_with_retry
from proxy.pass_through import pass_through, whole_body
from proxy.preparing import prepare, written_body
from proxy.relay import relay
from proxy.request_body import NO_THREAD, plain_text, read
from proxy.request_quota import take_request
from proxy.sending import answer_from_memory, upstream_sender
from proxy.settings import Role
from proxy.tracing import RequestTrace
from proxy.upstream.direct import outgoing_headers
from proxy.upstream.reply import ProviderReply, plain
from proxy.websocket import is_socket, socket
from proxy.wire import dialect_for_errors, dialect_of
from proxy.wire.dialect import STREAMS, Dialect


async def exchange(request: web.Request) -> web.StreamResponse:
    """Answer one request of a client."""
    edge = request.app[EDGE]
    LEFT.set({})
    errors_as = dialect_for_errors(request.raw_path.partition("?")[0], request.headers)
    try:
        if edge.settings.server.role is Role.WORKER:
            raise Refusal(421, "this server is a worker and takes no model calls (server.role): send them to a proxy")
        prefix, rest = split_prefix(origin_form(request.raw_path))
        path = forwardable(rest, edge.secrets.stand_in)
        dialect = dialect_of(path.partition("?")[0]) if request.method == "POST" else None
        if isinstance(request.protocol, Connection):
            if request.protocol.excessive:
                raise TooManyConnections
            if request.protocol.crowded:
                raise Refusal(503, "there are more connections than can be served just now: try again in a moment")
        key = key_shown(request.headers, prefix)
        await edge.know_client_keys(key)
        has_key = shows_key(key, edge.settings, edge.key, edge.client_keys.of, edge.client_keys.membership)
        size = request.content_length
        with edge.limits.admitted(limit_key(request, prefix, edge, has_key), size or 0) as admitted:
            LEFT.set(admitted.headers)
            try:
                return await _answer(request, edge, prefix, path, dialect, has_key, admitted)
            finally:
                if size is None:
                    admitted.charge(request.content.total_bytes)
    except Refusal as refusal:
        return refuse(refusal, errors_as)
    except web.HTTPRequestEntityTooLarge:
        limit = edge.settings.server.max_body_mib
        return refuse(Refusal(413, f"the body is larger than {limit} MiB (server.max_body_mib)", "body"), errors_as)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and NO_THREAD not in str(error):
            raise
        edge.degradations.add("answering a request", "there was no memory left for it")
        return refuse(Refusal(503, "there is no memory left for this request just now: try again"), errors_as)
    except UpstreamUnreachable as error:
        return refuse(Refusal(502, f"the provider could not be reached: {error}"), errors_as)


async def _answer(
    request: web.Request,
    edge: Edge,
    prefix: Prefix,
    path: str,
    dialect: Dialect | None,
    has_key: bool,
    admitted: Admitted,
) -> web.StreamResponse:
    """Answer a request with memory, or pass it on without."""
    let_in, untold = await check_key(request, edge, prefix, path, dialect, has_key)
    if is_socket(request):
        return await socket(request, edge, prefix, path, has_key, admitted)
    if dialect is None:
        return await pass_through(request, edge, prefix, path, "this path has no memory")
    if not let_in and (why_not := await why_without_memory(request, edge)):
        return await pass_through(request, edge, prefix, path, untold or why_not, dialect)
    LEFT.set({**admitted.headers, **await take_request(request.headers, prefix, edge, dialect)})
    with edge.traces.request(dialect.name, request.headers) as trace:
        return await _exchange(request, edge, prefix, path, dialect, trace)


async def _exchange(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, dialect: Dialect, trace: RequestTrace
) -> web.StreamResponse:
    body = await whole_body(request)
    arrived = time.perf_counter()
    await edge.opened_in_time()
    written = None
    unread = _left_unread(edge)
    encoding = request.headers.get("Content-Encoding", "")
    text, could_be_plain = (None, True) if unread else await plain_text(edge, body, encoding)
    with edge.room.taken(len(text or b"")) as could_be_read:
        has_room = could_be_plain and could_be_read
        if not has_room:
            edge.degradations.add("reading a body", NO_ROOM)
        view = await read(dialect, text, path) if has_room and text is not None else None
        view, prepared = await prepare(request, edge, prefix, view, path)
        if view is not None and prepared is not None and (prepared.edits or prepared.tools):
            written = await written_body(edge, dialect, view, prepared)
    if prepared is not None and prepared.edits and written is None:
        prepared = replace(prepared, changed=None)

    prepare_seconds = time.perf_counter() - arrived
    metrics.PREPARE_SECONDS.observe(prepare_seconds)
    trace.prepared(view.conversation.model if view is not None else "", prepared, prepare_seconds)
    headers = outgoing_headers(request.headers.items(), listened=True, is_secret=edge.secrets.stand_in)
    if written is not None:
        headers.popall("Content-Encoding", None)
    async with AsyncExitStack() as replies:
        policy = await edge.upstream_policy(request.headers, prefix)
        send = await upstream_sender(edge, policy, dialect, view, path, headers, body)
        if view is not None and prepared is not None and prepared.answer is not None:
            send, prepared = answer_from_memory(edge, dialect, view, prepared, prepared.answer, send)
        size = len(written or (view.body if view else body))
        outgoing = OutgoingRequest(edge, dialect, send, headers, written or body, size, view, prepared)
        reply, begun, prepared = await send_with_retry(outgoing, replies)
        trace.replied(reply.status)
        own_headers = _status_headers(prepared, edge, unread or view is not None, request.headers)
        if not has_room:
            own_headers["x-palimpsest-status"] = f"degraded; {NO_ROOM}"
        answered = replace(outgoing, prepared=prepared)
        response = await _relay(request, answered, reply, begun, own_headers, trace)
    metrics.REQUESTS.labels(dialect.name, prepared.receipt.kind if prepared else "unread", str(reply.status)).inc()
    return response


async def _relay(
    request: web.Request,
    answered: OutgoingRequest,
    reply: ProviderReply,
    begun: bytes,
    own_headers: dict[str, str],
    trace: RequestTrace,
) -> web.StreamResponse:
    """Pass a reply on, of which ``begun`` was read already, and hear it; it is journaled before it ends."""
    edge, dialect, view, prepared = answered.edge, answered.dialect, answered.view, answered.prepared
    commit = ExchangeCommit(edge, view, prepared)
    listens = reply.status == 200 and prepared is not None and prepared.journaled
    listener = dialect.listen(reply.content_type in STREAMS) if listens else None
    if listener is not None and not plain(reply):
        # Asked for no compression and got it all the same: what cannot be read is passed on unheard, but what
        # was asked is known.
        listener = None
        edge.degradations.add("hearing a reply", "compressed: the provider was asked for plain text")
        commit.begin(Reply())
    try:
        if view and prepared and prepared.tools and not prepared.answer and reply.status == 200 and plain(reply):
            asked = RoundRequest(edge, dialect, view, prepared, answered.send)
            rounds = HiddenRounds(asked, listener, commit if listens else None)
            return await rounds.relay(reply, request, own_headers, begun)
        return await relay(reply, request, own_headers, listener, commit.commit_before_end, begun)
    finally:
        if listener is not None and not commit.begun:
            commit.begin(listener.reply())
        if commit.heard is not None:
            trace.heard(commit.heard)


def _left_unread(edge: Edge) -> bool:
    """Whether nobody needs to know what stands in a body: memory is off, and all go to one place, as they came."""
    return edge.settings.memory.mode is Mode.OFF and not edge.settings.upstream.routes


def _status_headers(
    prepared: Prepared | None, edge: Edge, understood: bool, headers: Mapping[str, str]
) -> dict[str, str]:
    """What we say of a request. ``understood``: its body was read, or did not need to be."""
    if prepared is None:
        closed = edge.memory is None and edge.settings.memory.mode is not Mode.OFF
        if not understood:
            encoding = headers.get("Content-Encoding", "")
            how = f"compressed as {one_line(encoding)!r}, which is not read here" if encoding else "not read"
            return {"x-palimpsest-status": f"passed; the body is {how}"}
        why = "degraded; the stores are not open" if closed else "passed; memory.mode is off"
        if edge.standby:
            why = f"degraded; a standby relays without memory: {one_line(edge.standby)}"
        if edge.opening:
            why = "degraded; the stores are still being opened"
        if edge.memory is not None:
            why = "degraded; memory could not read this request"
        return {"x-palimpsest-status": why}
    own_headers = {"x-palimpsest-status": prepared.receipt.status, "x-palimpsest-receipt": prepared.receipt.id}
    return own_headers | ({"x-palimpsest-answered": prepared.answer.handle} if prepared.answer is not None else {})
