"""Where a request goes: to its provider as bytes, over the bridge, or nowhere, because memory knows the answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from multidict import CIMultiDict

from memory.policy import Policy
from memory.session import Prepared, ResearchAnswer
from proxy.edge import Edge
from proxy.errors import Refusal
from proxy.fail_open import fail_open_at_once
from proxy.hidden_rounds import Send
from proxy.pass_through import models_in_url, named_models, same_for_all
from proxy.upstream.bridge import FIELDS
from proxy.upstream.direct import address
from proxy.upstream.reply import local_reply, send_locally
from proxy.upstream.routes import base_of, check_bridge, check_bridged, checked, depends_on_model, route_of
from proxy.wire.dialect import Dialect, RequestView
from proxy.wire.model_name import model_in_path


async def upstream_sender(
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
        Refusal: 400 or 415, when its way depends on a body that cannot be read; 401, when its key is another company's;
            403, when the caller's organisation does not let it go there.
    """
    upstream = edge.settings.upstream
    models = models_in_url(path)
    if not model_in_path(path):
        read = view.conversation.model if view is not None else ""
        if read:
            models = (models | {read}) - {""}
        elif depends_on_model(upstream, path, headers):
            in_body = await asyncio.to_thread(named_models, upstream, path, headers, raw_body)
            models = (models | in_body) - {""} or models
    route = same_for_all(models, lambda model: route_of(upstream, dialect.name, model))
    model = min(models)
    if route is not None and route.bridge and dialect.name not in FIELDS:
        raise Refusal(501, "this model is reached by a bridge, and requests in this format are not bridged", "model")
    if view is not None and route is not None and route.bridge:
        check_bridge(policy, route, model)
        check_bridged(route, headers)
        return lambda body: edge.bridge.send(dialect, route, headers, view.body if body is raw_body else body)
    if route is not None and route.bridge:
        raise Refusal(415, "this model is reached by a bridge, and the body cannot be read here", "body")
    url = address(checked(policy, base_of(upstream, dialect.name, model, headers, path)), path)
    return lambda body: edge.upstream.send("POST", url, headers, body)


def answer_from_memory(
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
