"""One request, from arrival to memory, through the real proxy with real stores and a small real provider."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web

from memory.ports import StoreError
from memory.services import journaling
from tests.fake_provider import fake_provider
from tests.running import running
from tests.sparse_files import read_written

UNTOUCHED: dict[str, bytes] = {
    "/v1/chat/completions": b'\r\n {"model":"m", "temperature":1e0,"x":12345678901234567890123,\n "messages":[ {'
    b'"role":"user","content":"hi"} ],"seed":1.0,"seed":2}\t\n',
    "/v1/responses": b'{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text",'
    b'"text":"hi \\u00e9"}]},{"type":"mystery","n":1.50}], "store":false}',
    "/v1/messages": b'{"model":"m","max_tokens":1,"system":[{"type":"text","text":"s","cache_control":{"type":'
    b'"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
}


@pytest.mark.parametrize("path", UNTOUCHED)
async def test_a_request_with_nothing_to_add_goes_on_with_the_clients_own_bytes(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        _, _, headers = await proxy.post(path, UNTOUCHED[path], Authorization="Bearer k", X_Own="1")
        assert headers["x-palimpsest-status"] == "untouched"
        assert hashlib.sha256(provider.last.body).digest() == hashlib.sha256(UNTOUCHED[path]).digest()
        assert provider.last.headers["Authorization"] == "Bearer k"
        assert provider.last.headers["X-Own"] == "1"
        assert not [name for name in provider.last.headers if name.lower().startswith("x-palimpsest")]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("path", UNTOUCHED)
async def test_the_reply_is_the_providers_own_bytes(path: str, streamed: bool, tmp_path: Path) -> None:
    body = orjson.loads(UNTOUCHED[path]) | {"stream": streamed}
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        provider.reply = "naïve ☃ " * 50
        async with proxy.client.post(provider.url + path, json=body) as reply:
            direct = await reply.read()
        _, through, headers = await proxy.post(path, body)
        assert through == direct
        assert headers["x-palimpsest-receipt"]


async def test_what_was_said_in_one_session_stands_in_the_next_one(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 with the Alembic migrations folder db/versions.")
        await proxy.learned()
        await proxy.chat("Which database did we decide to use?", session="s2")
        assert b"PostgreSQL 16" in provider.last.body
        await proxy.chat("Which database did we decide to use?", session="s3", project="another")
        assert b"PostgreSQL 16" not in provider.last.body


async def test_recall_survives_a_restart_and_so_does_the_ledger(tmp_path: Path) -> None:
    question = "Which database did we decide to use?"
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
            await proxy.learned()
            await proxy.chat(question, session="s2")
            first = orjson.loads(provider.last.body)["messages"][0]["content"]
        async with running(provider, tmp_path) as proxy:
            await proxy.chat(question, "PostgreSQL 16.", "Thanks, go on", session="s2")
            assert orjson.loads(provider.last.body)["messages"][0]["content"] == first
            assert first != question


async def test_a_retry_adds_nothing_and_learns_nothing_twice(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        said = "I always want tabs instead of spaces in Go files."
        await proxy.chat(said)
        sent = provider.last.body
        await proxy.chat(said)
        assert provider.last.body == sent
        await proxy.learned()
        assert proxy.edge.memory is not None
        counts = await proxy.edge.memory.journal.counts()
        assert counts.passages == 1
        assert counts.behind == 0


async def test_no_owner_sees_what_another_said(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = {"model": "m", "messages": [{"role": "user", "content": "What is the name of my dog?"}]}
        tell = {"model": "m", "messages": [{"role": "user", "content": "My dog is called Quirinus and he is six."}]}
        await proxy.post("/v1/chat/completions", tell, x_palimpsest_user="ada", x_palimpsest_project="p")
        await proxy.learned()
        await proxy.post("/v1/chat/completions", ask, x_palimpsest_user="bob", x_palimpsest_project="p")
        assert b"Quirinus" not in provider.last.body
        await proxy.post("/v1/chat/completions", ask, x_palimpsest_user="ada", x_palimpsest_project="p")
        assert b"Quirinus" in provider.last.body


async def test_memory_can_be_switched_off_for_a_request(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        body = {"model": "m", "messages": [{"role": "user", "content": "My dog is called Quirinus and he is six."}]}
        for mode in ("off", "read-only"):
            await proxy.post("/v1/chat/completions", body, x_palimpsest_project="p", x_palimpsest_memory=mode)
        await proxy.learned()
        assert proxy.edge.memory is not None
        counts = await proxy.edge.memory.journal.counts()
        assert (counts.messages, counts.passages, counts.facts) == (0, 0, 0)


@pytest.mark.parametrize("body", [b' {"model":"m","messages":[]}\n', b'{"model":', gzip.compress(b"{}", mtime=0)])
async def test_with_memory_off_a_body_is_passed_on_unread(body: bytes, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__mode="off") as proxy:
        provider.answer = lambda request: _answered(418)
        encoding = {"Content_Encoding": "gzip"} if body.startswith(b"\x1f\x8b") else {}
        status, _, headers = await proxy.post("/v1/chat/completions", body, **encoding)
        assert (status, headers["x-palimpsest-status"]) == (418, "passed; memory.mode is off")
        assert provider.last.body == body
        assert provider.last.headers.get("Content-Encoding") == encoding.get("Content_Encoding")


async def _answered(status: int) -> web.StreamResponse:
    return web.Response(status=status)


async def test_the_end_of_a_reply_is_held_until_the_journal_has_the_exchange(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        journal = proxy.edge.memory.journal
        written = asyncio.Event()
        commit = journal.commit

        async def slow(*told: Any, **named: Any) -> None:
            await commit(*told, **named)
            written.set()

        journal.commit = slow  # type: ignore[method-assign]
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        async with proxy.client.post(proxy.url + "/v1/chat/completions", json=body) as reply:
            heard = b""
            async for chunk in reply.content.iter_any():
                heard += chunk
                assert b"[DONE]" not in heard or written.is_set()
        assert heard.endswith(b"data: [DONE]\n\n")


async def test_a_journal_that_hangs_holds_the_end_for_a_moment_only_and_gets_the_exchange_later(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__journal__hold_ms=20) as proxy:
        assert proxy.edge.memory is not None
        journal = proxy.edge.memory.journal
        commit, open_again = journal.commit, asyncio.Event()

        async def hanging(*told: Any, **named: Any) -> None:
            await open_again.wait()
            await commit(*told, **named)

        journal.commit = hanging  # type: ignore[method-assign]
        assert (await proxy.chat("My dog is called Quirinus and he is six.")).startswith(b"{")
        assert [each.why.partition(":")[0] for each in proxy.edge.degradations.latest] == ["aside"]
        open_again.set()
        await proxy.learned()
        assert (await journal.counts()).exchanges == 1


async def test_the_model_call_goes_through_when_memory_fails(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        assert proxy.edge.memory is not None

        async def broken(*args: Any, **more: Any) -> Any:
            raise RuntimeError("the index is gone")

        proxy.edge.memory.recall.search = broken  # type: ignore[method-assign]
        body = {"model": "m", "messages": [{"role": "user", "content": "Which database did we decide to use?"}]}
        status, _, headers = await proxy.post(
            "/v1/chat/completions", body, x_session_id="s2", x_palimpsest_project="loom"
        )
        assert status == 200
        assert headers["x-palimpsest-status"].startswith("degraded")
        async with proxy.client.get(proxy.url + "/palimpsest/health") as reply:
            health = await reply.json()
        assert health["status"] == "degraded"


async def test_a_slow_recall_is_given_up_at_its_deadline_and_not_tried_again(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__recall__deadline_ms=20) as proxy:
        assert proxy.edge.memory is not None
        asked = 0

        async def hanging(*args: Any, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            await asyncio.Event().wait()

        proxy.edge.memory.recall.search = hanging  # type: ignore[method-assign]
        await proxy.chat("Which database did we decide to use?")
        await proxy.chat("Which database did we decide to use?")
        assert asked == 1
        assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/chat/completions", b'{"messages": [', "error"),
        ("/v1/messages", b"[1, 2]", "error"),
        ("/v1/responses", b"\xff\xfe", "error"),
        ("/v1/chat/completions", b"[" * 100_000, "error"),
    ],
)
async def test_a_broken_body_is_refused_in_the_clients_own_format(
    path: str, body: bytes, told: str, tmp_path: Path
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        status, reply, _ = await proxy.post(path, body)
        assert status == 400
        assert orjson.loads(reply)[told]["message"]
        assert provider.requests == []


async def test_what_only_the_provider_can_judge_goes_on_untouched(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        for body in (b'{"model": "m"}', b'{"messages": "none"}', b'{"messages": [1, null, {"role": "oracle"}]}'):
            status, _, _ = await proxy.post("/v1/chat/completions", body)
            assert status == 200
            assert provider.last.body == body


async def test_a_body_beyond_the_limit_is_told_and_64_mib_pass(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, server__max_body_mib=65) as proxy:
        large = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * (64 << 20)}]})
        status, _, _ = await proxy.post("/v1/chat/completions", large, x_palimpsest_memory="off")
        assert status == 200
        assert len(provider.last.body) == len(large)
        status, reply, _ = await proxy.post("/v1/chat/completions", large + b" " * (2 << 20))
        assert status == 413
        assert "65 MiB" in orjson.loads(reply)["error"]["message"]


async def test_the_providers_own_error_comes_back_as_it_was(tmp_path: Path) -> None:
    async def overloaded(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "7"})

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        provider.answer = overloaded
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        status, reply, headers = await proxy.post("/v1/chat/completions", body)
        assert (status, headers["retry-after"]) == (429, "7")
        assert orjson.loads(reply) == {"error": {"message": "slow down"}}


async def test_a_provider_that_is_not_there_is_told_in_the_clients_format(tmp_path: Path) -> None:
    async with running("http://127.0.0.1:9", tmp_path, upstream__attempts=1) as proxy:
        status, reply, _ = await proxy.post("/v1/messages", UNTOUCHED["/v1/messages"])
        assert status == 502
        assert orjson.loads(reply)["type"] == "error"


async def test_a_reply_that_breaks_off_breaks_off_for_the_client_and_teaches_nothing(tmp_path: Path) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"My dog is called Quirinus"}}]}\n\n')
        assert request.transport is not None
        request.transport.close()
        return response

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        provider.answer = cut
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi there, tell me"}]}
        with pytest.raises(aiohttp.ClientPayloadError):
            await proxy.post("/v1/chat/completions", body, x_palimpsest_project="p")
        await proxy.learned()
        assert proxy.edge.memory is not None
        found = await proxy.edge.memory.journal.facts_of(["up:/local/p", "u:/local"])
        assert found == []


@pytest.mark.parametrize("first_byte", [False, True])
async def test_a_client_that_goes_away_closes_the_provider_too(first_byte: bool, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        arrived = asyncio.Event()

        async def endless(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            try:
                if first_byte:
                    await response.prepare(request)
                    await response.write(b"data: {}\n\n")
                arrived.set()
                await asyncio.Event().wait()
            finally:
                provider.gone.set()
            return response

        provider.answer = endless
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        asking = asyncio.create_task(proxy.post("/v1/chat/completions", body))
        await arrived.wait()
        asking.cancel()
        await asyncio.wait_for(provider.gone.wait(), 5)


async def test_any_other_path_passes_through(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        async with proxy.client.get(proxy.url + "/v1/models?limit=2") as reply:
            assert reply.status == 200
        assert (provider.last.method, provider.last.path) == ("GET", "/v1/models?limit=2")
        async with proxy.client.head(proxy.url + "/") as reply:
            assert reply.status == 200
        assert (provider.last.method, provider.last.path) == ("HEAD", "/")
        async with proxy.client.post(proxy.url + "/v1/embeddings", data=b"{ }") as reply:
            await reply.read()
        assert provider.last.body == b"{ }"


@pytest.mark.parametrize("switched_on", [True, False])
async def test_a_websocket_that_the_provider_does_not_take_is_answered_with_426(
    tmp_path: Path, switched_on: bool
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, upstream__websocket=switched_on) as proxy:
        headers = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "x",
            "Sec-WebSocket-Version": "13",
        }
        async with proxy.client.get(proxy.url + "/v1/responses", headers=headers) as reply:
            assert reply.status == 426
        assert len(provider.requests) == switched_on
        async with proxy.client.get(proxy.url + "/v1/chat/completions", headers=headers) as reply:
            assert reply.status == 426
        assert len(provider.requests) == switched_on


async def test_a_url_prefix_names_the_project_and_goes_no_further(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        body = {"model": "m", "messages": [{"role": "user", "content": "We decided to use PostgreSQL 16 for billing."}]}
        await proxy.post("/u/ada/p/loom/v1/chat/completions", body)
        assert provider.last.path == "/v1/chat/completions"
        await proxy.learned()
        ask = {"model": "m", "messages": [{"role": "user", "content": "Which database did we decide to use?"}]}
        await proxy.post("/p/loom/u/ada/v1/chat/completions", ask)
        assert b"PostgreSQL 16" in provider.last.body


async def test_a_compressed_body_is_read_and_goes_on_as_it_came(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        body = gzip.compress(orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
        status, _, headers = await proxy.post("/v1/chat/completions", body, Content_Encoding="gzip")
        assert status == 200
        assert headers["x-palimpsest-status"] == "untouched"
        assert provider.last.body == body


async def test_no_credential_is_stored(tmp_path: Path) -> None:
    key = "sk-proj-" + hashlib.sha256(b"a key that opens nothing").hexdigest()[:48]
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": f"Remember: the API key is {key}, for staging."}],
        }
        await proxy.post("/v1/chat/completions", body, Authorization=f"Bearer {key}", x_palimpsest_project="p")
        assert key.encode() in provider.last.body
        await proxy.learned()
    assert [file for file in files_of(tmp_path) if key.encode() in read_written(file)] == []


@pytest.mark.parametrize("attempt", range(3))
async def test_parallel_requests_of_one_session_decide_once(attempt: int, tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        await asyncio.gather(*(proxy.chat("Which database did we decide to use?", session="s2") for _ in range(5)))
        assert len({request.body for request in provider.requests[1:]}) == 1


async def test_a_stream_is_passed_on_piece_by_piece(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        go_on = asyncio.Event()

        async def spaced(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n')
            await go_on.wait()
            await response.write(b"data: [DONE]\n\n")
            return response

        provider.answer = spaced
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        async with proxy.client.post(proxy.url + "/v1/chat/completions", json=body) as reply:
            first = await reply.content.readany()
            assert first.endswith(b'"one"}}]}\n\n')
            go_on.set()
            assert await reply.read() == b"data: [DONE]\n\n"


def files_of(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


GOES_ON = {
    "memory/features/subagents/findings.py": "what fails at sister projects must not cost a project's own findings",
    "memory/services/background_task.py": "a thread hands every error to the caller who waits for it",
    "memory/services/person/erasure_steps.py": "what the journal has let go of must be gone everywhere",
    "memory/stores/postgresql/changes.py": "one who is told of changes must not keep the others from hearing",
    "memory/stores/postgresql/attending.py": "a thread that ended would be missed for ever: it begins anew",
    "memory/stores/postgresql/writer.py": "a thread hands every error to the caller who waits for it",
    "proxy/fail_open.py": "memory never fails the model call",
}
"""Where any error at all is caught and not raised again, and why."""


def test_any_error_at_all_is_caught_in_a_few_places_only() -> None:
    root = Path(__file__).parents[2]
    broad = {
        str(file.relative_to(root))
        for package in ("proxy", "memory")
        for file in sorted((root / package).rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if line.strip().startswith(("except Exception", "except:", "except BaseException"))
        and "raise" not in "".join(file.read_text().splitlines()[number : number + 8])
    }
    assert broad <= set(GOES_ON)


async def test_a_request_whose_preparing_was_late_is_journaled_all_the_same(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        preparation, prepare = proxy.edge.memory.preparation, proxy.edge.memory.preparation.prepare

        async def late(*args: Any) -> Any:
            raise TimeoutError

        preparation.prepare = late  # type: ignore[method-assign, assignment]
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        preparation.prepare = prepare  # type: ignore[method-assign]
        await proxy.learned()
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1
        await proxy.chat("Which database did we decide to use?", session="s2")
        assert b"PostgreSQL 16" in provider.last.body


async def test_many_new_sessions_at_once_are_all_journaled(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__recall__deadline_ms=1) as proxy:
        await asyncio.gather(*(proxy.chat(f"We decided to use tool{i} for it.", session=f"s{i}") for i in range(40)))
        await proxy.learned()
        assert proxy.edge.memory is not None
        counts = await proxy.edge.memory.journal.counts()
        assert (counts.sessions, counts.exchanges, counts.behind) == (40, 40, 0)


async def test_a_failure_of_many_lines_is_told_in_a_header_of_one(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None

        async def broken(*args: Any) -> Any:
            raise RuntimeError("first\r\nX-Evil: 1\n\x00\udcff" + "long " * 1000)

        proxy.edge.memory.preparation.prepare = broken  # type: ignore[method-assign, assignment]
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        status, _, headers = await proxy.post("/v1/chat/completions", body)
        assert status == 200
        assert headers["x-palimpsest-status"].startswith("degraded; RuntimeError: first X-Evil: 1 long")
        assert "X-Evil" not in headers


async def test_what_was_asked_is_journaled_although_the_reply_came_compressed(tmp_path: Path) -> None:
    async def compressed(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        provider.answer = compressed
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        assert proxy.edge.memory is not None
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1
        assert proxy.edge.degradations.counts["hearing a reply"] == 1


async def test_a_body_that_passes_through_keeps_its_length(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.post("/v1/embeddings", b'{"input": "x"}')
        assert provider.last.headers["Content-Length"] == "14"
        assert "Transfer-Encoding" not in provider.last.headers


async def test_while_the_stores_are_not_open_every_reply_says_so(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"no database at all" * 1000)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        status, _, headers = await proxy.post("/v1/chat/completions", body)
        assert (status, headers["x-palimpsest-status"]) == (200, "degraded; the stores are not open")


async def test_a_fork_of_a_session_teaches_what_is_new_in_it_and_nothing_again(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        said = ("My dog is called Quirinus and he is six.", "A fine name for a dog, six years is a good age.")
        await proxy.chat(*said[:1], session="s1")
        await proxy.chat(*said, "He sleeps in the old boat house.", session="s1")
        await proxy.learned()
        assert proxy.edge.memory is not None
        before = await proxy.edge.memory.journal.counts()
        await proxy.chat(*said, "His brother is called Lucius.", session="s2")
        await proxy.learned()
        after = await proxy.edge.memory.journal.counts()
        assert after.sessions == before.sessions + 1
        assert after.passages == before.passages + 1


async def test_the_same_history_under_another_sessions_name_teaches_nothing_again(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        history = ("My dog is called Quirinus and he is six.", "A fine name for a dog, six years is a good age.")
        await proxy.chat(*history, "He sleeps in the old boat house.", session="s1")
        await proxy.learned()
        assert proxy.edge.memory is not None
        before = (await proxy.edge.memory.journal.counts()).passages
        await proxy.chat(*history, "His brother is called Lucius.", session="s2")
        await proxy.learned()
        assert (await proxy.edge.memory.journal.counts()).passages == before + 1


async def test_a_retry_of_a_request_that_went_on_without_memory_is_forwarded_in_the_same_bytes(tmp_path: Path) -> None:
    question = "Which database did we decide to use?"
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        assert proxy.edge.memory is not None
        preparation, prepare = proxy.edge.memory.preparation, proxy.edge.memory.preparation.prepare

        async def late(*args: Any) -> Any:
            raise TimeoutError

        preparation.prepare = late  # type: ignore[method-assign, assignment]
        await proxy.chat(question, session="s2")
        preparation.prepare = prepare  # type: ignore[method-assign]
        await proxy.chat(question, session="s2")
        assert provider.requests[-1].body == provider.requests[-2].body
        assert b"PostgreSQL 16" not in provider.last.body
        await proxy.chat(question, "I do not know.", question + " Think again.", session="s2")
        messages = orjson.loads(provider.last.body)["messages"]
        assert messages[0]["content"] == question
        assert "PostgreSQL 16" in messages[2]["content"]


async def test_memory_that_is_switched_off_in_the_middle_of_a_session_leaves_its_prefix(tmp_path: Path) -> None:
    question = "Which database did we decide to use?"
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        await proxy.chat(question, session="s2")
        edited = orjson.loads(provider.last.body)["messages"]
        assert edited[0]["content"] != question
        await proxy.learned()
        assert proxy.edge.memory is not None
        counts = await proxy.edge.memory.journal.counts()
        own = [{"role": "user", "content": question}, {"role": "assistant", "content": "PostgreSQL 16."}]
        body = {"model": "m", "messages": [*own, {"role": "user", "content": "Which database is it, again?"}]}
        _, _, headers = await proxy.post(
            "/v1/chat/completions", body, x_session_id="s2", x_palimpsest_project="loom", x_palimpsest_memory="off"
        )
        assert headers["x-palimpsest-status"] == "off"
        assert orjson.loads(provider.last.body)["messages"] == [edited[0], *body["messages"][1:]]
        await proxy.learned()
        assert await proxy.edge.memory.journal.counts() == counts


async def test_exchanges_that_are_lost_because_too_many_bytes_wait_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journaling, "MAX_PENDING_BYTES", 10_000)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        journal = proxy.edge.memory.journal

        async def full(*told: Any, **named: Any) -> None:
            raise StoreError("the disk is full")

        async def no_room(exchange: Any, entries: Any = ()) -> None:
            raise StoreError("the disk is full")

        commit, journal.commit = journal.commit, full  # type: ignore[method-assign]
        journal.set_aside = no_room  # type: ignore[method-assign]
        for number in range(3):
            await proxy.chat(f"{number} " * 4000, session=f"s{number}")
        token = {"x-palimpsest-token": proxy.edge.token}
        async with proxy.client.get(proxy.url + "/palimpsest/health", headers=token) as reply:
            why = (await reply.json())["why"]
        journal.commit = commit  # type: ignore[method-assign]
        assert "2 exchanges were lost while the journal could not be written" in why
        assert "1 exchanges wait for the journal, which cannot be written" in why


async def test_who_has_seen_the_end_of_a_reply_has_its_ledger_in_the_journal(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        await proxy.learned()
        await proxy.chat("Which database did we decide to use?", session="s2")
        assert proxy.edge.memory is not None
        journal = proxy.edge.memory.journal
        (receipt,) = await journal.receipts(1)
        entries = await journal.ledger(receipt.session)
        assert [entry.text in orjson.loads(provider.last.body)["messages"][0]["content"] for entry in entries] == [
            True
        ] * 2
