"""Sessions larger than their window, when something goes wrong: nothing is lost, and nothing is sent whole."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from aiohttp import web

from memory.conversation import Conversation, Role, Text, ToolResult, digest
from memory.edits import handle
from memory.services.sessions.live import LiveSession
from memory.services.window.redaction_verdicts import AT_ONCE
from memory.session import Arrival, Prepared
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

SMALL = {"memory.default_window": 6000, "memory.shedding.reserve": 500}
TOO_LONG = orjson.dumps({"error": {"message": "prompt is too long", "code": "context_length_exceeded"}})


def turn(number: int, lines: int = 40) -> list[dict[str, Any]]:
    """A call that reads a file, and what it gave."""
    arguments = orjson.dumps({"path": f"src/module_{number}.py"}).decode()
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": arguments}}
    text = "\n".join(f"def function_{number}_{line}():\n    return {line}" for line in range(lines))
    return [
        {"role": "assistant", "content": f"I look at file {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


async def ask(proxy: Running, messages: list[dict[str, Any]]) -> int:
    body = {"model": "m", "messages": [{"role": "user", "content": "Look at the files."}, *messages]}
    status, _, _ = await proxy.post("/v1/chat/completions", body, x_session_id="s1")
    return status


async def shed_session(proxy: Running, turns: int) -> list[dict[str, Any]]:
    """A session that has been shed; its messages."""
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        messages += turn(number)
        assert await ask(proxy, messages) == 200
        await proxy.learned()
        assert proxy.edge.memory is not None
        await proxy.edge.memory.tier_worker.catch_up()
    return messages


def stubs(body: bytes) -> list[str]:
    """The handles of a request's stubs."""
    return [piece.split("]")[0] for piece in body.decode().split("palimpsest show ")[1:]]


