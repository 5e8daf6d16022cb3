"""The model asks memory in the middle of its reply: through the real proxy, with real stores, in all three formats."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web

from memory.context.tools import NAMES, TOOLS
from memory.conversation import Reasoning, Text, ToolCall
from memory.ports import StoreError
from proxy.wire import dialect_of
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.asking import (
    ASK,
    LOOK,
    TOLD,
    Client,
    done,
    history,
    person,
    script,
    without,
)
from tests.proxy.wire.rounds.scripts import GEMINI, PATHS, Call, Round, Say, Think, document, stream
from tests.running import Running, running

KNOWN = "We decided to use PostgreSQL 16 for the billing service."
ON = {"memory__tools__offer": True, "memory__recall__enabled": False, "memory__page__enabled": False}
BASH = Call("c1", "bash", '{"cmd": "ls"}')


def tools_in(body: bytes) -> list[str]:
    told = orjson.loads(body)["tools"]
    told = [each for tool in told for each in tool.get("functionDeclarations", [tool])]
    return [tool.get("name") or tool["function"]["name"] for tool in told]


def sent(provider: FakeProvider) -> list[bytes]:
    return [request.body for request in provider.requests]


async def known(proxy: Running) -> None:
    """A decision that was taken in an earlier session."""
    await proxy.chat(KNOWN, session="earlier")
    await proxy.learned()


def journal_of(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in home.iterdir() if file.name.startswith("journal"))


def valid(path: str, body: bytes) -> None:
    dialect = dialect_of(path)
    assert dialect is not None
    assert dialect.check(body) == []


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
async def test_the_client_sees_one_reply_and_the_model_what_memory_holds(
    path: str, streamed: bool, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        await known(proxy)
        provider.requests.clear()
        script(provider, path, LOOK, TOLD)
        client = Client(proxy, path, streamed)
        reply = await client.ask(person(path, "Which database did we choose?"))
        assert reply.text.replace("\n", "") == "Let me look. You chose PostgreSQL 16."
        assert not any(isinstance(part, ToolCall) for part in reply.parts)
        assert [part.text for part in reply.parts if isinstance(part, Text)][-1].endswith("16.")
        assert any(isinstance(part, Reasoning) for part in reply.parts)
        assert reply.id == "r1"
        assert reply.usage is not None and reply.usage.output == 9
        first, second = sent(provider)
        assert tools_in(first) == tools_in(second) == ["bash", *(tool.name for tool in TOOLS)]
        assert b"PostgreSQL 16 for the billing service" in second and b"recalled-memory" in second
        assert history(path, second).startswith(history(path, first))
        valid(path, second)


@pytest.mark.parametrize("path", PATHS)
async def test_hidden_rounds_are_made_again_also_after_a_restart(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path, **ON) as proxy:
            await known(proxy)
            script(provider, path, LOOK, TOLD, Round((Say("Yes."),)))
            client = Client(proxy, path)
            await client.ask(person(path, "Which database did we choose?"))
            asked_again = history(path, provider.last.body)
            client.heard(without(LOOK, *NAMES), TOLD)
            await client.ask(person(path, "Are you sure?"))
            made_again = history(path, provider.last.body)
            assert made_again.startswith(asked_again)
            assert made_again.count(b"Let me look.") == 1
            valid(path, provider.last.body)
            client.heard(Round((Say("Yes."),)))
        async with running(provider, tmp_path, **ON | {"memory__tools__offer": False}) as proxy:
            client.proxy = proxy
            script(provider, path, Round((Say("Fine."),)))
            await client.ask(person(path, "Good."))
            assert history(path, provider.last.body).startswith(made_again)
            assert tools_in(provider.last.body)[1:] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
async def test_a_call_beside_the_clients_own_is_answered_beside_its_result(
    path: str, streamed: bool, tmp_path: Path
) -> None:
    both = Round((Think("Hm.", "Sig=="), Say("Let me look."), BASH, ASK), (50, 5), "r1")
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        await known(proxy)
        provider.requests.clear()
        script(provider, path, both, TOLD, Round((Say("Yes."),)))
        client = Client(proxy, path, streamed)
        reply = await client.ask(person(path, "Which database did we choose?"))
        assert [part.name for part in reply.parts if isinstance(part, ToolCall)] == ["bash"]
        assert len(provider.requests) == 1
        client.heard(without(both, *NAMES))
        await client.ask(*done(path, "c1"))
        second = provider.last.body
        assert (
            second.index(b'"c1"') < second.index(b'"m1"') < second.index(b"billing service") < second.index(b"3 files")
        )
        assert history(path, second).startswith(history(path, sent(provider)[0]))
        valid(path, second)
        client.heard(TOLD)
        await client.ask(person(path, "Are you sure?"))
        assert history(path, provider.last.body).startswith(history(path, second))


@pytest.mark.parametrize("path", PATHS)
async def test_the_receipt_has_the_rounds_and_the_journal_the_visible_reply(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, LOOK, TOLD)
        client = Client(proxy, path)
        client.messages.append(person(path, "Which database did we choose?"))
        _, _, headers = await client.send()
        await proxy.learned()
        assert proxy.edge.memory is not None
        receipt = await proxy.edge.memory.journal.receipt(headers["x-palimpsest-receipt"])
        assert receipt is not None
        [hidden] = receipt.hidden
        assert hidden.tools == ("memory_search",)
        assert hidden.usage is not None and hidden.usage.output == 5
        passages = await proxy.edge.memory.journal.find_passages(
            await proxy.edge.memory.journal.owners(), "PostgreSQL", 10
        )
        assert [passage.speaker for passage in passages] == ["assistant"]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
async def test_where_the_model_calls_nothing_of_ours_the_reply_is_the_providers_own_bytes(
    path: str, streamed: bool, tmp_path: Path
) -> None:
    only = Round((Think("Hm.", "S="), Say("Naïve ☃."), BASH))
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, only)
        client = Client(proxy, path, streamed)
        client.messages.append(person(path, "Go on."))
        _, data, headers = await client.send()
        assert data == (stream(path, only) if streamed else document(path, only))
        assert streamed or headers["Content-Length"] == str(len(data))


@pytest.mark.parametrize("path", PATHS)
async def test_tools_are_offered_from_a_sessions_first_request_or_never(path: str, tmp_path: Path) -> None:
    fine = Round((Say("Fine."),))
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            script(provider, path, fine)
            before = Client(proxy, path, session="before")
            await before.ask(person(path, "Hello there, we begin."))
            assert tools_in(provider.last.body) == ["bash"]
            before.heard(fine)
        async with running(provider, tmp_path, **ON) as proxy:
            before.proxy = proxy
            script(provider, path, fine, fine, fine)
            await before.ask(person(path, "Go on then."))
            assert tools_in(provider.last.body) == ["bash"]
            forced = Client(proxy, path, session="forced", more=_force(path))
            await forced.ask(person(path, "Run it."))
            assert tools_in(provider.last.body) == ["bash"]
            own = Client(proxy, path, session="own")
            own.more = {"tools": orjson.loads(orjson.dumps(own.body["tools"]).replace(b"bash", b"mcp__memory_search"))}
            await own.ask(person(path, "Search."))
            assert tools_in(provider.last.body) == ["mcp__memory_search"]


def _force(path: str) -> dict[str, Any]:
    if path == GEMINI:
        return {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    return {"tool_choice": {"type": "any"} if path == PATHS[2] else "required"}


@pytest.mark.parametrize("failure", [500, 400])
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
async def test_a_round_that_fails_ends_the_reply_as_its_format_ends_one(
    path: str, streamed: bool, failure: int, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, LOOK, failure, Round((Say("Yes."),)))
        client = Client(proxy, path, streamed)
        reply = await client.ask(person(path, "Which database did we choose?"))
        assert reply.text == "Let me look. "
        assert "going on after a tool of memory's" in proxy.edge.degradations.counts
        client.heard(without(LOOK, *NAMES))
        await client.ask(person(path, "And?"))
        valid(path, provider.last.body)


@pytest.mark.parametrize("path", PATHS)
async def test_a_model_that_asks_for_ever_is_stopped(path: str, tmp_path: Path) -> None:
    asks = [Round((Call(f"m{number}", "memory_search", '{"query": "x"}'),), id=f"r{number}") for number in range(5)]
    async with fake_provider() as provider, running(provider, tmp_path, **ON, memory__tools__rounds=3) as proxy:
        script(provider, path, *asks)
        reply = await Client(proxy, path).ask(person(path, "Which database did we choose?"))
        assert reply.parts == ()
        assert len(provider.requests) == 4
        assert b"no more questions" in provider.last.body


@pytest.mark.parametrize("path", PATHS)
async def test_what_a_model_calls_wrongly_is_told_to_it(path: str, tmp_path: Path) -> None:
    wrong = Round((Call("m1", "memory_get", '{"id": "deadbeef"}'), Call("m2", "memory_note", '{"action": "sing"}')))
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, wrong, TOLD)
        await Client(proxy, path).ask(person(path, "Which database did we choose?"))
        assert b"Not done: there is no memory" in provider.last.body
        assert b"it is add, confirm, update or supersede" in provider.last.body
        valid(path, provider.last.body)


async def test_a_secret_in_a_hidden_round_is_not_stored(tmp_path: Path) -> None:
    path, key = PATHS[2], "sk-ant-api03-" + "Ab1x" * 20
    look = Round((Think("Hm.", "Sig=="), Say(f"The key is {key}."), ASK), (50, 5), "r1")
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, look, TOLD, Round((Say("Fine."),)))
        client = Client(proxy, path)
        await client.ask(person(path, "Which database did we choose?"))
        await proxy.learned()
        client.heard(without(look, *NAMES), TOLD)
        fork = Client(proxy, path, session="s2", messages=[*client.messages, person(path, "Are you sure?")])
        await fork.ask()
        assert key.encode() in provider.last.body, "the model reads what was said"
        await proxy.learned()
    assert key.encode() not in journal_of(tmp_path)


@pytest.mark.parametrize("path", PATHS)
async def test_what_comes_before_a_hidden_call_is_seen_at_once_and_a_client_that_leaves_ends_it_all(
    path: str, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        again = asyncio.Event()

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            if len(provider.requests) == 1:
                await response.write(stream(path, LOOK))
                await response.write_eof()
                return response
            try:
                again.set()
                await asyncio.Event().wait()
            finally:
                provider.gone.set()
            return response

        provider.answer = answer
        client = Client(proxy, path)
        client.messages.append(person(path, "Which database did we choose?"))
        body = {"model": "m", "stream": True, **client.body}
        headers = {"x-palimpsest-project": "loom", "x-session-id": "s1"}
        async with proxy.client.post(proxy.url + client.where, json=body, headers=headers) as reply:
            seen = b""
            while b"look. " not in seen:
                seen += await reply.content.readany()
            await asyncio.wait_for(again.wait(), 10)
            assert b"memory_search" not in seen
        await asyncio.wait_for(provider.gone.wait(), 10)


@pytest.mark.parametrize("path", PATHS)
async def test_a_round_that_breaks_off_breaks_the_reply_off(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            whole = stream(path, LOOK if len(provider.requests) == 1 else TOLD)
            await response.write(whole if len(provider.requests) == 1 else whole[: len(whole) // 2])
            if len(provider.requests) > 1 and request.transport is not None:
                request.transport.close()
            else:
                await response.write_eof()
            return response

        provider.answer = answer
        client = Client(proxy, path)
        client.messages.append(person(path, "Which database did we choose?"))
        with pytest.raises(aiohttp.ClientError):
            await client.send()


async def test_a_memory_that_fails_is_told_to_the_model_and_counted(tmp_path: Path) -> None:
    path = PATHS[0]
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        assert proxy.edge.memory is not None

        async def broken(*args: Any) -> Any:
            raise StoreError("the index is locked")

        proxy.edge.memory.tools.answer = broken  # type: ignore[method-assign,assignment]
        script(provider, path, LOOK, TOLD)
        reply = await Client(proxy, path).ask(person(path, "Which database did we choose?"))
        assert reply.text.endswith("PostgreSQL 16.")
        assert b"cannot be asked just now" in provider.last.body
        assert "answering a tool of memory's" in proxy.edge.degradations.counts


async def test_a_fork_offers_what_the_session_offers_that_it_came_from(tmp_path: Path) -> None:
    path, fine = PATHS[2], Round((Say("Fine."),))
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, LOOK, TOLD, fine, fine)
        client = Client(proxy, path)
        await client.ask(person(path, "Which database did we choose?"))
        client.heard(without(LOOK, *NAMES), TOLD)
        await client.ask(person(path, "Are you sure?"))
        before = provider.last.body
        fork = Client(proxy, path, session="s2", messages=[*client.messages])
        await fork.ask()
        assert tools_in(provider.last.body) == tools_in(before)
        assert history(path, provider.last.body) == history(path, before)


async def test_a_regenerated_reply_without_hidden_rounds_has_none_made_again(tmp_path: Path) -> None:
    path = PATHS[0]
    silent = Round((ASK,), id="r1")
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, silent, TOLD, Round((Say("MySQL."),)), Round((Say("Yes."),)))
        client = Client(proxy, path)
        await client.ask(person(path, "Which database did we choose?"))
        await client.ask()
        client.heard(Round((Say("MySQL."),)))
        await client.ask(person(path, "Sure?"))
        assert b"recalled-memory" not in provider.last.body
        assert len(orjson.loads(provider.last.body)["messages"]) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer sk-ant-oat01-abc"},
        {"anthropic_beta": "oauth-2025-04-20,claude-code-20250219"},
        {"chatgpt_account_id": "a"},
    ],
)
async def test_a_subscriptions_traffic_is_offered_no_tools(headers: dict[str, str], tmp_path: Path) -> None:
    path = PATHS[2]
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, Round((Say("Fine."),)))
        await Client(proxy, path, headers=headers).ask(person(path, "Hello there, we begin."))
        assert tools_in(provider.last.body) == ["bash"]


@pytest.mark.parametrize("fields", [{"store": True}, {"previous_response_id": "r0"}, {"tools": []}])
async def test_no_tools_are_offered_where_the_server_keeps_the_history_or_the_client_has_none(
    fields: dict[str, Any], tmp_path: Path
) -> None:
    path = PATHS[1]
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        script(provider, path, Round((Say("Fine."),)))
        await Client(proxy, path, more=fields).ask(person(path, "Hello there, we begin."))
        assert b"memory_search" not in provider.last.body


async def test_what_a_person_has_forgotten_goes_out_of_hidden_rounds_too(tmp_path: Path) -> None:
    path = PATHS[2]
    async with fake_provider() as provider, running(provider, tmp_path, **ON) as proxy:
        await known(proxy)
        script(provider, path, LOOK, TOLD, Round((Say("Yes."),)))
        client = Client(proxy, path)
        await client.ask(person(path, "Which database did we choose?"))
        assert b"billing service" in provider.last.body
        client.heard(without(LOOK, *NAMES), TOLD)
        await proxy.learned()
        assert proxy.edge.memory is not None
        commands, owners = proxy.edge.memory.commands, await proxy.edge.memory.journal.owners()
        gone = await commands.alike("billing service", owners)
        await commands.forget([memory.id for memory in gone], owners)
        await client.ask(person(path, "Are you sure?"))
        assert b"billing service" not in provider.last.body
        valid(path, provider.last.body)
    assert b"billing service" not in journal_of(tmp_path)
