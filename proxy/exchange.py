"""ONE REQUEST, FROM ARRIVAL TO MEMORY: read this first.

The body is parsed into a view, memory decides which edits it needs, and they are spliced into the client's own bytes.
The provider's reply is relayed as it arrives while a listener parses it, and the exchange is in the journal before the
client sees the end of the reply. A request that the provider refuses as too long is shortened and sent once more,
before the client sees anything. Memory may fail at any step; the model call never does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from aiohttp import web
from multidict import CIMultiDict

from memory.conversation import Reply
from memory.memory_room import NO_ROOM
from memory.policy import Policy
from memory.session import Arrival, Mode, Prepared, RequestKind, ResearchAnswer
from memory.unread_files import UnreadFiles
from memory.withheld import withheld
from proxy import metrics
from proxy.auth.installation_key import is_installation_key
from proxy.auth.request_target import forwardable, origin_form
from proxy.caller import Prefix, credential_of, key_shown, namespace, resolve, shows_key, split_prefix
from proxy.commit import LARGE_TO_LEAVE_OUT, LEAVING_OUT, ExchangeCommit
from proxy.connections import Connection
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal, UpstreamUnreachable, refuse
from proxy.fail_open import fail_open, fail_open_at_once, one_line
from proxy.hidden_rounds import HiddenRounds, RoundRequest, Send, with_offer
from proxy.limits import LEFT, Admitted, network_of
from proxy.overflow_retry import OutgoingRequest, send_with_retry
from proxy.pass_through import HOW_TO_SHOW_A_KEY, named_model, pass_through, whole_body
from proxy.relay import relay
from proxy.request_body import NO_THREAD, WRITE_TIMEOUT, plain_text, read, write_edits
from proxy.runtimes import recognise
from proxy.runtimes.runtime import RequestPurpose
from proxy.tracing import RequestTrace
from proxy.upstream.allowed import check_bridge, checked
from proxy.upstream.bridge import FIELDS
from proxy.upstream.direct import address, outgoing_headers
from proxy.upstream.local_reply import local_reply, send_locally
from proxy.upstream.reply import plain
from proxy.upstream.routes import Api, api_of, base_of, route_of
from proxy.websocket import SocketSteps, is_socket, refused, socket
from proxy.wire import dialect_for_errors, dialect_of
from proxy.wire.dialect import STREAMS, Dialect, RequestView

COMPACT_PATH = "/responses/compact"
"""The path on which a client asks its provider to compact a session."""

FALLBACK_TIMEOUT = 30.0
"""Seconds that a session's edits may take where preparing failed. All that is waited for is the ledger, which has a
much shorter time of its own: without the edits, the prefix would break."""


async def exchange(request: web.Request) -> web.StreamResponse:
    """Answer one request of a client."""
    edge = request.app[EDGE]
    LEFT.set({})
    errors_as = dialect_for_errors(request.raw_path.partition("?")[0], request.headers)
    try:
        prefix, rest = split_prefix(origin_form(request.raw_path))
        path = forwardable(rest, edge.secrets.stand_in)
        dialect = dialect_of(path.partition("?")[0]) if request.method == "POST" else None
        if isinstance(request.protocol, Connection) and request.protocol.crowded:
            raise Refusal(503, "there are more connections than can be served just now: try again in a moment")
        key = key_shown(request.headers, prefix)
        await edge.know_client_keys(key)
        has_key = shows_key(key, edge.settings, edge.key, edge.client_keys.of)
        size = request.content_length
        with edge.limits.admitted(_limit_key(request, prefix, edge, has_key), size or 0) as admitted:
            LEFT.set(admitted.headers)
            try:
                return await _let_in(request, edge, prefix, path, dialect, has_key, admitted)
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


def _limit_key(request: web.Request, prefix: Prefix, edge: Edge, has_key: bool) -> str:
    """What the limits of a caller are counted by: its key, or else its address."""
    if not has_key:
        return network_of(request.remote or "here")
    key = (request.headers.get("x-palimpsest-key") or prefix.key or credential_of(request.headers)).strip()
    # The same key in other letters is the same caller.
    return namespace(key.lower() if is_installation_key(key) else key, edge.identity_key)


async def _let_in(
    request: web.Request,
    edge: Edge,
    prefix: Prefix,
    path: str,
    dialect: Dialect | None,
    shown: bool,
    admitted: Admitted,
) -> web.StreamResponse:
    key = key_shown(request.headers, prefix)
    untold = "" if shown else edge.why_untold(key)
    # One that was in force when the journal answered last opens no memory; its model calls go on.
    let_in = shown or (bool(untold) and edge.client_keys.was_known(key))
    if not let_in and edge.settings.server.require_key is True:
        raise _no_key(untold, f"a key is needed here (server.require_key): {HOW_TO_SHOW_A_KEY}")
    ollamas = api_of(path, request.headers) is Api.OLLAMA or (dialect is not None and dialect.name == "ollama-chat")
    if ollamas and not let_in and await _why_without_memory(request, edge):
        # A server on this machine asks for no key: it is its own user's, and nobody else's who reaches us.
        raise _no_key(untold, f"the Ollama of this machine is for its own user: {HOW_TO_SHOW_A_KEY}")
    if is_socket(request):
        return await _socket(request, edge, prefix, path, shown, admitted)
    if dialect is None:
        return await pass_through(request, edge, prefix, path, "this path has none")
    if not let_in and (why_not := await _why_without_memory(request, edge)):
        return await pass_through(request, edge, prefix, path, untold or why_not, dialect)
    return await _exchange(request, edge, prefix, path, dialect)


def _no_key(untold: str, why: str) -> Refusal:
    """Nobody is let in without a key; where keys cannot be told from others, it is worth trying again."""
    return Refusal(503, f"{untold}: try again in a moment") if untold else Refusal(401, why)


async def _socket(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, has_key: bool, admitted: Admitted
) -> web.StreamResponse:
    """Serve a WebSocket with memory. Only the Responses format has one; any other is refused."""
    dialect = dialect_of(path.partition("?")[0])
    if dialect is None or dialect.name != "openai-responses":
        return refused()
    no_memory = await edge.opened_in_time() is None or not (has_key or not await _why_without_memory(request, edge))

    async def prepare(view: RequestView | None) -> tuple[RequestView | None, Prepared | None]:
        view, prepared = await _prepare(request, edge, prefix, view, path)
        if prepared is None or edge.memory is None or view is None:
            return view, prepared
        # There are no hidden rounds here, and no reply but the provider's.
        return view, replace(edge.memory.preparation.offering(prepared, view.conversation, ""), answer=None)

    async def write(dialect: Dialect, view: RequestView, prepared: Prepared) -> bytes | None:
        written, _ = await fail_open(
            write_edits(dialect, view, prepared),
            default=None,
            timeout_seconds=WRITE_TIMEOUT,
            operation="writing edits",
            degradations=edge.degradations,
        )
        return written

    steps = None if no_memory else SocketSteps(read, prepare, write, ExchangeCommit)
    policy = edge.policy_of(request.headers, prefix)
    return await socket(request, edge, path, dialect, steps, admitted.more, policy)


async def _why_without_memory(request: web.Request, edge: Edge) -> str:
    """Why a caller without a key gets no memory; empty if it needs no key."""
    if edge.settings.credentials:
        return "the caller shows no key of the table (credentials)"
    if edge.settings.server.require_key is False or await edge.peers.is_own(request.transport):
        return ""
    return f"not a process of this installation's own user: {HOW_TO_SHOW_A_KEY}"


async def _exchange(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, dialect: Dialect
) -> web.StreamResponse:
    with edge.traces.request(dialect.name, request.headers) as trace:
        return await _traced(request, edge, prefix, path, dialect, trace)


async def _traced(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, dialect: Dialect, trace: RequestTrace
) -> web.StreamResponse:
    body = await whole_body(request)
    arrived = time.perf_counter()
    await edge.opened_in_time()
    written = None
    text, could_be_plain = await plain_text(edge, body, request.headers.get("Content-Encoding", ""))
    with edge.room.taken(len(text or b"")) as could_be_read:
        has_room = could_be_plain and could_be_read
        if not has_room:
            edge.degradations.add("reading a body", NO_ROOM)
        view = await read(dialect, text, path) if has_room and text is not None else None
        view, prepared = await _prepare(request, edge, prefix, view, path)
        if view is not None and prepared is not None and (prepared.edits or prepared.tools):
            written, _ = await fail_open(
                write_edits(dialect, view, prepared),
                default=None,
                timeout_seconds=WRITE_TIMEOUT,
                operation="writing edits",
                degradations=edge.degradations,
            )
    if prepared is not None and prepared.edits and written is None:
        prepared = replace(prepared, changed=None)

    prepare_seconds = time.perf_counter() - arrived
    metrics.PREPARE_SECONDS.observe(prepare_seconds)
    trace.prepared(view.conversation.model if view is not None else "", prepared, prepare_seconds)
    headers = outgoing_headers(request.headers.items(), listened=True, is_secret=edge.secrets.stand_in)
    if written is not None:
        headers.popall("Content-Encoding", None)
    async with AsyncExitStack() as replies:
        policy = edge.policy_of(request.headers, prefix)
        send = await _upstream_sender(edge, policy, dialect, view, path, headers, body)
        if view is not None and prepared is not None and prepared.answer is not None:
            send, prepared = _answer_from_memory(edge, dialect, view, prepared, prepared.answer, send)
        size = len(written or (view.body if view else body))
        outgoing = OutgoingRequest(edge, dialect, send, headers, written or body, size, view, prepared)
        reply, begun, prepared = await send_with_retry(outgoing, write_edits, replies)
        trace.replied(reply.status)
        commit = ExchangeCommit(edge, view, prepared)
        own_headers = _status_headers(prepared, edge, view, request.headers)
        if not has_room:
            own_headers["x-palimpsest-status"] = f"degraded; {NO_ROOM}"
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
                request_of_rounds = RoundRequest(
                    edge,
                    dialect,
                    view,
                    prepared,
                    send=send,
                    written=lambda: write_edits(dialect, view, prepared),
                )
                rounds = HiddenRounds(request_of_rounds, listener, commit if listens else None)
                response = await rounds.relay(reply, request, own_headers, begun)
            else:
                response = await relay(reply, request, own_headers, listener, commit.commit_before_end, begun)
        finally:
            if listener is not None and not commit.begun:
                commit.begin(listener.reply())
            if commit.heard is not None:
                trace.heard(commit.heard)
    metrics.REQUESTS.labels(dialect.name, prepared.receipt.kind if prepared else "unread", str(reply.status)).inc()
    return response


async def _prepare(
    request: web.Request, edge: Edge, prefix: Prefix, view: RequestView | None, path: str
) -> tuple[RequestView | None, Prepared | None]:
    """What memory reads of a request, and what it needs: None if memory takes no part in it."""
    memory = edge.memory
    if view is None or memory is None:
        return view, None
    runtime = recognise(request.headers, view)
    attributed = runtime.attributed(view.conversation)
    if attributed is not view.conversation:
        view = replace(view, conversation=attributed)
    places = edge.checkouts
    key = key_shown(request.headers, prefix)
    # Once more: a body may come for minutes, and a socket stays open for hours.
    await edge.know_client_keys(key)
    caller = resolve(
        request.headers,
        prefix,
        view,
        runtime,
        edge.settings,
        edge.identity_key,
        places.locate,
        places.shared_with,
        edge.client_keys.of,
    )
    if untold := edge.why_untold(key):
        caller = replace(caller, note=untold)
    kind = (
        RequestPurpose(RequestKind.COMPACTION)
        if path.partition("?")[0].endswith(COMPACT_PATH)
        else runtime.kind(request.headers, view)
    )
    arrival = Arrival(
        scope=caller.scope,
        kind=kind.request,
        runtime=runtime.name,
        namespace=caller.namespace,
        at=edge.now(),
        session_key=caller.session_key,
        parent_key=caller.parent_key,
        extends=kind.extends,
        unsure=kind.unsure,
        note=caller.note,
        mode=caller.mode,
        directory=caller.directory,
        checkout=caller.checkout,
        patience=runtime.patience,
        size=len(view.body),
        waited=await edge.admission.take(),
        credential=caller.credential,
        also=caller.also,
    )
    if caller.unread:
        known, _ = await fail_open(
            _without_unread(view, caller.unread),
            default=None,
            timeout_seconds=memory.preparation.time_limit(view.conversation, arrival),
            operation=LEAVING_OUT,
            degradations=edge.degradations,
        )
        if known is None:
            # What must not be read cannot be told from the rest: nothing of this request is.
            return view, None
        view = known
    prepared, why = await fail_open(
        memory.preparation.prepare(view.conversation, arrival),
        default=None,
        timeout_seconds=memory.preparation.time_limit(view.conversation, arrival),
        operation="preparing a request",
        degradations=edge.degradations,
    )
    if prepared is None:
        prepared, _ = await fail_open(
            memory.preparation.fallback_edits(view.conversation, arrival, why),
            default=None,
            timeout_seconds=FALLBACK_TIMEOUT,
            operation="making a session's edits again",
            degradations=edge.degradations,
        )
    return view, with_offer(edge, view, prepared, request.headers) if prepared is not None else None


async def _without_unread(view: RequestView, unread: UnreadFiles) -> RequestView:
    """The view without what stands in files that memory never reads; a large one is looked through in a thread."""
    if len(view.body) >= LARGE_TO_LEAVE_OUT:
        conversation = await asyncio.to_thread(withheld, view.conversation, unread)
    else:
        conversation = withheld(view.conversation, unread)
    return replace(view, conversation=conversation, unread=unread)


async def _upstream_sender(
    edge: Edge,
    policy: Policy,
    dialect: Dialect,
    view: RequestView | None,
    path: str,
    headers: CIMultiDict[str],
    raw_body: bytes,
) -> Send:
    """How a request goes to its provider: as bytes, or, where its route says so, over the bridge (which reads what
    ``raw_body`` as plain text).

    Raises:
        Refusal: 415, when its route needs a body that cannot be read; 401, when its key is another company's; 403, when
            the caller's organisation does not let it go there.
    """
    upstream = edge.settings.upstream
    if view is None:
        model = await asyncio.to_thread(named_model, upstream, path, headers, raw_body)
    else:
        model = view.conversation.model
    route = route_of(upstream, dialect.name, model)
    if route is not None and route.bridge and dialect.name not in FIELDS:
        raise Refusal(501, "this model is reached by a bridge, and requests in this format are not bridged", "model")
    if view is not None and route is not None and route.bridge:
        check_bridge(policy, route, model)
        return lambda body: edge.bridge.send(dialect, route, headers, view.body if body is raw_body else body)
    if route is not None and route.bridge:
        raise Refusal(415, "this model is reached by a bridge, and the body cannot be read here", "body")
    url = address(checked(policy, base_of(upstream, dialect.name, model, headers, path)), path)
    return lambda body: edge.upstream.send("POST", url, headers, body)


def _answer_from_memory(
    edge: Edge, dialect: Dialect, view: RequestView, prepared: Prepared, answer: ResearchAnswer, send: Send
) -> tuple[Send, Prepared]:
    """The way to no provider: memory knows the answer. Where it cannot be put in the client's format, the request goes
    its own way all the same."""
    receipt = prepared.receipt
    reply = fail_open_at_once(
        lambda: local_reply(dialect, view, answer, receipt.id, int(receipt.at.timestamp())),
        default=None,
        operation="answering for a model",
        degradations=edge.degradations,
    )
    return (send, replace(prepared, answer=None)) if reply is None else (lambda body: send_locally(reply), prepared)


def _status_headers(
    prepared: Prepared | None, edge: Edge, view: RequestView | None, headers: Mapping[str, str]
) -> dict[str, str]:
    if prepared is None:
        closed = edge.memory is None and edge.settings.memory.mode is not Mode.OFF
        if view is None:
            encoding = headers.get("Content-Encoding", "")
            how = f"compressed as {one_line(encoding)!r}, which is not read here" if encoding else "not read"
            return {"x-palimpsest-status": f"without memory; the body is {how}"}
        why = "degraded; the stores are not open" if closed else "without memory; memory.mode is off"
        if edge.opening:
            why = "degraded; the stores are still being opened"
        if edge.memory is not None:
            why = "degraded; memory could not read this request"
        return {"x-palimpsest-status": why}
    own_headers = {"x-palimpsest-status": prepared.receipt.status, "x-palimpsest-receipt": prepared.receipt.id}
    return own_headers | ({"x-palimpsest-answered": prepared.answer.handle} if prepared.answer is not None else {})
