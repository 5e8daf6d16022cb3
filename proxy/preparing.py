"""What memory makes of a request before it goes: who asks, and for what; what is never read is left out; the edits."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from aiohttp import web

from memory.session import Arrival, Prepared, RequestKind
from memory.unread_files import UnreadFiles
from memory.withheld import withheld
from proxy.caller import Caller, Prefix, identifying_key, key_shown, resolve
from proxy.commit import LARGE_TO_LEAVE_OUT, LEAVING_OUT
from proxy.edge import Edge
from proxy.fail_open import fail_open
from proxy.hidden_rounds import with_offer
from proxy.request_body import WRITE_TIMEOUT, write_edits
from proxy.runtimes import recognise
from proxy.runtimes.runtime import RequestPurpose, Runtime
from proxy.wire.dialect import Dialect, RequestView

COMPACT_PATH = "/responses/compact"
"""The path on which a client asks its provider to compact a session."""

FALLBACK_TIMEOUT = 30.0
"""Seconds that a session's edits may take where preparing failed. All that is waited for is the ledger, which has a
much shorter time of its own: without the edits, the prefix would break."""


async def prepare(
    request: web.Request,
    edge: Edge,
    prefix: Prefix,
    view: RequestView | None,
    path: str,
    may_ask_for_history: bool = False,
) -> tuple[RequestView | None, Prepared | None]:
    """What memory reads of a request, and what it needs: None if memory takes no part in it. ``may_ask_for_history``:
    its client can be told now to send its whole history."""
    memory = edge.memory
    if view is None or memory is None:
        return view, None
    runtime = recognise(request.headers, view)
    attributed = runtime.attributed(view.conversation)
    if attributed is not view.conversation:
        view = replace(view, conversation=attributed)
    caller = await _caller(request, edge, prefix, view, runtime)
    arrival = await _arrival(request, edge, view, path, runtime, caller)
    if may_ask_for_history and runtime.resends:
        arrival = replace(arrival, resends=True)
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


async def written_body(edge: Edge, dialect: Dialect, view: RequestView, prepared: Prepared) -> bytes | None:
    """The body with its edits; None where there are none, or they cannot be written."""
    written, _ = await fail_open(
        write_edits(dialect, view, prepared),
        default=None,
        timeout_seconds=WRITE_TIMEOUT,
        operation="writing edits",
        degradations=edge.degradations,
    )
    return written


async def _caller(request: web.Request, edge: Edge, prefix: Prefix, view: RequestView, runtime: Runtime) -> Caller:
    key = key_shown(request.headers, prefix)
    # Once more: a body may come for minutes, and a socket stays open for hours.
    await edge.know_client_keys(key)
    if (identity := identifying_key(request.headers, prefix)) != key:
        await edge.know_client_keys(identity)
    caller = resolve(
        request.headers,
        prefix,
        view,
        runtime,
        edge.settings,
        edge.identity_key,
        edge.checkouts.locate,
        edge.checkouts.shared_with,
        edge.client_keys.of,
        edge.client_keys.membership,
    )
    untold = edge.why_untold(key)
    return replace(caller, note=untold) if untold else caller


async def _arrival(
    request: web.Request, edge: Edge, view: RequestView, path: str, runtime: Runtime, caller: Caller
) -> Arrival:
    compacts = path.partition("?")[0].endswith(COMPACT_PATH)
    purpose = RequestPurpose(RequestKind.COMPACTION) if compacts else runtime.kind(request.headers, view)
    return Arrival(
        scope=caller.scope,
        kind=purpose.request,
        runtime=runtime.name,
        namespace=caller.namespace,
        at=edge.now(),
        session_key=caller.session_key,
        parent_key=caller.parent_key,
        extends=purpose.extends,
        unsure=purpose.unsure,
        note=caller.note,
        mode=caller.mode,
        directory=caller.directory,
        checkout=caller.checkout,
        patience=runtime.patience,
        size=len(view.body),
        waited=await edge.admission.take(),
        credential=caller.credential,
        also=caller.also,
        reach=caller.reach,
    )


async def _without_unread(view: RequestView, unread: UnreadFiles) -> RequestView:
    """The view without what stands in files that memory never reads; a large one is looked through in a thread."""
    if len(view.body) >= LARGE_TO_LEAVE_OUT:
        conversation = await asyncio.to_thread(withheld, view.conversation, unread)
    else:
        conversation = withheld(view.conversation, unread)
    return replace(view, conversation=conversation, unread=unread)
