"""What is no talk with a model: lists, counts, files."""

from __future__ import annotations

from proxy.conformance.bench import Bench
from proxy.conformance.case import case, must
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
