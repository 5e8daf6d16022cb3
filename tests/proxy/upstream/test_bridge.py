"""Clients of each format on a provider of each other one, through the real litellm and a scripted provider."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.conversation import ToolCall
from proxy.wire import dialect_of
from tests.fake_provider import FakeProvider, fake_provider, stream
from tests.proxy.auth.test_door import Somebody
from tests.running import Running, running

# litellm's own models and its adapters' half-read streams warn.
pytestmark = [pytest.mark.litellm, pytest.mark.filterwarnings("ignore")]

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Read the log"}],
        "tools": [{"type": "function", "function": {"name": "read", "description": "reads", "parameters": SCHEMA}}],
        "stream_options": {"include_usage": True},
    },
    "/v1/messages": {
        "system": "Be brief.",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "Read the log"}],
        "tools": [{"name": "read", "description": "reads", "input_schema": SCHEMA}],
    },
    "/v1/responses": {
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Read the log"}],
        "tools": [{"type": "function", "name": "read", "description": "reads", "parameters": SCHEMA}],
    },
}
PAIRS = [
    ("/v1/chat/completions", "anthropic/m", "/v1/messages"),
    ("/v1/chat/completions", "openai/responses/m", "/v1/responses"),
    ("/v1/messages", "hosted_vllm/m", "/v1/chat/completions"),
    ("/v1/messages", "openai/m", "/v1/responses"),
    ("/v1/responses", "deepseek/m", "/chat/completions"),
    ("/v1/responses", "anthropic/m", "/v1/messages"),
]
"""A client's path, litellm's name for a provider, and where that provider is asked."""


async def scripted(request: web.Request) -> web.StreamResponse:
    """Says something, then calls the tool, in the format that it is asked in."""
    asked = orjson.loads(await request.read())
    events, whole = _answers(request.path.rpartition("/")[2])
    if not asked.get("stream"):
        return web.json_response(whole)
    named = [b"" if "object" in event else b"event: " + event["type"].encode() + b"\n" for event in events]
    end = [b"data: [DONE]"] if "object" in events[0] else []
    return await stream(
        request, [*(name + b"data: " + orjson.dumps(event) for name, event in zip(named, events, strict=True)), *end]
    )


def _answers(format: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    arguments = '{"path": "a.log"}'
    if format == "completions":
        call = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": arguments}}
        usage = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas = [{"role": "assistant", "content": "I "}, {"content": "look."}, {"tool_calls": [{"index": 0, **call}]}]
        chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        chunks.append({**base, "choices": [], "usage": usage})
        message = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return chunks, {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    if format == "messages":
        used = {"input_tokens": 30, "output_tokens": 5}
        block = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
        start = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": used}
        texts = [{"type": "text_delta", "text": text} for text in ("I ", "look.")]
        said = [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in texts]
        json = {"type": "input_json_delta", "partial_json": arguments}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**start, "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *said,
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": block},
            {"type": "content_block_delta", "index": 1, "delta": json},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": used},
            {"type": "message_stop"},
        ]
        content = [{"type": "text", "text": "I look."}, {**block, "input": orjson.loads(arguments)}]
        return events, {**start, "content": content, "stop_reason": "tool_use", "stop_sequence": None}
    text = {"type": "output_text", "text": "I look.", "annotations": []}
    message = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [text]}
    call = {"type": "function_call", "id": "f1", "call_id": "t1", "name": "read", "arguments": arguments}
    call["status"] = "completed"
    spent = {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}
    whole: dict[str, Any] = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    whole["usage"] = spent
    whole |= {"output": [message, call], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    at = {"item_id": "i1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**message, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**text, "text": ""}},
        *({"type": "response.output_text.delta", **at, "delta": delta} for delta in ("I ", "look.")),
        {"type": "response.output_text.done", **at, "text": "I look."},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 1, "delta": arguments},
        {"type": "response.function_call_arguments.done", "item_id": "f1", "output_index": 1, "arguments": arguments},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": whole},
    ]
    return [{"sequence_number": number, **event} for number, event in enumerate(events)], whole


def bridged(provider: FakeProvider, home: Path, mode: str = "on", **route: str) -> AbstractAsyncContextManager[Running]:
    url = provider.url if route["bridge"].startswith("anthropic") else provider.url + "/v1"
    return running(provider, home, memory__mode=mode, upstream__routes=[{"model": "far-*", "url": url, **route}])


def body(path: str, streamed: bool, **more: Any) -> dict[str, Any]:
    asked = {"model": "far-m", "stream": streamed, **ASKED[path], **more}
    if not streamed:
        asked.pop("stream_options", None)
    return asked


def heard(path: str, streamed: bool, reply: bytes) -> tuple[str, list[ToolCall], int]:
    """What a client of that format reads: text, calls, tokens in."""
    dialect = dialect_of(path)
    assert dialect is not None
    listener = dialect.listen(streamed)
    listener.feed(reply)
    listener.finish()
    told = listener.reply()
    assert told.usage is not None and told.complete, reply
    calls = [part for part in told.parts if isinstance(part, ToolCall)]
    return told.text, calls, told.usage.input


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("path", "bridge", "asked"), PAIRS)
async def test_a_client_reads_its_own_format_from_a_provider_of_another(
    path: str, bridge: str, asked: str, streamed: bool, tmp_path: Path
) -> None:
    async with fake_provider() as provider:
        provider.answer = scripted
        async with bridged(provider, tmp_path, bridge=bridge) as proxy:
            status, reply, headers = await proxy.post(path, body(path, streamed), Authorization="Bearer own-key")
            assert status == 200, reply
            text, calls, tokens = heard(path, streamed, reply)
    assert text == "I look." and tokens == 30
    assert [(call.name, orjson.loads(call.arguments)) for call in calls] == [("read", {"path": "a.log"})]
    assert headers["x-palimpsest-bridge"] == bridge
    sent = provider.last
    assert sent.path.endswith(asked)
    # Whoever waits for a stream is not kept until the whole of it is there.
    assert bool(orjson.loads(sent.body).get("stream")) is streamed
    named = {key.lower(): value for key, value in sent.headers.items()}
    assert "own-key" in named.get("authorization", "") + named.get("x-api-key", "")
    assert b"Read the log" in sent.body and b"Be brief." in sent.body and b'"read"' in sent.body


async def test_other_routes_stay_bytes_and_memory_is_shared(tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="anthropic/m") as proxy:
        raw = b'{"model": "near", "messages": [{"role": "user", "content": "Hm?"}], "n": 1e0}'
        assert (await proxy.post("/v1/chat/completions", raw))[0] == 200
        assert provider.last.body == raw
        provider.answer = scripted
        far = {"model": "far-m", "max_tokens": 9}
        await say(proxy, far, "one", "Remember: the boat is called Marigold and lies in Flensburg.")
        await proxy.learned()
        await say(proxy, far, "two", "Where does my boat lie, and what is it called?")
        assert provider.last.path == "/v1/messages" and b"Marigold" in provider.last.body


async def test_with_memory_off_a_model_is_reached_by_its_bridge_all_the_same(tmp_path: Path) -> None:
    path = "/v1/chat/completions"
    async with fake_provider() as provider, bridged(provider, tmp_path, "off", bridge="anthropic/m") as proxy:
        provider.answer = scripted
        status, reply, _ = await proxy.post(path, body(path, False), Authorization="Bearer own-key")
        assert status == 200 and heard(path, False, reply)[0] == "I look."
        assert provider.last.path == "/v1/messages"


async def say(proxy: Running, more: Mapping[str, Any], session: str, text: str) -> None:
    asked = {**more, "messages": [{"role": "user", "content": text}]}
    headers = {"x_session_id": session, "x_palimpsest_project": "boats", "Authorization": "Bearer k"}
    status, reply, _ = await proxy.post("/v1/chat/completions", asked, **headers)
    assert status == 200, reply


async def test_a_client_cannot_send_a_key_of_ours_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_KEY", "key-of-the-house")
    async with (
        fake_provider() as provider,
        fake_provider() as thief,
        bridged(provider, tmp_path, bridge="anthropic/*", key_from="FAR_KEY") as proxy,
    ):
        asked = body("/v1/messages", False, api_base=thief.url, base_url=thief.url, custom_llm_provider="openai")
        status, reply, _ = await proxy.post("/v1/messages", asked, x_api_key="own")
    assert status == 200, reply
    assert thief.requests == [] and orjson.loads(provider.last.body)["model"] == "far-m"
    assert {key.lower(): value for key, value in provider.last.headers.items()}["x-api-key"] == "key-of-the-house"


async def test_a_stranger_cannot_spend_a_key_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_KEY", "key-of-the-house")
    credentials = [{"key": "ann-key-1234", "user": "ann"}]
    async with fake_provider() as provider:
        provider.answer = scripted
        routes = [{"url": provider.url, "bridge": "anthropic/*", "key_from": "FAR_KEY"}]
        async with running(provider, tmp_path, upstream__routes=routes, credentials=credentials) as proxy:
            asked = body("/v1/messages", False)
            status, reply, _ = await proxy.post("/v1/messages", asked, x_api_key="whatever")
            assert status == 401 and b"x-palimpsest-key" in reply and provider.requests == []
            assert (await proxy.post("/v1/messages", asked, x_palimpsest_key="ann-key-1234"))[0] == 200
            assert (await proxy.post("/k/ann-key-1234/v1/messages", asked))[0] == 200


FAULTS = {
    429: ("rate_limit_error", "slow down, own-key"),
    500: ("api_error", "the engine has stopped"),
    400: ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
}
TOO_LONG = "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens."


async def test_a_bridge_is_not_for_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_KEY", "key-of-the-house")
    path, asked = "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Hello there."}]}
    async with fake_provider() as provider:
        routes = [{"model": "far-*", "url": provider.url, "bridge": "anthropic/*", "key_from": "FAR_KEY"}]
        async with running(provider, tmp_path, upstream__routes=routes) as proxy:
            proxy.edge.peers = Somebody()
            for refused in (asked | {"model": "far-1"}, {"model": "far-1"}):
                status, reply, _ = await proxy.post(path, refused)
                assert status == 401 and b"palimpsest connect" in reply
            assert (await proxy.post(path, asked))[0] == 200
            assert len(provider.requests) == 1


@pytest.mark.parametrize(("fault", "streamed"), [(429, True), (500, False), (400, True)])
@pytest.mark.parametrize(("path", "bridge", "asked"), PAIRS)
async def test_a_providers_refusal_comes_in_the_clients_format(
    path: str, bridge: str, asked: str, fault: int, streamed: bool, tmp_path: Path
) -> None:
    kind, words = FAULTS[fault]

    async def refuse(request: web.Request) -> web.StreamResponse:
        await request.read()
        if asked == "/v1/messages":
            told: dict[str, Any] = {"type": "error", "error": {"type": kind, "message": words}}
        else:
            code = "context_length_exceeded" if fault == 400 else None
            told = {"error": {"message": TOO_LONG if fault == 400 else words, "type": kind, "code": code}}
        return web.json_response(told, status=fault, headers={"retry-after": "7"})

    async with fake_provider() as provider:
        provider.answer = refuse
        async with bridged(provider, tmp_path, bridge=bridge) as proxy:
            status, reply, headers = await proxy.post(path, body(path, streamed), Authorization="Bearer own-key")
    assert status == fault and len(provider.requests) == 1 and b"own-key" not in reply
    error = orjson.loads(reply)["error"]
    said = error["message"]
    assert ("type" in orjson.loads(reply)) is (path == "/v1/messages")
    if fault != 400:
        assert said == words.replace("own-key", "(key)")
    elif path == "/v1/messages":
        assert (error["type"], said) == ("invalid_request_error", words)
    else:
        assert error["code"] == "context_length_exceeded" and "200000" in said and "210000" in said
    if fault == 429:
        assert headers.get("retry-after") == "7"


async def test_what_cannot_be_bridged_is_refused_with_the_place(tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="anthropic/m") as proxy:
        asked = {"model": "far-m", "input": "go on", "previous_response_id": "resp_1"}
        status, reply, _ = await proxy.post("/v1/responses", asked)
    assert status == 400 and orjson.loads(reply)["error"]["param"] == "previous_response_id"
    assert provider.requests == []


async def test_a_provider_that_is_not_there_is_tried_again_and_then_told(tmp_path: Path) -> None:
    async with fake_provider() as gone:
        url = gone.url
    routes = [{"model": "far-*", "url": url, "bridge": "anthropic/m"}]
    async with running(url, tmp_path, upstream__routes=routes, upstream__attempts=2) as proxy:
        status, reply, _ = await proxy.post("/v1/messages", body("/v1/messages", False), x_api_key="own-key")
    assert status == 502 and b"no connection for anthropic/m" in reply and b"own-key" not in reply


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/v1/chat/completions", {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest"}}),
        ("/v1/messages", {"type": "image", "source": {"type": "url", "url": "https://inside/a.png"}}),
        ("/v1/responses", {"type": "input_image", "image_url": "http://127.0.0.1:1/a.png"}),
        ("/v1/responses", {"type": "input_file", "file_url": "file:///etc/passwd"}),
    ],
)
async def test_nobody_has_this_machine_fetch_an_address(path: str, part: dict[str, Any], tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="anthropic/m") as proxy:
        place = "input" if path == "/v1/responses" else "messages"
        said = {"role": "user", "content": [part]}
        status, reply, _ = await proxy.post(path, body(path, False, **{place: [said]}), Authorization="Bearer k")
    assert status == 400 and b"as data only" in reply and provider.requests == []


async def test_an_address_in_words_or_in_a_tools_arguments_is_no_file(tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="hosted_vllm/m") as proxy:
        provider.answer = scripted
        used = {"type": "tool_use", "id": "t1", "name": "read", "input": {"type": "image", "url": "https://a/b"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "https://a/b has nothing"}
        asked = body("/v1/messages", False, messages=[
            {"role": "user", "content": "https://a/b"},
            {"role": "assistant", "content": [used]},
            {"role": "user", "content": [result]},
        ])  # fmt: skip
        status, reply, _ = await proxy.post("/v1/messages", asked, x_api_key="k")
    assert status == 200, reply
