"""ONE REQUEST, FROM ARRIVAL TO MEMORY: read this first.

The body is read into a view; memory is asked which edits it needs; they are spliced into the client's own bytes;
the provider's reply is relayed as it comes while a listener hears it; and before the client sees its end, the
exchange is in the journal. A request that is refused for its length is shortened and sent once more, before the
client sees anything of it. Memory may fail at any step, the model call does not.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from aiohttp import web
from multidict import CIMultiDict

from memory.conversation import Reply
from memory.session import Answered, Arrival, HiddenRound, Mode, Prepared, RequestKind
from proxy import metrics
from proxy.caller import Prefix, credential_of, namespace, resolve, shows_key, split_prefix
from proxy.connections import Connection
from proxy.door.keys import is_installation_key
from proxy.door.target import forwardable, origin_form
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal, UpstreamUnreachable, refuse
from proxy.fail_open import fail_open, fail_open_at_once, one_line
from proxy.limits import LEFT, Admitted
from proxy.pass_through import HOW_TO_SHOW_A_KEY, named_model, pass_through, whole_body
from proxy.refused import Outgoing, answered
from proxy.relay import relay
from proxy.rounds import Asked, Rounds, Send, with_offer
from proxy.runtimes import recognise
from proxy.runtimes.runtime import Kind
from proxy.runtimes.spoken import spoken
from proxy.sockets import Steps, is_socket, refused, socket
from proxy.upstream.bridge import FIELDS
from proxy.upstream.direct import address, decompressed, outgoing_headers
from proxy.upstream.nobody import made_reply, to_nobody
from proxy.upstream.reply import plain
from proxy.upstream.routes import Api, api_of, base_of, route_of
from proxy.wire import dialect_for_errors, dialect_of
from proxy.wire.dialect import STREAMS, BadRequest, Dialect, Unreadable, View
from proxy.wire.rounds import with_hidden_rounds
from proxy.wire.rounds.offering import with_tools
from proxy.wire.rules.compared import newly_broken

LARGE = 4 * 2**20
"""Bytes from which on a body is read in a thread, so that other requests are not held up meanwhile."""

LARGEST_READ = 64 * 2**20
"""Bytes of a body from which on it is relayed unread, without memory: a session of eight thousand turns has half as
many, and each step of reading more would hold everybody else up."""

COMPACTS = "/responses/compact"
"""Where a client asks its provider to compact a session, whose history it sends for that."""

WRITE_SECONDS = 30.0
"""How long edits may take to be written into the largest body."""


async def exchange(request: web.Request) -> web.StreamResponse:
    """Answer one request of a client."""
    edge = request.app[EDGE]
    LEFT.set({})
    errors_as = dialect_for_errors(request.raw_path.partition("?")[0], request.headers)
    try:
        prefix, behind = split_prefix(origin_form(request.raw_path))
        path = forwardable(behind, edge.secrets.stand_in)
        dialect = dialect_of(path.partition("?")[0]) if request.method == "POST" else None
        if isinstance(request.protocol, Connection) and request.protocol.crowded:
            raise Refusal(503, "there are more connections than can be served just now: try again in a moment")
        shown = shows_key(request.headers, prefix, edge.settings, edge.key)
        size = request.content_length
        with edge.limits.admitted(_caller(request, prefix, edge, shown), size or 0) as admitted:
            LEFT.set(admitted.headers)
            try:
                return await _let_in(request, edge, prefix, path, dialect, shown, admitted)
            finally:
                if size is None:
                    admitted.charge(request.content.total_bytes)
    except Refusal as refusal:
        return refuse(refusal, errors_as)
    except web.HTTPRequestEntityTooLarge:
        limit = edge.settings.server.max_body_mib
        return refuse(Refusal(413, f"the body is larger than {limit} MiB (server.max_body_mib)", "body"), errors_as)
    except UpstreamUnreachable as error:
        return refuse(Refusal(502, f"the provider could not be reached: {error}"), errors_as)


def _caller(request: web.Request, prefix: Prefix, edge: Edge, shown: bool) -> str:
    """By what a caller is limited: the key that it shows, else the address that it comes from."""
    if not shown:
        return _network(request.remote or "here")
    told = (request.headers.get("x-palimpsest-key") or prefix.key or credential_of(request.headers)).strip()
    # The same key in other letters is the same caller.
    return namespace(told.lower() if is_installation_key(told) else told, edge.identity_key)


def _network(address: str) -> str:
    """Who asks from an address: of IPv6 the network, in which one machine has any number of addresses."""
    try:
        told = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return address if told.version == 4 else str(ipaddress.ip_network((told, 64), strict=False))


async def _let_in(
    request: web.Request,
    edge: Edge,
    prefix: Prefix,
    path: str,
    dialect: Dialect | None,
    shown: bool,
    admitted: Admitted,
) -> web.StreamResponse:
    if not shown and edge.settings.server.require_key is True:
        raise Refusal(401, f"a key is needed here (server.require_key): {HOW_TO_SHOW_A_KEY}")
    ollamas = api_of(path, request.headers) is Api.OLLAMA or (dialect is not None and dialect.name == "ollama-chat")
    if ollamas and not shown and await _why_without_memory(request, edge):
        # A server on this machine asks for no key: it is its own user's, and nobody else's who reaches us.
        raise Refusal(401, f"the Ollama of this machine is for its own user: {HOW_TO_SHOW_A_KEY}")
    if is_socket(request):
        return await _socket(request, edge, prefix, path, shown, admitted)
    if dialect is None:
        return await pass_through(request, edge, path, "this path has none")
    if not shown and (why_not := await _why_without_memory(request, edge)):
        return await pass_through(request, edge, path, why_not, dialect)
    return await _exchange(request, edge, prefix, path, dialect)


async def _socket(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, shown: bool, admitted: Admitted
) -> web.StreamResponse:
    """A WebSocket: of the format that knows one with memory, of any other there is none."""
    dialect = dialect_of(path.partition("?")[0])
    if dialect is None or dialect.name != "openai-responses":
        return refused()
    without = edge.memory is None or not (shown or not await _why_without_memory(request, edge))

    async def prepare(view: View | None) -> Prepared | None:
        prepared = await _prepare(request, edge, prefix, view, path)
        if prepared is None or edge.memory is None or view is None:
            return prepared
        # There are no hidden rounds here, and no reply but the provider's.
        return replace(edge.memory.preparation.offering(prepared, view.conversation, ""), answer=None)

    async def write(dialect: Dialect, view: View, prepared: Prepared) -> bytes | None:
        written, _ = await fail_open(
            _written(dialect, view, prepared),
            otherwise=None,
            within=WRITE_SECONDS,
            doing="writing edits",
            degradations=edge.degradations,
        )
        return written

    steps = None if without else Steps(_read, prepare, write, _Commit)
    return await socket(request, edge, path, dialect, steps, admitted.more)


async def _why_without_memory(request: web.Request, edge: Edge) -> str:
    """Why a caller is given no memory that has shown no key; an empty text where it needs none."""
    if edge.settings.credentials:
        return "the caller shows no key of the table (credentials)"
    if edge.settings.server.require_key is False or await edge.peers.is_own(request.transport):
        return ""
    return f"not a process of this installation's own user: {HOW_TO_SHOW_A_KEY}"


async def _exchange(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, dialect: Dialect
) -> web.StreamResponse:
    body = await whole_body(request)
    arrived = time.perf_counter()
    view = await _read(dialect, body, request.headers, path)
    prepared = await _prepare(request, edge, prefix, view, path)
    written = None
    if view is not None and prepared is not None and (prepared.edits or prepared.tools):
        written, _ = await fail_open(
            _written(dialect, view, prepared),
            otherwise=None,
            within=WRITE_SECONDS,
            doing="writing edits",
            degradations=edge.degradations,
        )
    if prepared is not None and prepared.edits and written is None:
        prepared = replace(prepared, changed=None)

    metrics.PREPARE_SECONDS.observe(time.perf_counter() - arrived)
    headers = outgoing_headers(request.headers.items(), listened=True, is_secret=edge.secrets.stand_in)
    if written is not None:
        headers.popall("Content-Encoding", None)
    async with AsyncExitStack() as replies:
        send = await _way(edge, dialect, view, path, headers, body)
        if view is not None and prepared is not None and prepared.answer is not None:
            send, prepared = _by_memory(edge, dialect, view, prepared, prepared.answer, send)
        size = len(written or (view.body if view else body))
        sent = Outgoing(edge, dialect, send, headers, written or body, size, view, prepared)
        reply, begun, prepared = await answered(sent, _written, replies)
        committed = _Commit(edge, view, prepared)
        ours = _ours(prepared, edge, view, request.headers)
        heard = reply.status == 200 and prepared is not None and prepared.journaled
        listener = dialect.listen(reply.content_type in STREAMS) if heard else None
        if listener is not None and not plain(reply):
            # Asked for no compression and got it all the same: what cannot be read is passed on unheard, but what
            # was asked is known.
            listener = None
            edge.degradations.add("hearing a reply", "compressed: the provider was asked for plain text")
            committed.begin(Reply())
        try:
            if view and prepared and prepared.tools and not prepared.answer and reply.status == 200 and plain(reply):
                asked = Asked(
                    edge,
                    dialect,
                    view,
                    prepared,
                    send=send,
                    written=lambda: _written(dialect, view, prepared),
                )
                rounds = Rounds(asked, listener, committed if heard else None)
                response = await rounds.relay(reply, request, ours, begun)
            else:
                response = await relay(reply, request, ours, listener, committed.in_time, begun)
        finally:
            if listener is not None and not committed.begun:
                committed.begin(listener.reply())
    metrics.REQUESTS.labels(dialect.name, prepared.receipt.kind if prepared else "unread", str(reply.status)).inc()
    return response


async def _read(dialect: Dialect, body: bytes, headers: Mapping[str, str], path: str) -> View | None:
    """The body as a view; None where it is for the provider to judge, or too large to be looked through."""
    encoding = headers.get("Content-Encoding", "")
    text = body if not encoding else await asyncio.to_thread(decompressed, body, encoding, LARGEST_READ)
    if text is not None and len(text) > LARGEST_READ:
        return None
    if text is None:
        return None
    try:
        if len(text) >= LARGE:
            return await asyncio.to_thread(dialect.read, text, spoken, path)
        return dialect.read(text, spoken, path)
    except Unreadable:
        return None
    except BadRequest as error:
        raise Refusal(400, str(error), error.where) from error


async def _prepare(request: web.Request, edge: Edge, prefix: Prefix, view: View | None, path: str) -> Prepared | None:
    """What memory adds. None where it takes no part at all."""
    memory = edge.memory
    if view is None or memory is None:
        return None
    runtime = recognise(request.headers, view)
    caller = resolve(request.headers, prefix, view, runtime, edge.settings, edge.identity_key, edge.checkouts.locate)
    kind = (
        Kind(RequestKind.COMPACTION)
        if path.partition("?")[0].endswith(COMPACTS)
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
        waited=await edge.turns.take(),
        credential=caller.credential,
    )
    prepared, why = await fail_open(
        memory.preparation.prepare(view.conversation, arrival),
        otherwise=None,
        within=memory.preparation.patience(view.conversation, arrival),
        doing="preparing a request",
        degradations=edge.degradations,
    )
    if prepared is None:
        prepared = fail_open_at_once(
            lambda: memory.preparation.made_again(view.conversation, arrival, why),
            otherwise=None,
            doing="making a session's edits again",
            degradations=edge.degradations,
        )
    if prepared is None:
        return None
    return with_offer(edge, view, prepared, request.headers)


async def _way(
    edge: Edge,
    dialect: Dialect,
    view: View | None,
    path: str,
    headers: CIMultiDict[str],
    came: bytes,
) -> Send:
    """How a request goes to its provider: as bytes, or, where its route says so, over the bridge (which reads what
    ``came`` as plain text).

    Raises:
        Refusal: 415, when its route needs a body that cannot be read; 401, when its key is another company's.
    """
    upstream = edge.settings.upstream
    if view is None:
        model = await asyncio.to_thread(named_model, upstream, path, headers, came)
    else:
        model = view.conversation.model
    route = route_of(upstream, dialect.name, model)
    if route is not None and route.bridge and dialect.name not in FIELDS:
        raise Refusal(501, "this model is reached by a bridge, and requests in this format are not bridged", "model")
    if view is not None and route is not None and route.bridge:
        return lambda body: edge.bridge.send(dialect, route, headers, view.body if body is came else body)
    if route is not None and route.bridge:
        raise Refusal(415, "this model is reached by a bridge, and the body cannot be read here", "body")
    url = address(base_of(upstream, dialect.name, model, headers, path), path)
    return lambda body: edge.upstream.send("POST", url, headers, body)


def _by_memory(
    edge: Edge, dialect: Dialect, view: View, prepared: Prepared, answer: Answered, send: Send
) -> tuple[Send, Prepared]:
    """The way to no provider: memory knows the answer. Where it cannot be put in the client's format, the request goes
    its own way all the same."""
    receipt = prepared.receipt
    reply = fail_open_at_once(
        lambda: made_reply(dialect, view, answer, receipt.id, int(receipt.at.timestamp())),
        otherwise=None,
        doing="answering for a model",
        degradations=edge.degradations,
    )
    return (send, replace(prepared, answer=None)) if reply is None else (lambda body: to_nobody(reply), prepared)


async def _written(dialect: Dialect, view: View, prepared: Prepared) -> bytes | None:
    """The edited body; a large one is written in a thread."""
    if (prepared.edits or prepared.tools) and len(view.body) >= LARGE:
        return await asyncio.to_thread(_write, dialect, view, prepared)
    return _write(dialect, view, prepared)


def _write(dialect: Dialect, view: View, prepared: Prepared) -> bytes | None:
    """The body with its edits, and with the tools that its session offers. None where there are none."""
    written = _edited(dialect, view, prepared) if prepared.edits else None
    return (
        with_tools(view.body if written is None else written, dialect.name, prepared.tools)
        if prepared.tools
        else written
    )


def _edited(dialect: Dialect, view: View, prepared: Prepared) -> bytes | None:
    """The body with its edits. None where they would break a rule that the client kept: then the client's own bytes
    go out, as they came."""
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


def _ours(prepared: Prepared | None, edge: Edge, view: View | None, headers: Mapping[str, str]) -> dict[str, str]:
    if prepared is None:
        closed = edge.memory is None and edge.settings.memory.mode is not Mode.OFF
        if view is None:
            encoding = headers.get("Content-Encoding", "")
            how = f"compressed as {one_line(encoding)!r}, which is not read here" if encoding else "not read"
            return {"x-palimpsest-status": f"without memory; the body is {how}"}
        why = "degraded; the stores are not open" if closed else "without memory; memory.mode is off"
        return {"x-palimpsest-status": why}
    told = {"x-palimpsest-status": prepared.receipt.status, "x-palimpsest-receipt": prepared.receipt.id}
    return told | ({"x-palimpsest-answered": prepared.answer.handle} if prepared.answer is not None else {})


class _Commit:
    """Brings one exchange into the journal, once."""

    def __init__(self, edge: Edge, view: View | None, prepared: Prepared | None) -> None:
        self._edge = edge
        self._view = view
        self._prepared = prepared
        self.begun = False

    def hid(self, rounds: tuple[HiddenRound, ...]) -> None:
        """What the reply hides, for the receipt."""
        if self._prepared is not None and rounds:
            self._prepared = replace(self._prepared, receipt=replace(self._prepared.receipt, hidden=rounds))

    def begin(self, reply: Reply) -> asyncio.Task[object] | None:
        """Start writing; the write outlives the request."""
        self.begun = True
        if not reply.complete:
            metrics.CUT.inc()
        memory, view, prepared = self._edge.memory, self._view, self._prepared
        if memory is None or view is None or prepared is None or not prepared.journaled:
            return None
        for hear in (
            lambda: memory.preparation.was_read(prepared),
            lambda: memory.spawned.heard(prepared, reply),
        ):
            fail_open_at_once(
                hear, otherwise=None, doing="hearing that a reply has ended", degradations=self._edge.degradations
            )
        if reply.usage is not None:
            self._edge.go_beside(memory.preparation.heard(prepared, view.conversation, reply))
        return self._edge.go_beside(memory.notes.note(prepared, view.conversation, reply, 200))

    async def in_time(self, reply: Reply) -> None:
        """Write, and wait until the exchange outlives this process: in the journal or, where that takes longer than a
        reply's end is held back for it, set aside. Only where neither can be done is the end let go all the same."""
        task = self.begin(reply)
        memory, prepared = self._edge.memory, self._prepared
        if task is None or memory is None or prepared is None:
            return
        done, _ = await asyncio.wait({task}, timeout=self._edge.settings.memory.journal.hold_ms / 1000)
        if done:
            return
        aside = self._edge.go_beside(memory.notes.set_aside(prepared.receipt.id))
        await asyncio.wait({task, aside}, return_when="FIRST_COMPLETED")
        if task.done():
            return
        metrics.LATE_COMMITS.inc()
        safe = await aside
        why = "aside: in a file, not yet in the journal" if safe else "late: neither in the journal nor aside"
        self._edge.degradations.add("journaling", why)
