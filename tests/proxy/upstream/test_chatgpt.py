"""Codex logged in with ChatGPT: its requests reach its own host and path, and no credential reaches another's."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import orjson
import pytest

from proxy.errors import Refusal
from proxy.setting_sources import SettingsError
from proxy.settings import UpstreamSettings, load
from proxy.upstream.direct import address
from proxy.upstream.routes import base_for_path, base_of, companies_of_keys
from tests.fake_provider import fake_provider
from tests.running import running

CHATGPT, OPENAI = "https://chatgpt.com/backend-api/codex", "https://api.openai.com/v1"
ACCOUNT = "chatgpt-account-id"


def token(claim: str = "https://api.openai.com/auth") -> str:
    said = [{"alg": "RS256"}, {"iss": "https://auth.openai.com", claim: {"chatgpt_plan_type": "plus"}}]
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in said]
    return ".".join([*parts, "signature"])


LOGIN = {"authorization": f"Bearer {token()}", ACCOUNT: "acct-1"}
KEY = {"authorization": "Bearer sk-proj-abc"}
DEFAULT = UpstreamSettings()


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("/v1/responses", f"{CHATGPT}/responses"),
        ("/v1/responses/compact", f"{CHATGPT}/responses/compact"),
        ("/v1/models?client_version=0.169.0", f"{CHATGPT}/models?client_version=0.169.0"),
        ("/v1/memories/trace_summarize", f"{CHATGPT}/memories/trace_summarize"),
        ("/v1/alpha/search", f"{CHATGPT}/alpha/search"),
        ("/v1/images/generations", f"{CHATGPT}/images/generations"),
        ("/responses", f"{CHATGPT}/responses"),
        ("/alpha/search", f"{CHATGPT}/alpha/search"),
    ],
)
def test_a_login_reaches_the_paths_that_codex_asks_for_without_a_version(path: str, whole: str) -> None:
    assert address(base_for_path(DEFAULT, path, LOGIN), path) == whole
    if path.endswith("/responses"):
        assert address(base_of(DEFAULT, "openai-responses", "gpt-5", LOGIN, path), path) == whole


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/chat/completions", "/v1/files", "/v1/fine_tuning/jobs", "/x"])
def test_what_the_logins_host_does_not_have_is_refused_and_goes_nowhere(path: str) -> None:
    with pytest.raises(Refusal) as refused:
        base_for_path(DEFAULT, path, LOGIN)
    assert refused.value.status == 501 and "API key" in refused.value.message


def test_a_key_goes_to_openai_whatever_account_is_named_beside_it() -> None:
    for headers in (KEY, {**KEY, ACCOUNT: "acct-1"}):
        assert base_of(DEFAULT, "openai-responses", "gpt-5", headers, "/v1/responses") == OPENAI
        assert base_for_path(DEFAULT, "/v1/models", headers) == OPENAI


def test_a_login_is_known_by_its_account_or_by_its_token_alone() -> None:
    for headers in (LOGIN, {"authorization": f"Bearer {token()}"}, {"authorization": "Bearer opaque", ACCOUNT: "a"}):
        assert companies_of_keys(headers) == {"ChatGPT"}
    for other in ("opaque", token("https://gateway.example/auth"), "eyJ.%%.x", "eyJhbGciOiJub25lIn0.x", ""):
        assert companies_of_keys({"authorization": f"Bearer {other}"}) == frozenset()


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({"url": OPENAI}, LOGIN),
        ({"routes": [{"url": "https://api.anthropic.com"}]}, LOGIN),
        ({"url": CHATGPT}, KEY),
        ({"openai": CHATGPT}, KEY),
        ({"chatgpt": "http://127.0.0.1:9/backend-api/codex"}, {**LOGIN, "x-api-key": "sk-proj-abc"}),
        ({}, {**LOGIN, "api-key": "sk-proj-abc"}),
    ],
)
def test_no_login_goes_to_another_company_and_no_key_to_the_logins_host(
    settings: dict[str, object], headers: dict[str, str]
) -> None:
    chosen = UpstreamSettings.model_validate(settings)
    with pytest.raises(Refusal) as refused:
        base_of(chosen, "openai-responses", "gpt-5", headers, "/v1/responses")
    assert refused.value.status == 401 and "sk-" not in refused.value.message
    with pytest.raises(Refusal):
        base_for_path(chosen, "/v1/models", headers)


def test_a_login_does_not_go_to_anthropic_with_anthropics_format() -> None:
    with pytest.raises(Refusal):
        base_of(DEFAULT, "anthropic-messages", "claude", LOGIN, "/v1/messages")


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
def test_a_login_goes_to_no_default_but_its_own_in_whichever_header_it_comes(header: str) -> None:
    own = {key: f"https://{key}.gateway.example/v1" for key in ("openai", "anthropic", "gemini", "ollama")}
    headers = {header: f"Bearer {token()}" if header == "authorization" else token()}
    assert companies_of_keys(headers) == {"ChatGPT"}
    for settings in (DEFAULT, UpstreamSettings.model_validate(own)):
        assert base_of(settings, "openai-responses", "gpt-5", headers, "/v1/responses") == CHATGPT
        for dialect, path in (
            ("openai-chat", "/v1/chat/completions"),
            ("anthropic-messages", "/v1/messages"),
            ("gemini-generate", "/v1beta/models/g:generateContent"),
            ("ollama-chat", "/api/chat"),
        ):
            with pytest.raises(Refusal) as refused:
                base_of(settings, dialect, "m", headers, path)
            assert refused.value.status in (401, 501) and token() not in refused.value.message
            with pytest.raises(Refusal):
                base_for_path(settings, path, headers)
    route = {"url": "https://mine.example/v1", "dialect": "anthropic-messages"}
    for mine in ({"url": route["url"]}, {"routes": [route]}):
        chosen = UpstreamSettings.model_validate(mine)
        assert base_of(chosen, "anthropic-messages", "m", headers, "/v1/messages") == route["url"]


def test_the_address_of_logins_is_one_that_has_no_version() -> None:
    with pytest.raises(SettingsError, match="backend-api/codex"):
        load(options={"upstream.chatgpt": "https://chatgpt.com/v1"})


async def test_codexs_requests_arrive_with_their_own_bytes_and_headers(tmp_path: Path) -> None:
    body = b'{"model":"gpt-5","store":false,"stream":true,"input":[{"type":"message","role":"user","content":'
    body += b'[{"type":"input_text","text":"hello"}]}],"n":1e0}'
    async with fake_provider() as chatgpt, fake_provider() as api:
        upstream = {"upstream__url": None, "upstream__openai": f"{api.url}/v1"}
        here = {**upstream, "upstream__chatgpt": f"{chatgpt.url}/backend-api/codex"}
        async with running(api, tmp_path, **here) as proxy:
            sent = {"Authorization": LOGIN["authorization"], "chatgpt_account_id": "acct-1", "originator": "codex_exec"}
            status, reply, _ = await proxy.post("/p/loom/v1/responses", body, **sent, session_id="s-1")
            assert status == 200 and b"response.completed" in reply and api.requests == []
            assert chatgpt.last.path == "/backend-api/codex/responses"
            assert hashlib.sha256(chatgpt.last.body).digest() == hashlib.sha256(body).digest()
            came = {name.lower(): value for name, value in chatgpt.last.headers.items()}
            assert came["authorization"] == LOGIN["authorization"]
            assert (came[ACCOUNT], came["originator"], came["session-id"]) == ("acct-1", "codex_exec", "s-1")
            async with proxy.client.get(f"{proxy.url}/v1/models?client_version=1", headers=LOGIN) as listed:
                assert listed.status == 200
            assert chatgpt.last.path == "/backend-api/codex/models?client_version=1" and api.requests == []
            await proxy.post("/v1/responses", body, **KEY)
            assert api.last.path == "/v1/responses" and len(chatgpt.requests) == 2


async def test_memory_is_added_to_what_a_login_says_and_its_tools_are_never_offered(tmp_path: Path) -> None:
    lesson, question = "We always deploy the loom from the release branch.", "From which branch do we deploy the loom?"

    def asked(*texts: str) -> dict[str, object]:
        tools = [{"type": "function", "name": "exec_command", "parameters": {"type": "object"}}]
        turns = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": t}]} for t in texts]
        return {"model": "gpt-5", "store": False, "tools": tools, "input": turns}

    async with fake_provider() as chatgpt:
        here = {"upstream__url": None, "upstream__chatgpt": f"{chatgpt.url}/backend-api/codex"}
        async with running(chatgpt, tmp_path, memory__tools__offer=True, **here) as proxy:
            sent = {"authorization": LOGIN["authorization"], "chatgpt_account_id": "acct-1"}
            await proxy.post("/p/loom/v1/responses", asked(lesson), **sent, session_id="s-1")
            await proxy.learned()
            await proxy.post("/p/loom/v1/responses", asked(question), **sent, session_id="s-2")
            body = orjson.loads(chatgpt.last.body)
            assert chatgpt.last.path == "/backend-api/codex/responses" and "release branch" in str(body["input"])
            assert [tool["name"] for tool in body["tools"]] == ["exec_command"]


@pytest.mark.litellm
async def test_a_bridge_and_a_policy_hold_for_logins(tmp_path: Path) -> None:
    body = {"model": "far-1", "input": "Hi"}
    sent = {"authorization": LOGIN["authorization"], "chatgpt_account_id": "acct-1"}
    route = {"model": "far-*", "dialect": "openai-responses", "bridge": "openai/*"}
    async with fake_provider() as provider:
        async with running(provider, tmp_path / "bridge", upstream__routes=[route]) as proxy:
            status, reply, _ = await proxy.post("/v1/responses", body, **sent)
            assert status == 401 and b"key_from" in reply
        policies = {"memory.policies": {"*": {"upstreams": ["https://api.openai.com"]}}, "upstream.url": None}
        async with running(provider, tmp_path / "policy", **policies) as proxy:
            status, reply, _ = await proxy.post("/v1/responses", body, **sent)
            assert status == 403 and b"chatgpt.com" in reply
        assert provider.requests == []
