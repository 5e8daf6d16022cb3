"""The suite is right about proxies: about this one, and about one that is wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp import WSMsgType, web

from proxy.conformance import sessions, socket_client
from proxy.conformance.case import ALL, CASES, Result
from proxy.conformance.run import CaseRun, RunRequest, as_json, as_markdown, run, summary
from tests.bench.bare_relay import make_app as bare_relay
from tests.bench.processes import free_port
from tests.conformance.report import Column, cell, table
from tests.proxy.cli.running import run as command
from tests.running import running

SMALL = 128 * 1024


@asynccontextmanager
async def spoiling(upstream: str) -> AsyncIterator[str]:
    """A proxy that reads and writes everything anew, tries again by itself and waits for the end of every stream."""

    async def relay(request: web.Request) -> web.Response:
        body = json.dumps(json.loads(await request.read() or b"{}")).encode()
        async with aiohttp.ClientSession() as client:
            for _ in range(2):
                async with client.post(upstream + request.path, data=body) as reply:
                    told = await reply.read()
                    if reply.status < 429:
                        break
            return web.Response(body=told, status=reply.status, content_type=reply.content_type)

    async with served(_every_path(relay)) as url:
        yield url


@asynccontextmanager
async def forgetful(upstream: str) -> AsyncIterator[str]:
    """A proxy with a memory that adds to the newest message alone, so that what it added is gone with the next request,
    and that shortens what is long."""
    known: list[str] = []

    async def relay(request: web.Request) -> web.Response:
        body = await request.json()
        newest = body["messages"][-1]
        if newest["content"].startswith("Please remember"):
            known.append(newest["content"])
        else:
            newest["content"] += " ".join(known)
        for message in body["messages"][:-1]:
            message["content"] = message["content"][:80]
        async with aiohttp.ClientSession() as client, client.post(upstream + request.path, json=body) as reply:
            return web.Response(body=await reply.read(), content_type=reply.content_type)

    async with served(_every_path(relay)) as url:
        yield url


@asynccontextmanager
async def careless(upstream: str) -> AsyncIterator[str]:
    """A proxy that takes every WebSocket, carries what it understands in its own spelling, counts the frames in their
    first text, answers no pings, and has one word for every end: its client's is none to the provider."""

    async def relay(request: web.Request) -> web.WebSocketResponse:
        here = web.WebSocketResponse(max_msg_size=64 * 1024, autoping=False)
        await here.prepare(request)
        there = await clients.ws_connect(upstream.replace("http", "ws") + request.path, autoping=False)
        back = asyncio.create_task(_backwards(there, here))
        for_ever.add(back)
        number = 0
        async for message in here:
            if message.type is WSMsgType.TEXT and message.data.startswith('{"type": "response.create"'):
                number += 1
                asked = json.loads(message.data)
                asked.pop("previous_response_id", None)
                asked["input"][0]["content"][0]["text"] += f" ({number})"
                await there.send_str(json.dumps(asked))
        return here

    for_ever = set[asyncio.Task[None]]()
    async with aiohttp.ClientSession() as clients:
        async with served(_every_path(relay)) as url:
            yield url
        for each in for_ever:
            each.cancel()
        await asyncio.gather(*for_ever, return_exceptions=True)


async def _backwards(there: aiohttp.ClientWebSocketResponse, here: web.WebSocketResponse) -> None:
    async with there:
        async for message in there:
            if message.type is WSMsgType.TEXT and not here.closed:
                await here.send_str(message.data)
        await here.close(code=1000)


