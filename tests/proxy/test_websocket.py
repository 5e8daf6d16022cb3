"""Responses over a WebSocket: memory stands in the frames, everything else is as it came, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import WSCloseCode, WSMsgType, web
from prometheus_client import REGISTRY

from tests.running import Running, running

LESSON = "The staging gateway listens on port 7443 behind the reverse proxy."
QUESTION = "On which port does the staging gateway listen?"


class Provider:
    """A provider that speaks Responses over a WebSocket, and over HTTP."""

    def __init__(self) -> None:
        self.frames: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.status = 101
        self.id = "r1"
        self.end = "response.completed"
        self.reads = 10
        self.waits = False
        self.closed = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer every frame with a short response; one that ``waits`` with the next."""
        self.headers.append(dict(request.headers))
        if request.method == "POST":
            self.frames.append((await request.read()).decode())
            return web.json_response(self.events()[-1]["response"])
        if self.status != 101:
            return web.Response(status=self.status, headers={"retry-after": "7"})
        socket = web.WebSocketResponse()
        socket.headers["x-codex-turn-state"] = "t-1"
        await socket.prepare(request)
        owed = 0
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.frames.append(message.data)
                owed += 1
                if self.waits:
                    self.waits = False
                    continue
                for event in self.events() * owed:
                    await socket.send_str(json.dumps(event))
                owed = 0
        self.closed.set()
        return socket

    def events(self) -> list[dict[str, Any]]:
        """The events of one response."""
        item = {
            "type": "message",
            "id": "i1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is port 7443, as was said.", "annotations": []}],
        }
        whole = {"id": self.id, "object": "response", "status": "completed", "output": [item]}
        return [
            {"type": "response.created", "response": {"id": self.id}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": self.end, "response": {**whole, "usage": {"input_tokens": self.reads, "output_tokens": 2}}},
        ]


@asynccontextmanager
async def standing(tmp_path: Path, **options: Any) -> AsyncIterator[tuple[Running, Provider]]:
    """The proxy before such a provider."""
    provider = Provider()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with running(provider.url, tmp_path / "home", **options) as proxy:
            yield proxy, provider
    finally:
        await runner.cleanup()


def person(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def asking(*texts: str, **more: Any) -> str:
    return json.dumps({"type": "response.create", "model": "m", "input": [*map(person, texts)], "x_odd": 1.50, **more})


@asynccontextmanager
async def opened(proxy: Running, session: str, **more: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    headers = {"x-session-id": session, "x-palimpsest-project": "gate", "Authorization": "Bearer sk-x", **more}
    async with proxy.client.ws_connect(proxy.url + "/v1/responses", headers=headers) as socket:
        yield socket


async def answered(socket: aiohttp.ClientWebSocketResponse, frame: str) -> list[dict[str, Any]]:
    """Send a frame; the events up to the one that ends the response."""
    await socket.send_str(frame)
    return await response(socket)


async def response(socket: aiohttp.ClientWebSocketResponse) -> list[dict[str, Any]]:
    """The events up to the one that ends a response."""
    events: list[dict[str, Any]] = []
    while not events or not events[-1]["type"].startswith(("response.comp", "response.fail", "response.inc", "error")):
        events.append(json.loads(await socket.receive_str(timeout=30)))
    return events


async def test_what_is_said_over_a_socket_is_learnt_and_recalled_over_another(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        async with opened(proxy, "one") as socket:
            assert await answered(socket, asking(LESSON)) == provider.events()
        assert provider.frames == [asking(LESSON)]
        assert "x-palimpsest-project" not in {name.lower() for name in provider.headers[0]}
        assert provider.headers[0]["Authorization"] == "Bearer sk-x"
        await proxy.learned()
        async with opened(proxy, "two") as socket:
            await answered(socket, asking(QUESTION))
            sent = json.loads(provider.frames[-1])
            first, added = sent["input"][0]["content"]
            assert first["text"] == QUESTION and "port 7443" in added["text"]
            assert {**sent, "input": []} == {**json.loads(asking(QUESTION)), "input": []}
            assert '"x_odd": 1.5' in provider.frames[-1]
            await answered(socket, asking("And who said so?", previous_response_id="r1"))
            assert "7443" not in provider.frames[-1]


async def test_the_journal_has_the_exchange_before_the_client_sees_its_end(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, _), opened(proxy, "one") as socket:
        assert proxy.edge.memory is not None
        await answered(socket, asking(LESSON))
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1


async def test_a_response_that_breaks_off_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        provider.end = "response.output_text.delta"
        async with opened(proxy, "one") as socket:
            await socket.send_str(asking(LESSON))
            for _ in provider.events():
                await socket.receive_str(timeout=30)
        assert proxy.edge.memory is not None
        await asyncio.wait_for(provider.closed.wait(), 30)
        await proxy.learned()
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1


async def test_what_is_not_for_memory_goes_there_as_it_came(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        frames = [
            asking(LESSON, generate=False),
            '{"type":"response.processed"}',
            "no JSON",
            '{"type":"response.create"}',
        ]
        async with opened(proxy, "one", **{"x-palimpsest-memory": "off"}) as socket:
            for frame in frames:
                await answered(socket, frame)
        assert provider.frames == frames
        assert proxy.edge.memory is not None and (await proxy.edge.memory.journal.counts()).exchanges == 0


async def test_the_providers_own_refusal_comes_back_and_its_headers_too(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        headers["Sec-WebSocket-Version"] = "13"
        for status, seen in ((429, 429), (401, 401), (404, 426)):
            provider.status = status
            async with proxy.client.get(proxy.url + "/v1/responses", headers=headers) as reply:
                assert reply.status == seen and (seen == 426 or reply.headers["retry-after"] == "7")
        provider.status = 101
        async with proxy.client.get(proxy.url + "/v1/responses", headers=headers) as reply:
            assert reply.status == 101 and reply.headers["x-codex-turn-state"] == "t-1"


async def test_every_response_that_a_socket_asks_for_counts_against_the_limits(tmp_path: Path) -> None:
    async with standing(tmp_path, server__limits__requests_per_minute=3) as (proxy, provider):
        async with opened(proxy, "one") as socket:
            for _ in range(2):
                assert (await answered(socket, asking(LESSON)))[-1]["type"] == "response.completed"
            [told] = await answered(socket, asking(LESSON))
            assert (told["type"], told["status"], told["error"]["type"]) == ("error", 429, "rate_limit_error")
            assert 1 <= int(told["headers"]["retry-after"]) <= 20
            await socket.send_str('{"type":"response.processed"}')
            assert json.loads(await socket.receive_str(timeout=30)) == provider.events()[0]
        assert provider.frames == [asking(LESSON), asking(LESSON), '{"type":"response.processed"}']


async def test_every_response_that_a_socket_asks_for_counts_against_a_days_quota(tmp_path: Path) -> None:
    quota = {"memory.quotas": {"*": {"requests_a_day_per_user": 2}}}
    async with standing(tmp_path, **quota) as (proxy, provider), opened(proxy, "one") as socket:
        for _ in range(2):
            assert (await answered(socket, asking(LESSON)))[-1]["type"] == "response.completed"
        [told] = await answered(socket, asking(LESSON))
        assert (told["status"], told["error"]["type"]) == (429, "rate_limit_error")
        assert told["headers"]["x-ratelimit-remaining-requests"] == "0"
        assert len(provider.frames) == 2


async def test_a_socket_on_which_too_much_is_sent_is_closed(tmp_path: Path) -> None:
    async with (
        standing(tmp_path, server__limits__mib_per_minute=1) as (proxy, provider),
        opened(proxy, "one") as socket,
    ):
        await socket.send_bytes(b"x" * 2**20)
        await socket.send_bytes(b"x" * 2**19)
        message = await socket.receive(timeout=30)
        assert (message.type, message.data) == (WSMsgType.CLOSE, 1013)
        assert provider.frames == []


async def test_where_the_way_depends_on_the_model_there_is_no_socket(tmp_path: Path) -> None:
    routes = [{"model": "claude-*", "dialect": "openai-responses", "url": "http://127.0.0.1:1"}]
    async with standing(tmp_path, upstream__routes=routes) as (proxy, provider):
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        async with proxy.client.get(proxy.url + "/v1/responses", headers=headers) as reply:
            assert reply.status == 426
        assert provider.headers == []


async def test_a_request_to_compact_carries_what_stood_in_the_session_and_gets_nothing_new(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        await proxy.chat(LESSON, project="gate")
        await proxy.learned()
        headers = {"x_session_id": "two", "x_palimpsest_project": "gate"}
        body = {"model": "m", "input": [person(QUESTION)]}
        await proxy.post("/v1/responses", body, **headers)
        first = json.loads(provider.frames[-1])["input"][0]
        assert "7443" in first["content"][1]["text"]
        more = [provider.events()[1]["item"], person("The gateway of production listens on port 9443.")]
        await proxy.post("/v1/responses/compact", {"model": "m", "input": [person(QUESTION), *more]}, **headers)
        assert json.loads(provider.frames[-1])["input"] == [first, *more]
        await proxy.learned()
        assert proxy.edge.memory is not None
        assert await proxy.edge.memory.journal.find_facts(["up:/local/gate"], "9443") == []


async def test_a_server_that_ends_lets_a_socket_answer_and_then_closes_it(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, _), opened(proxy, "one") as socket:
        await answered(socket, asking(LESSON))
        proxy.edge.draining.begun.set()
        end = await socket.receive(timeout=30)
        assert end.type is WSMsgType.CLOSE and end.data == WSCloseCode.GOING_AWAY


THREAD = "01a21fcf-a098-7192-b92d-25f8a59d7901"
TURN_METADATA = "x-codex-turn-metadata"
BASE = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You are Codex."}]}
PLACE = person("<environment_context>\n  <cwd>/srv/gate</cwd>\n</environment_context>")


def of_codex(kind: str, *items: dict[str, Any], **more: Any) -> str:
    """A frame of Codex's, which says of itself what it is for."""
    told = {"thread_id": THREAD, "request_kind": kind}
    metadata = {"thread_id": THREAD, TURN_METADATA: json.dumps(told)}
    tools = [{"type": "function", "name": "exec_command"}]
    fields = {"type": "response.create", "model": "m", "input": items, "tools": tools, "store": False}
    return json.dumps({**fields, "client_metadata": metadata, **more})


def codex(thread: str = THREAD) -> dict[str, str]:
    """The headers with which Codex opens a socket: they tell of the first frame, which only warms it up."""
    told = json.dumps({"thread_id": thread, "request_kind": "prewarm"})
    return {"originator": "codex_exec", "thread-id": thread, TURN_METADATA: told}


def result(call: str, output: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": output}


async def counted(proxy: Running) -> tuple[int, int]:
    """The sessions and the exchanges in the journal."""
    await proxy.learned()
    assert proxy.edge.memory is not None
    counts = await proxy.edge.memory.journal.counts()
    return counts.sessions, counts.exchanges


def added(frame: str) -> list[str]:
    """What stands in the user's texts and in the results of a frame beside what the client said."""
    texts = [part["text"] for each in json.loads(frame)["input"] for part in each.get("content", ())]
    texts += [each["output"] for each in json.loads(frame)["input"] if "output" in each]
    return [text for text in texts if "<memory-page>" in text or "<recalled-memory>" in text]


async def test_codex_has_a_memory_though_its_socket_was_opened_to_warm_up(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        await proxy.chat(LESSON, project="gate")
        assert await counted(proxy) == (1, 1)
        call = {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"}
        async with opened(proxy, "", **codex()) as socket:
            warm = of_codex("prewarm", BASE, generate=False)
            await answered(socket, warm)
            assert provider.frames[-1] == warm
            await answered(socket, of_codex("turn", PLACE, person(QUESTION), previous_response_id="r0"))
            asked = provider.frames[-1]
            assert len(added(asked)) == 1 and "port 7443" in added(asked)[0]
            step = of_codex("turn", result("c1", "hello"), previous_response_id="r1")
            await answered(socket, step)
            assert provider.frames[-1] == step
            assert await counted(proxy) == (2, 3)
        spoken = json.loads(asked)["input"]
        async with opened(proxy, "", **codex()) as socket:
            await answered(socket, warm)
            history = [PLACE, person(QUESTION), call, result("c1", "hello"), provider.events()[1]["item"]]
            await answered(socket, of_codex("turn", *history, person("Thanks."), previous_response_id="r5"))
            sent = json.loads(provider.frames[-1])["input"]
            assert sent[:2] == spoken and sent[2:] == [*history[2:], person("Thanks.")]
            assert await counted(proxy) == (2, 4)


async def test_what_a_sockets_server_has_is_neither_given_again_nor_taken_for_what_is_new(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        await proxy.chat(f"Please remember: {LESSON}", project="gate")
        await proxy.learned()
        reply = provider.events()[1]["item"]
        async with opened(proxy, "", **codex()) as socket:
            await answered(socket, of_codex("turn", PLACE, person(QUESTION)))
            first = json.loads(provider.frames[-1])["input"]
            [page] = added(provider.frames[-1])
            assert "<memory-page>" in page and "port 7443" in page
            provider.id = "r2"
            more = [
                of_codex(
                    "turn", person("Which port is it again that the staging gateway has?"), previous_response_id="r1"
                ),
                of_codex("turn", person(QUESTION), previous_response_id="r2"),
            ]
            for frame in more:
                await answered(socket, frame)
            provider.id = "r3"
            # The provider's answer was lost, and the client tries again.
            await answered(socket, more[-1])
            await answered(socket, of_codex("turn", result("c1", LESSON), previous_response_id="r3"))
            assert provider.frames[-4:-1] == [*more, more[-1]] and added(provider.frames[-1]) == []
        async with opened(proxy, "", **codex()) as socket:
            again = [reply, *json.loads(more[0])["input"], reply, person(QUESTION), reply]
            await answered(socket, of_codex("turn", PLACE, person(QUESTION), *again, person("Thanks.")))
            sent = json.loads(provider.frames[-1])["input"]
            assert sent == [*first, *again, person("Thanks.")]


WINDOW = 40_000
ASKED_FOR = "palimpsest_histories_asked_for_total"


def read_file(number: int, tokens: int = 6_000) -> list[dict[str, Any]]:
    """A call that reads a file, and what it gave."""
    call = {"type": "function_call", "call_id": f"c{number}", "name": "exec_command", "arguments": "{}"}
    lines = (f"office {number} of district {line} takes {line * 7} letters a day" for line in range(tokens // 14))
    return [call, result(f"c{number}", "\n".join(lines))]


def size(frame: str) -> int:
    """About how many tokens the items of a frame have."""
    return len(json.dumps(json.loads(frame)["input"])) // 4


async def test_a_frame_with_the_whole_history_is_shed_and_what_stays_is_one_growing_prefix(tmp_path: Path) -> None:
    async with standing(tmp_path, memory__windows={"*": WINDOW}) as (proxy, provider):
        history, sent = [PLACE, person("Read the offices.")], list[str]()
        async with opened(proxy, "", **codex()) as socket:
            for number in range(16):
                history += read_file(number)
                provider.reads = min(size(of_codex("turn", *history)), WINDOW)
                await answered(socket, of_codex("turn", *history))
                sent.append(provider.frames[-1])
        assert size(of_codex("turn", *history)) > 2 * WINDOW > 2 * max(map(size, sent))
        assert "[shortened: " in sent[-1]
        moved = 0
        for before, now in pairwise(sent):
            items, later = (json.loads(frame)["input"] for frame in (before, now))
            moved += later[: len(items)] != items
        assert 1 <= moved <= 5, "every move is read anew"


async def test_codex_is_asked_for_a_history_that_its_server_holds_once_it_has_outgrown_the_window(
    tmp_path: Path,
) -> None:
    async with standing(tmp_path, memory__windows={"*": WINDOW}) as (proxy, provider):
        history = [PLACE, person("Read the offices.")]
        async with opened(proxy, "", **codex()) as socket:
            provider.reads = size(of_codex("turn", *history))
            await answered(socket, of_codex("turn", *history))
            asked = 0
            for number in range(16):
                new = read_file(number)
                history += new
                came = len(provider.frames)
                provider.reads += size(of_codex("turn", *new))
                frame = of_codex("turn", *new[1:], previous_response_id="r1")
                [*_, told] = await answered(socket, frame)
                if told["type"] == "error":
                    assert (told["status"], told["error"]["code"]) == (400, "previous_response_not_found")
                    assert len(provider.frames) == came, "the provider was asked all the same"
                    asked += 1
                    [*_, told] = await answered(socket, of_codex("turn", *history))
                    provider.reads = size(provider.frames[-1])
                    assert "[shortened: " in provider.frames[-1] and provider.reads < WINDOW
                assert told["type"] == "response.completed"
            assert 2 <= asked <= 5
            provider.reads = WINDOW * 2
            await answered(socket, of_codex("turn", person("And now?"), previous_response_id="r1"))
            frame = of_codex("turn", person("And then?"), previous_response_id="r1")
            assert (await answered(socket, frame))[-1]["type"] == "error"
            assert (await answered(socket, frame))[-1]["type"] == "response.completed", "who has not got it goes on"


async def test_codex_is_asked_later_where_it_could_not_be_told_since_another_response_was_pending(
    tmp_path: Path,
) -> None:
    async with standing(tmp_path, memory__windows={"*": WINDOW}) as (proxy, provider):
        provider.reads = WINDOW * 2
        async with opened(proxy, "", **codex()) as socket:
            await answered(socket, of_codex("turn", PLACE, person("Read the offices.")))
            provider.waits = True
            await socket.send_str(of_codex("prewarm", BASE, generate=False))
            frame = of_codex("turn", person("And then?"), previous_response_id="r1")
            assert (await answered(socket, frame))[-1]["type"] == "response.completed"
            assert (await response(socket))[-1]["type"] == "response.completed"
            assert (await answered(socket, frame))[-1]["type"] == "error"


async def test_a_frame_that_is_answered_by_asking_for_the_history_counts_as_no_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "proxy.websocket")
    asked = REGISTRY.get_sample_value(ASKED_FOR)
    assert asked is not None
    options: dict[str, Any] = {
        "memory__windows": {"*": WINDOW},
        "server__limits__requests_per_minute": 3,
        "memory.quotas": {"*": {"requests_a_day_per_user": 2}},
    }
    async with standing(tmp_path, **options) as (proxy, provider), opened(proxy, "", **codex()) as socket:
        provider.reads = WINDOW * 2
        await answered(socket, of_codex("turn", PLACE, person("Read the offices.")))
        frame = of_codex("turn", person("And then?"), previous_response_id="r1")
        assert (await answered(socket, frame))[-1]["error"]["code"] == "previous_response_not_found"
        assert "is asked for all of it" in caplog.text and REGISTRY.get_sample_value(ASKED_FOR) == asked + 1
        assert (await answered(socket, frame))[-1]["type"] == "response.completed"
        assert (await answered(socket, frame))[-1]["status"] == 429
        assert len(provider.frames) == 2


async def test_who_is_not_known_to_send_its_history_again_is_not_asked_for_it(tmp_path: Path) -> None:
    async with standing(tmp_path, memory__windows={"*": WINDOW}) as (proxy, provider), opened(proxy, "one") as socket:
        provider.reads = WINDOW * 2
        await answered(socket, asking(LESSON))
        frame = asking("And then?", previous_response_id="r1")
        assert (await answered(socket, frame))[-1]["type"] == "response.completed"
        assert json.loads(provider.frames[-1])["previous_response_id"] == "r1"