class Held(asyncio.Lock):
    """A lock that another one holds, for longer than so many wait."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def acquire(self) -> Literal[True]:
        self.times -= 1
        if self.times >= 0:
            raise TimeoutError
        return await super().acquire()


def failing(provider: FakeProvider, *answers: tuple[int, bytes]) -> None:
    """Answer the next requests so, and all behind them well."""
    left = list(answers)

    async def answer(request: web.Request) -> web.StreamResponse:
        status, body = left.pop(0)
        if not left:
            provider.answer = None
        return web.Response(status=status, body=body, content_type="application/json")

    provider.answer = answer


async def test_a_result_that_was_shed_unread_can_be_shown_though_its_request_fails(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home", **SMALL) as proxy:
        kept: list[int] = []

        async def answer(request: web.Request) -> web.StreamResponse:
            # What a process that is killed right here leaves behind.
            with closing(sqlite3.connect(tmp_path / "home" / "journal.db")) as journal:
                for name in stubs(provider.last.body):
                    digest = bytes.fromhex(name.partition(".")[0])
                    found = journal.execute("SELECT count(*) FROM messages WHERE substr(digest, 1, 6) = ?", (digest,))
                    kept.extend(found.fetchone())
            return web.Response(status=503, body=b"{}", content_type="application/json")

        provider.answer = answer
        assert await ask(proxy, turn(1, lines=900)) == 503
        names = stubs(provider.last.body)
        assert names and kept == [1] * len(names)
        shown = await asking(proxy)("GET", f"api/content/{names[0]}?tier=L2")
        assert "def function_1_899()" in shown["text"]


async def test_a_late_request_of_a_shed_session_is_sent_again_with_what_its_ledger_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path / "home", **SMALL) as proxy:
            messages = await shed_session(proxy, turns=11)
            before = stubs(provider.last.body)
            assert before
        async with running(provider, tmp_path / "home", **SMALL) as proxy:
            assert proxy.edge.memory is not None

            async def late(conversation: Conversation, arrival: Arrival) -> Prepared:
                raise TimeoutError

            monkeypatch.setattr(proxy.edge.memory.preparation, "prepare", late)
            failing(provider, (400, TOO_LONG))
            assert await ask(proxy, messages) == 200
            whole, shorter = (request.body for request in provider.requests[-2:])
            assert stubs(whole) == []
            assert stubs(shorter) == before
            await proxy.learned()
            assert (await asking(proxy)("GET", "api/log"))["receipts"][0]["status"].endswith("refused as too long")


@pytest.mark.parametrize("late", ["all of it", "the plan", "the lock"])
async def test_a_late_request_of_a_shed_session_fits_however_much_came_with_it(
    late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home", **SMALL) as proxy:
        messages = await shed_session(proxy, turns=11)
        assert stubs(provider.last.body)
        assert proxy.edge.memory is not None
        preparation = proxy.edge.memory.preparation

        async def never(*_: object) -> Any:
            raise TimeoutError

        if late == "all of it":
            monkeypatch.setattr(preparation, "prepare", never)
        elif late == "the plan":
            fitting = preparation._fitting
            assert fitting is not None
            monkeypatch.setattr(fitting._shedding, "_plan_for_ledger", never)
        else:
            held_up(proxy, monkeypatch)
        messages += turn(11, lines=150)
        newest = orjson.dumps(messages[-1]["content"]).decode()
        assert await ask(proxy, messages) == 200
        forwarded = provider.last.body.decode()
        assert "Look at the files." in forwarded
        assert newest in forwarded
        assert len(forwarded) // 4 <= 6000
        assert await ask(proxy, messages) == 200
        assert provider.last.body.decode() == forwarded


@pytest.mark.parametrize("after", ["a start", "the first shed"])
async def test_a_late_plan_knows_what_is_pinned_though_no_plan_was_made_since(
    after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path / "home", **SMALL) as proxy:
            messages = await shed_session(proxy, turns=2)
            assert stubs(provider.last.body) == []
            wanted = messages[-1]["content"]
            name = handle(digest(Role.TOOL, [ToolResult("c1", (Text(wanted),))]), 0)
            await asking(proxy)("PATCH", f"api/content/{name}", {"pinned": True})
            number = 2
            while not stubs(provider.last.body):
                messages += turn(number)
                number += 1
                assert await ask(proxy, messages) == 200
                await proxy.learned()
            if after == "the first shed":
                await one_that_is_late(proxy, messages, number, monkeypatch)
        if after == "a start":
            async with running(provider, tmp_path / "home", **SMALL) as proxy:
                await one_that_is_late(proxy, messages, number, monkeypatch)
        sent = provider.last.body.decode()
        assert f"function_{number}_149()" in sent and len(sent) // 4 <= 6000
        assert all(line in sent for line in wanted.splitlines())


async def test_long_results_that_nobody_looked_at_go_out_whole_once_and_shortened_when_they_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home", **SMALL) as proxy:
        messages = await shed_session(proxy, turns=11)
        assert stubs(provider.last.body)

        async def answer(request: web.Request) -> web.StreamResponse:
            if len(provider.last.body) // 4 > 6000:
                return web.Response(status=400, body=TOO_LONG, content_type="application/json")
            provider.answer, sent = None, provider.requests.pop()
            response = await provider.handle(request)
            provider.requests[-1] = sent
            return response

        for number in (11, 12):
            messages += turn(number, lines=700)
            assert len(messages[-1]["content"]) > AT_ONCE
        provider.requests.clear()
        provider.answer = answer
        held_up(proxy, monkeypatch, times=1)
        assert await ask(proxy, messages) == 200
        whole, shorter = (request.body for request in provider.requests)
        assert b"def function_12_699()" in whole
        assert len(shorter) // 4 <= 6000 < len(whole) // 4
        # What was decided stands, and what gave way can be had.
        provider.answer = answer
        assert await ask(proxy, messages) == 200
        assert [request.body for request in provider.requests[2:]] == [shorter]
        shown = [await asking(proxy)("GET", f"api/content/{name}?tier=L2") for name in stubs(shorter)]
        assert any("def function_12_699()" in each["text"] for each in shown)


async def one_that_is_late(
    proxy: Running, messages: list[dict[str, Any]], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that is too long, and for which no plan can be made."""
    held_up(proxy, monkeypatch)
    assert await ask(proxy, [*messages, *turn(number, lines=150)]) == 200


def held_up(proxy: Running, monkeypatch: pytest.MonkeyPatch, times: int = 1000) -> None:
    """Who waits for the lock of the session has waited too long, so many times."""
    assert proxy.edge.memory is not None
    sessions = proxy.edge.memory.preparation._sessions
    found, lock = sessions.find, Held(times)

    async def find(conversation: Conversation, arrival: Arrival) -> LiveSession:
        live = await found(conversation, arrival)
        live.lock = lock
        return live

    monkeypatch.setattr(sessions, "find", find)