def _every_path(relay: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", relay)
    return app


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    """The address of an application that runs."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is known to have no memory is not waited for."""
    monkeypatch.setattr(sessions, "PAUSES_SECONDS", (0.0,))


async def told(asked: RunRequest) -> list[CaseRun]:
    return [each async for each in run(asked)]


def failed(ran: list[CaseRun]) -> list[str]:
    return [f"{each.case.id} {each.format}: {each.said}" for each in ran if each.result is Result.FAILED]


@pytest.mark.parametrize("format", ALL)
async def test_this_proxy_does_all_that_a_transparent_one_must(tmp_path: Path, format: str) -> None:
    port = free_port()
    async with running(f"http://127.0.0.1:{port}", tmp_path / "home") as proxy:
        project = {"x-palimpsest-project": "conformance"}
        ran = await told(RunRequest(proxy.url, port, memory_headers=project, formats=(format,), large=SMALL))
    assert failed(ran) == []
    assert {each.case.id for each in ran} == {each.id for each in CASES.values() if format in each.formats}
    said = {each.case.id: each.said for each in ran}
    assert said["prefix.grows"] == "what was taught was added to 6 of 6 requests", "it held because nothing was added"
    assert said["prefix.compacted"] == "what was taught was added to 3 of 3 requests"
    assert said.get("websocket.prefix", said["prefix.grows"]) == said["prefix.grows"]


async def test_who_has_no_memory_passes_with_nothing_added(no_patience: None) -> None:
    port = free_port()
    async with served(bare_relay(f"http://127.0.0.1:{port}")) as url:
        ran = await told(RunRequest(url, port, formats=("chat",), cases=("prefix.grows", "prefix.compacted")))
    assert [(each.result, each.said) for each in ran] == [(Result.PASSED, "nothing added")] * 2


async def test_a_memory_that_forgets_what_it_added_or_reworks_a_summary_is_found_out() -> None:
    port = free_port()
    async with forgetful(f"http://127.0.0.1:{port}") as url:
        ran = await told(RunRequest(url, port, formats=("chat",), cases=("prefix.grows", "prefix.compacted")))
    said = {each.case.id: each.said for each in ran if each.result is Result.FAILED}
    assert "shares" in said["prefix.grows"] and "the summary stands in 0 of the texts" in said["prefix.compacted"]


async def test_one_that_is_wrong_is_found_out() -> None:
    port = free_port()
    async with spoiling(f"http://127.0.0.1:{port}") as url:
        wanted = ("body.untouched", "body.numbers", "headers.kept", "retry.none", "query.kept", "body.parallel-tools")
        ran = await told(RunRequest(url, port, formats=("chat",), cases=wanted, large=SMALL))
    wrong = {each.case.id for each in ran if each.result is Result.FAILED}
    assert wrong == {"body.untouched", "body.numbers", "headers.kept", "retry.none", "query.kept"}
    assert all(each.said for each in ran if each.result is Result.FAILED)
    table = as_markdown(ran)
    assert "| `body.numbers` | **no** |" in table and "| `body.parallel-tools` | yes |" in table
    assert summary(ran) == "1 passed, 5 failed, 0 skipped"
    assert as_json(ran)["failed"] == 5 and all(
        each["source"].startswith("https://") for each in as_json(ran)["results"]
    )


def _results(ran: list[CaseRun], result: Result) -> set[str]:
    return {each.case.id for each in ran if each.result is result}


SOCKETS = {id for id in CASES if id.startswith("websocket.")}


async def test_who_takes_no_websocket_says_so_at_once_or_fails(tmp_path: Path) -> None:
    port = free_port()
    asked = RunRequest("", port, formats=("responses",), cases=("websocket",), large=SMALL)
    async with served(bare_relay(f"http://127.0.0.1:{port}")) as url:
        assert _results(await told(replace(asked, base_url=url)), Result.FAILED) == SOCKETS
    async with running(f"http://127.0.0.1:{port}", tmp_path / "home", upstream__websocket=False) as proxy:
        assert _results(await told(replace(asked, base_url=proxy.url)), Result.SKIPPED) == SOCKETS


async def test_one_that_carries_sockets_carelessly_is_found_out(
    monkeypatch: pytest.MonkeyPatch, no_patience: None
) -> None:
    monkeypatch.setattr(socket_client, "SECONDS", 1.0)
    port = free_port()
    cases = tuple(SOCKETS - {"websocket.prefix"})
    async with careless(f"http://127.0.0.1:{port}") as url:
        asked = RunRequest(url, port, formats=("responses",), cases=cases, large=SMALL)
        assert _results(await told(asked), Result.FAILED) == set(cases)


def test_the_report_says_in_which_formats_a_case_fails_and_what_was_remarked() -> None:
    grows = CASES["prefix.grows"]
    ran = [
        CaseRun(grows, "chat", Result.PASSED, "nothing added"),
        CaseRun(grows, "messages", Result.PASSED, "nothing added"),
    ]
    assert cell(ran) == "yes (nothing added)" and cell(ran[:0]) == ""
    ran.append(CaseRun(grows, "gemini", Result.FAILED, "request 2 shares 3 bytes"))
    assert cell(ran) == "**no**: gemini (nothing added)" and cell(ran[2:]) == "**no**"
    column = Column("a proxy", ran)
    assert Column.of(column.as_json()) == column
    line = next(line for line in table({"it": ran}).splitlines() if "prefix.grows" in line)
    assert line.endswith("| **no**: gemini (nothing added) |")


def test_every_case_tells_its_reason_and_its_source() -> None:
    assert len(CASES) >= 35
    for each in CASES.values():
        assert each.why and each.says and each.source.startswith("https://") and set(each.formats) <= set(ALL), each.id


def test_the_command_lists_the_cases_and_says_what_it_needs() -> None:
    listed = command("conformance", "--list")
    assert listed.code == 0 and all(id in listed.out for id in CASES)
    assert "--base-url" in command("conformance").err
    asked = ("conformance", "--base-url", "http://127.0.0.1:1", "--upstream-port", str(free_port()))
    assert "no format 'soap'" in command(*asked, "--format", "soap").err
    refused = command(*asked, "--case", "query.kept", "--format", "chat", "--json")
    assert refused.code == 1 and refused.json["failed"] == 1
