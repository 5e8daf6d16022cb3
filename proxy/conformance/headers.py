"""Headers and queries: the client's and the provider's own go through, those of a connection stay at it."""

from __future__ import annotations

import json

from proxy.conformance.bench import Bench, all_there
from proxy.conformance.case import case, must
from proxy.conformance.upstream import ScriptedAnswer

HTTP = "https://www.rfc-editor.org/rfc/rfc9110"


@case(
    "headers.kept",
    "the client's own headers arrive: credentials, versions, betas, its name",
    why="a beta without its header is another API; a provider counts and bills by others",
    source=HTTP + "#section-7.6",
)
async def kept(on: Bench) -> None:
    sent = {
        "User-Agent": "conformance/1",
        "x-stainless-lang": "python",
        "openai-organization": "org-1",
        "anthropic-beta": "context-management-2025-06-27,interleaved-thinking-2025-05-14",
        "x-session-id": "s-1",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        **on.format.headers,
    }
    came = await on.arrives(on.json(), sent)
    all_there(sent, came.header)


@case(
    "headers.hop-by-hop",
    "headers of the client's connection do not go on",
    why="they say how this connection is used, and a proxy's own password is for the proxy",
    source=HTTP + "#section-7.6.1",
)
async def hop_by_hop(on: Bench) -> None:
    headers = {
        "Connection": "keep-alive, x-hop",
        "x-hop": "1",
        "Keep-Alive": "timeout=5",
        "Proxy-Authorization": "Basic eA==",
    }
    came = await on.arrives(on.json(), headers)
    left = [name for name in ("x-hop", "Keep-Alive", "Proxy-Authorization") if came.header(name) is not None]
    must(not left, f"{', '.join(left)} went on")


@case(
    "headers.reply",
    "the provider's headers come back: request ids, limits, times",
    why="clients wait by them, and support asks for the id",
    source="https://platform.openai.com/docs/api-reference/debugging-requests",
)
async def reply(on: Bench) -> None:
    headers = {
        "x-request-id": "req_1",
        "request-id": "req_2",
        "x-ratelimit-remaining-tokens": "9",
        "openai-processing-ms": "12",
    }
    body = json.dumps(on.format.reply("Very well.")).encode()
    on.upstream.answers(ScriptedAnswer([body], headers={"Content-Type": "application/json", **headers}))
    got = await on.post(on.json())
    all_there(headers, got.headers.get)


@case(
    "query.kept",
    "the query goes on as it was spelt",
    why="?beta=true and ?alt=sse choose what comes back",
    source="https://www.rfc-editor.org/rfc/rfc3986#section-3.4",
)
async def query(on: Bench) -> None:
    path = on.format.path(on.model, False)
    on.whole()
    got = await on.post(on.json(), path=f"{path}?beta=true&x=a%2Fb")
    must(got.status == 200, f"the client got {got.status}")
    came = on.only().path
    must(came.endswith("?beta=true&x=a%2Fb"), f"it became {came}")