@pytest.mark.parametrize(
    ("second", "stands"),
    [((400, TOO_LONG), True), ((503, b"{}"), True), ((422, b'{"error":{"message":"no"}}'), False)],
    ids=["too long again", "the provider broke down", "malformed"],
)
async def test_what_was_shed_for_a_retry_stands_unless_the_provider_finds_fault_with_it(
    second: tuple[int, bytes], stands: bool, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        messages = await shed_session(proxy, turns=4)
        assert stubs(provider.last.body) == []
        failing(provider, (400, TOO_LONG), second)
        assert await ask(proxy, messages) == 400
        tried = stubs(provider.last.body)
        assert tried
        assert await ask(proxy, messages) == 200
        assert stubs(provider.last.body) == (tried if stands else [])


EVENTS: dict[str, list[dict[str, Any]]] = {
    "/v1/responses": [
        {"type": "response.created", "response": {"id": "r1", "status": "in_progress", "error": None}},
        {"type": "response.in_progress", "response": {"id": "r1", "status": "in_progress", "error": None}},
        {
            "type": "response.failed",
            "response": {
                "id": "r1",
                "status": "failed",
                "instructions": "Mind the rate limit.",
                "error": {
                    "code": "context_length_exceeded",
                    "message": "Your input exceeds the context window of this model.",
                },
            },
        },
    ],
    "/v1/messages": [
        {"type": "ping"},
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}},
    ],
    "/v1/chat/completions": [{"error": {"message": "maximum context length is 6000 tokens", "code": 400}}],
}


def opening(path: str, kind: str) -> list[dict[str, Any]]:
    """A stream's events: a refusal for length, another error, or a refusal that comes when the model has spoken."""
    *leading, error = EVENTS[path]
    if kind == "refused":
        return [*leading, error]
    if kind == "another error":
        return [
            *leading,
            orjson.loads(orjson.dumps(error).replace(b"context", b"conduct").replace(b"too long", b"odd")),
        ]
    spoken = {"type": "response.output_item.added"} if path == "/v1/responses" else {"type": "message_start"}
    return [*leading, {"choices": []} if "chat" in path else spoken, error]


def framed(event: dict[str, Any]) -> bytes:
    """An event as it stands in a stream, with its name where it has a type."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return name.encode() + b"data: " + orjson.dumps(event) + b"\n\n"


def body_of(path: str, messages: int) -> dict[str, Any]:
    said = "The heron nests at the northern pier, says line %d. " * 20
    told = [
        {"role": "assistant" if index % 2 else "user", "content": said % ((index,) * 20)} for index in range(messages)
    ]
    if path == "/v1/responses":
        return {"model": "m", "stream": True, "store": False, "input": [{"type": "message", **each} for each in told]}
    return {"model": "m", "stream": True, "max_tokens": 10, "messages": told}


@pytest.mark.parametrize("path", EVENTS)
@pytest.mark.parametrize("kind", ["refused", "another error", "too late"])
async def test_a_refusal_that_opens_a_stream_is_retried_before_the_client_sees_it(
    path: str, kind: str, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home", **SMALL) as proxy:
        sent = b"".join(map(framed, opening(path, kind)))

        async def answer(request: web.Request) -> web.StreamResponse:
            provider.answer = None
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for cut in range(0, len(sent), 50):
                await response.write(sent[cut : cut + 50])
            await response.write_eof()
            return response

        for length in (3, 9):
            await proxy.post(path, body_of(path, length), x_session_id="s1")
            await proxy.learned()
            assert proxy.edge.memory is not None
            await proxy.edge.memory.tier_worker.catch_up()
        provider.answer = answer
        status, reply, _ = await proxy.post(path, body_of(path, 13), x_session_id="s1")
        assert status == 200
        if kind == "refused":
            assert b"OK." in reply and b"error" not in reply
            whole, shorter = provider.requests[2:]
            assert len(shorter.body) < len(whole.body)
        else:
            assert reply == sent
            assert len(provider.requests) == 3


async def test_the_tools_that_a_session_offers_are_counted_from_its_first_request_on(tmp_path: Path) -> None:
    offer = {"memory.tools.offer": True}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **offer) as proxy:
        tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
        said: list[dict[str, str]] = []
        for text in ("Look at the files.", "And at the others."):
            said.append({"role": "user", "content": text})
            body = {"model": "m", "tools": tools, "messages": said}
            await proxy.post("/v1/chat/completions", body, x_session_id="s1")
            said.append({"role": "assistant", "content": "OK."})
        assert b"memory_search" in provider.last.body
        await proxy.learned()
        second, first = ((await asking(proxy)("GET", "api/log"))["receipts"])[:2]
        assert first["saved"] == second["saved"] < -200
