"""Sessions in which the model asks memory: a provider that says what it is told, round after round, and a client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from memory.conversation import Reply
from proxy.wire import dialect_of
from proxy.wire.slices import cut
from tests.fake_provider import FakeProvider
from tests.proxy.wire.rounds.scripts import GEMINI, PATHS, Call, Round, Say, Think, document, said, stream
from tests.running import Running

TOOLS = {
    PATHS[0]: [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}],
    PATHS[1]: [{"type": "function", "name": "bash", "parameters": {"type": "object"}}],
    PATHS[2]: [{"name": "bash", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
    GEMINI: [{"functionDeclarations": [{"name": "bash", "parametersJsonSchema": {"type": "object"}}]}],
}
ASK = Call("m1", "memory_search", '{"query": "database decision"}')
LOOK = Round((Think("Hm.", "Sig=="), Say("Let me look. "), ASK), (50, 5), "r1")
TOLD = Round((Think("So.", "Sig2="), Say("You chose PostgreSQL 16.")), (80, 9), "r2")


def script(provider: FakeProvider, path: str, *rounds: Round | int) -> None:
    """What the provider says next, one round for each request; a number is a status to fail with."""
    left = list(rounds)

    async def answer(request: web.Request) -> web.StreamResponse:
        of = left.pop(0)
        if isinstance(of, int):
            return web.json_response({"error": {"message": "no"}}, status=of)
        if not orjson.loads(provider.last.body).get("stream"):
            return web.Response(body=document(path, of), content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(stream(path, of))
        await response.write_eof()
        return response

    provider.answer = answer


@dataclass
class Client:
    """A client that keeps its history as it sees it. ``more`` are further fields of its requests."""

    proxy: Running
    path: str
    streamed: bool = True
    session: str = "s1"
    messages: list[dict[str, Any]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, *said_now: dict[str, Any]) -> Reply:
        """Send what is said now behind the history; the reply, which is checked to be complete and valid."""
        self.messages += said_now
        status, data, _ = await self.send()
        assert status == 200, data
        dialect = dialect_of(self.path)
        assert dialect is not None
        listener = dialect.listen(self.streamed)
        listener.feed(data)
        listener.finish()
        reply = listener.reply()
        assert reply.complete, data
        return reply

    async def send(self, **fields: Any) -> tuple[int, bytes, Any]:
        """Send the request; status, body, headers."""
        body = {"model": "m", "stream": self.streamed, **self.body, **self.more, **fields}
        headers = {"x_palimpsest_project": "loom", "x_session_id": self.session, **self.headers}
        return await self.proxy.post(self.where, body, **headers)

    @property
    def where(self) -> str:
        """The path of its requests, which says how a reply comes in some formats."""
        if self.path != GEMINI:
            return self.path
        return f"{GEMINI}?alt=sse" if self.streamed else GEMINI.replace("streamG", "g")

    @property
    def body(self) -> dict[str, Any]:
        if self.path == PATHS[1]:
            return {"input": self.messages, "tools": TOOLS[self.path], "store": False}
        if self.path == GEMINI:
            return {"contents": self.messages, "tools": TOOLS[self.path]}
        more = {"max_tokens": 100} if self.path == PATHS[2] else {}
        return {"messages": self.messages, "tools": TOOLS[self.path], **more}

    def heard(self, *visible: Round) -> None:
        """Put the reply into the history, as this client keeps it."""
        self.messages += said(self.path, Round(tuple(part for each in visible for part in each.parts)))


def person(path: str, text: str) -> dict[str, Any]:
    """A person's message."""
    if path == PATHS[1]:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"role": "user", "parts": [{"text": text}]} if path == GEMINI else {"role": "user", "content": text}


def done(path: str, *calls: str) -> list[dict[str, Any]]:
    """The client's answers to its own calls."""
    if path == PATHS[2]:
        results = [{"type": "tool_result", "tool_use_id": call, "content": "3 files"} for call in calls]
        return [{"role": "user", "content": results}]
    if path == GEMINI:
        answers = [{"id": call, "name": "bash", "response": {"output": "3 files"}} for call in calls]
        return [{"role": "user", "parts": [{"functionResponse": answer} for answer in answers]}]
    if path == PATHS[1]:
        return [{"type": "function_call_output", "call_id": call, "output": "3 files"} for call in calls]
    return [{"role": "tool", "tool_call_id": call, "content": "3 files"} for call in calls]


def without(of: Round, *names: str) -> Round:
    """A round without some calls."""
    return Round(tuple(part for part in of.parts if not (isinstance(part, Call) and part.name in names)))


def history(path: str, body: bytes) -> bytes:
    """The list of messages in a body, without its closing bracket."""
    _, fields = cut(body)
    return bytes(fields[{PATHS[1]: "input", GEMINI: "contents"}.get(path, "messages")])[:-1]
