"""What is no talk with a model: lists, counts, files, sockets."""

from __future__ import annotations

import asyncio
import json
import time

import aiohttp

from proxy.conformance.bench import Bench
from proxy.conformance.case import CaseFailed, Skipped, case, must
from proxy.conformance.upstream import ScriptedAnswer

_BESIDE = {
    "chat": ("POST", "/v1/embeddings"),
    "responses": ("POST", "/v1/responses/compact"),
    "messages": ("POST", "/v1/messages/count_tokens?beta=true"),
    "gemini": ("POST", "/v1beta/models/{model}:countTokens"),
    "ollama": ("POST", "/api/show"),
}
_LISTS = {
    "chat": "/v1/models",
    "responses": "/v1/responses/resp_1?include[]=x",
    "messages": "/v1/models?limit=5",
    "gemini": "/v1beta/models?pageSize=5",
    "ollama": "/api/tags",
}


@case(
    "path.beside",
    "requests that only count, embed or compact arrive and come back byte for byte",
    why="clients ask them beside every turn",
    source="https://platform.openai.com/docs/api-reference",
)
async def beside(on: Bench) -> None:
    method, path = _BESIDE[on.format.name]
    body, expected = on.json(x_odd=1.50), b'{ "n" : 1e0 }\n'
    on.upstream.answers(ScriptedAnswer([expected]))
    got = await on.post(body, path=path.format(model=on.model), method=method)
    must(got.status == 200 and got.body == expected, f"the client got {got.status}: {got.body[:200]!r}")
    must(on.only().body == body, "another body arrived")


@case(
    "path.lists",
    "lists and single objects are asked for where the client asked",
    why="clients choose their models, and poll their replies, by them",
    source="https://platform.openai.com/docs/api-reference",
)
async def lists(on: Bench) -> None:
    listing = b'{ "object":"list", "data":[] }\n'
    on.upstream.answers(ScriptedAnswer([listing]))
    got = await on.post(b"", path=_LISTS[on.format.name], method="GET")
    must(got.status == 200 and got.body == listing, f"the client got {got.status}: {got.body[:200]!r}")
    must(on.only().path.endswith(_LISTS[on.format.name]), f"it was asked for {on.only().path}")


@case(
    "websocket.responses",
    "a WebSocket is relayed frame by frame, or refused with 426 at once",
    why="Codex and others try one first; after any other refusal they try again for half a minute",
    source="https://platform.openai.com/docs/guides/websocket-mode",
    formats=("responses",),
)
async def websocket(on: Bench) -> str:
    events = [each.split(b"data: ", 1)[1].strip() for each in on.format.events("One two three.")]
    on.upstream.answers(ScriptedAnswer(events))
    url = on.base.replace("http", "ws", 1) + on.format.path(on.model, False)
    sent = json.dumps({"type": "response.create", **on.format.body(on.model, on.unique_text)})
    start = time.monotonic()
    try:
        async with asyncio.timeout(20), on.client.ws_connect(url, headers={**on.format.headers, **on.more}) as socket:
            await socket.send_str(sent)
            got = [await socket.receive_str(timeout=10) for _ in events]
    except aiohttp.WSServerHandshakeError as error:
        if error.status == 426 and time.monotonic() - start < 2:
            raise Skipped("it says at once that it takes none (426), and clients go on over HTTP") from None
        raise CaseFailed(f"it was refused with {error.status} after {time.monotonic() - start:.1f} s") from None
    except (TimeoutError, aiohttp.ClientError, TypeError) as error:
        raise CaseFailed(f"it broke off: {error!r}") from None
    must(on.only().body == sent.encode(), "another frame arrived")
    must([each.encode() for each in got] == events, "other frames came back")
    return "relayed"
