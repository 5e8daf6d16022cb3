"""Which provider answers: nothing goes to a company that it was not meant for."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from proxy.errors import Refusal
from proxy.settings import UpstreamSettings
from proxy.upstream.direct import library_of
from proxy.upstream.routes import Api, api_of, base_for_path, base_of, companies_of_keys, company_of, depends_on_model
from tests.fake_provider import fake_provider
from tests.running import running

OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
OLLAMA = "http://127.0.0.1:11434"
GEMINI = "https://generativelanguage.googleapis.com"
DEFAULT = UpstreamSettings()
ROUTED = UpstreamSettings.model_validate(
    {
        "routes": [
            {"model": "local-*", "url": "http://127.0.0.1:1"},
            {"dialect": "openai-chat", "model": "gpt-*", "url": "http://127.0.0.1:2/v1/"},
            {"dialect": "anthropic-messages", "model": "claude-*", "url": "https://gateway.example"},
            {"dialect": "openai-responses", "model": "far-*", "bridge": "anthropic/*"},
        ]
    }
)
ANT, OAI, GOO = "sk-ant-api03-abc", "sk-proj-abc", "AIzaSyabc"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_the_first_route_that_fits_answers() -> None:
    assert base_of(ROUTED, "anthropic-messages", "local-7b", {}) == "http://127.0.0.1:1"
    assert base_of(ROUTED, "openai-chat", "gpt-9", {}) == "http://127.0.0.1:2/v1"
    assert base_of(ROUTED, "openai-responses", "gpt-9", {}) == OPENAI
    assert base_of(ROUTED, "anthropic-messages", "haiku", {}) == ANTHROPIC
    replaced = UpstreamSettings(url="http://127.0.0.1:3")
    assert base_of(replaced, "anthropic-messages", "claude", {}) == "http://127.0.0.1:3"
    assert base_for_path(replaced, "/v1/models", {}) == "http://127.0.0.1:3"
    assert base_for_path(replaced, "/api/chat", {}) == "http://127.0.0.1:3"


@pytest.mark.parametrize(
    ("path", "model", "base"),
    [
        ("/v1/embeddings", "local-e", "http://127.0.0.1:1"),
        ("/v1/completions", "local-c", "http://127.0.0.1:1"),
        ("/v1/messages/count_tokens", "local-7b", "http://127.0.0.1:1"),
        ("/v1/models/local-7b", "local-7b", "http://127.0.0.1:1"),
        ("/api/chat", "local-7b", "http://127.0.0.1:1"),
        ("/v1beta/models/local-7b:generateContent", "local-7b", "http://127.0.0.1:1"),
        ("/v1/embeddings", "gpt-e", "http://127.0.0.1:2/v1"),
        ("/v1/chat/completions/cmpl_1", "gpt-9", "http://127.0.0.1:2/v1"),
        ("/v1/responses/compact", "gpt-9", OPENAI),
        ("/v1/messages/count_tokens", "claude-x", "https://gateway.example"),
        ("/v1/messages/count_tokens", "gpt-9", ANTHROPIC),
        ("/v1/embeddings", "claude-x", OPENAI),
        ("/v1/embeddings", "", OPENAI),
    ],
)
def test_routes_hold_for_every_path(path: str, model: str, base: str) -> None:
    assert base_for_path(ROUTED, path, {}, model) == base


@pytest.mark.parametrize(
    ("path", "headers", "base"),
    [
        ("/v1/models", {}, OPENAI),
        ("/v1/models", {"x-api-key": "k"}, ANTHROPIC),
        ("/v1/models", {"anthropic-version": "2023-06-01"}, ANTHROPIC),
        ("/v1/models", bearer(ANT), ANTHROPIC),
        ("/v1/models", {"x-api-key": OAI}, OPENAI),
        ("/v1/files", bearer(ANT), ANTHROPIC),
        ("/", {"user-agent": "claude-cli/2.1"}, ANTHROPIC),
        ("/v1/models", {"x-goog-api-key": "AQ.new"}, GEMINI),
        ("/v1beta/models", {}, GEMINI),
        ("/v1beta/models/gemini-3:countTokens?key=" + GOO, {}, GEMINI),
        ("/v1beta/models/gemini-3:embedContent", {"x-goog-api-key": GOO}, GEMINI),
        ("/v1/models/gemini-3%3AgenerateContent", {}, GEMINI),
        ("/v1beta/cachedContents/abc", {"x-goog-api-key": GOO}, GEMINI),
        ("/api/tags", {}, OLLAMA),
        ("/api/generate", {}, OLLAMA),
        ("/", {}, OPENAI),
        ("/v1/messages/batches", {}, ANTHROPIC),
        ("/v1/responses/resp_1", bearer(OAI), OPENAI),
        ("/api/hello", {}, ANTHROPIC),
        ("/api/event_logging/batch", {}, ANTHROPIC),
        ("/api/anything", {"user-agent": "claude-cli/2.1 (external)"}, ANTHROPIC),
    ],
)
def test_a_path_of_both_goes_where_its_key_and_headers_say(path: str, headers: dict[str, str], base: str) -> None:
    assert base_for_path(DEFAULT, path, headers) == base


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/chat",
        "/v1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent",
        "/v1internal:generateContent",
        "/api/whatever",
        "/model/anthropic.claude/invoke",
        "/v2/rerank",
        "/anything",
    ],
)
def test_an_api_that_is_not_known_is_refused_and_not_guessed(path: str) -> None:
    for headers in ({}, {"x-goog-api-key": GOO}, bearer(OAI)):
        with pytest.raises(Refusal) as refused:
            base_for_path(UpstreamSettings(openai="http://127.0.0.1:11434/v1"), path, headers, "m")
        assert refused.value.status == 501 and "upstream.url" in refused.value.message


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/v1/embeddings", bearer(ANT)),
        ("/v1/embeddings?key=" + GOO, {}),
        ("/v1/messages/count_tokens", {"x-api-key": OAI}),
        ("/v1/models", bearer(GOO)),
        ("/v1/models", bearer("sk-or-v1-abc")),
        ("/v1beta/models/gemini-3:countTokens", {"x-goog-api-key": OAI}),
        ("/v1beta/models/gemini-3:countTokens?key=" + ANT, {}),
        ("/v1beta/models", bearer(OAI)),
        ("/v1/embeddings", {"x-goog-api-key": "of no known form"}),
        ("/v1/models", {"x-api-key": ANT, "authorization": f"Bearer {OAI}"}),
    ],
)
def test_a_key_of_another_company_is_not_sent(path: str, headers: dict[str, str]) -> None:
    with pytest.raises(Refusal) as refused:
        base_for_path(DEFAULT, path, headers)
    assert refused.value.status == 401
    assert not any(key in refused.value.message for key in (ANT, OAI, GOO))


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/models", "/v1/messages/count_tokens", "/v1beta/models"])
@pytest.mark.parametrize(
    ("key", "whose"),
    [
        ("nvapi-abc", "NVIDIA"),
        ("pplx-abc", "Perplexity"),
        ("ghp_abc", "GitHub"),
        ("github_pat_abc", "GitHub"),
        ("gsk_abc", "Groq"),
        ("xai-abc", "xAI"),
        ("hf_abc", "Hugging Face"),
        ("api_org_" + "Ab" * 17, "Hugging Face"),
        ("r8_abc", "Replicate"),
        ("sk-lf-abc", "Langfuse"),
        ("csk-abc", "Cerebras"),
        ("xoxb-" + "1" * 24, "slack"),
        ("AKIA" + "A2" * 8, "aws"),
        ("npm_" + "a1" * 18, "npm"),
        ("sk_live_" + "a1" * 12, "stripe"),
    ],
)
def test_a_key_that_names_its_owner_is_sent_to_nobody_else_by_default(key: str, whose: str, path: str) -> None:
    for headers in (bearer(key), {"x-api-key": key}, {"api-key": key}):
        with pytest.raises(Refusal, match=f"a key of {whose}") as refused:
            base_for_path(DEFAULT, path, headers)
        assert (refused.value.status, key in refused.value.message) == (401, False)
        for dialect in ("openai-chat", "openai-responses", "anthropic-messages"):
            with pytest.raises(Refusal):
                base_of(DEFAULT, dialect, "m", headers)
    elsewhere = UpstreamSettings(url="https://gateway.example")
    assert base_for_path(elsewhere, path, bearer(key)) == "https://gateway.example"


@pytest.mark.parametrize("key", ["of-no-known-form", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "doc-1", "test_key"])
def test_a_key_that_names_nobody_goes_where_its_path_goes(key: str) -> None:
    assert base_for_path(DEFAULT, "/v1/embeddings", bearer(key)) == OPENAI
    assert base_of(DEFAULT, "openai-chat", "m", bearer(key)) == OPENAI


def test_a_key_goes_where_the_settings_say() -> None:
    for key, url in (("nvapi-abc", "https://integrate.api.nvidia.com/v1"), ("ghp_abc", "https://models.github.ai")):
        assert base_for_path(UpstreamSettings(openai=url), "/v1/embeddings", bearer(key)) == url


def test_geminis_requests_go_to_google_with_googles_keys_alone() -> None:
    path = "/v1beta/models/gemini-3:generateContent"
    assert base_of(DEFAULT, "gemini-generate", "gemini-3", {"x-goog-api-key": GOO}, path) == GEMINI
    local = UpstreamSettings(gemini="http://127.0.0.1:1")
    assert base_of(local, "gemini-generate", "gemini-3", {}, path) == "http://127.0.0.1:1"
    for settings, headers in ((DEFAULT, bearer(OAI)), (UpstreamSettings(url=OPENAI), {"x-goog-api-key": "AQ.x"})):
        with pytest.raises(Refusal):
            base_of(settings, "gemini-generate", "gemini-3", headers, path)
    with pytest.raises(Refusal):
        base_of(DEFAULT, "gemini-generate", "gemini-3", {}, "/v1/projects/p/models/gemini-3:generateContent")


def test_ollamas_prompts_stay_on_this_machine_unless_a_route_names_them() -> None:
    far = {"url": "https://far.example"}
    for settings in (UpstreamSettings(url="https://far.example"), UpstreamSettings.model_validate({"routes": [far]})):
        assert base_of(settings, "ollama-chat", "qwen3", {}, "/api/chat") == OLLAMA
        assert base_for_path(settings, "/api/generate", {}, "qwen3") == OLLAMA
    for near in ("http://localhost:3", "http://127.0.0.1:3", "http://[::1]:3"):
        assert base_of(UpstreamSettings(url=near), "ollama-chat", "qwen3", {}, "/api/chat") == near
    named = UpstreamSettings.model_validate({"routes": [{**far, "dialect": "ollama-chat"}]})
    assert base_of(named, "ollama-chat", "qwen3", {}, "/api/chat") == "https://far.example"


def test_the_dialects_are_held_to_their_keys_too() -> None:
    assert base_of(DEFAULT, "openai-chat", "claude", bearer(ANT)) == ANTHROPIC
    assert (
        base_of(UpstreamSettings(openai="http://127.0.0.1:1"), "openai-chat", "m", bearer(ANT)) == "http://127.0.0.1:1"
    )
    for settings, dialect, key in (
        (DEFAULT, "openai-responses", ANT),
        (DEFAULT, "anthropic-messages", OAI),
        (DEFAULT, "openai-chat", GOO),
        (UpstreamSettings(url=OPENAI), "openai-chat", ANT),
    ):
        with pytest.raises(Refusal):
            base_of(settings, dialect, "m", bearer(key))


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("openai-chat", "/openai/deployments/gpt/chat/completions?api-version=1"),
        ("openai-chat", "/inference/v1/chat/completions"),
        ("openai-chat", "/api/v1/chat/completions"),
        ("openai-responses", "/openai/v1/responses"),
        ("anthropic-messages", "/anthropic/v1/messages"),
    ],
)
def test_another_providers_path_is_not_sent_to_the_defaults(dialect: str, path: str) -> None:
    with pytest.raises(Refusal) as refused:
        base_of(DEFAULT, dialect, "m", {"api-key": "whatever"}, path)
    assert refused.value.status == 501
    own = UpstreamSettings(openai="http://127.0.0.1:1", anthropic="http://127.0.0.1:1")
    routed = UpstreamSettings.model_validate({"routes": [{"url": "http://127.0.0.1:1"}]})
    for settings in (own, routed, UpstreamSettings(url="http://127.0.0.1:1")):
        assert base_of(settings, dialect, "m", {}, path) == "http://127.0.0.1:1"


def test_what_only_a_bridge_reaches_is_not_sent_elsewhere() -> None:
    with pytest.raises(Refusal) as refused:
        base_for_path(ROUTED, "/v1/responses/compact", {}, "far-1")
    assert refused.value.status == 501


def test_companies_are_known_by_keys_and_hosts() -> None:
    told = {"authorization": "bearer  sk-1", "x-goog-api-key": GOO, "api-key": "whatever"}
    assert companies_of_keys(told) == {"OpenAI", "Google"}
    assert companies_of_keys({}) == frozenset()
    assert company_of("https://eu.api.openai.com/v1") == "OpenAI"
    assert company_of("https://openai.com.evil.example") == company_of("https://notopenai.com") == ""


def test_the_body_is_asked_for_its_model_only_where_a_route_may_depend_on_it() -> None:
    assert not depends_on_model(DEFAULT, "/v1/embeddings", {})
    assert depends_on_model(ROUTED, "/v1/embeddings", {})
    only_messages = UpstreamSettings.model_validate(
        {"routes": [{"model": "c*", "dialect": "anthropic-messages", "url": "http://127.0.0.1:1"}]}
    )
    assert not depends_on_model(only_messages, "/v1/embeddings", {})
    assert api_of("/v1", {}) is Api.EITHER and api_of("/openai/deployments/x/embeddings", {}) is Api.UNKNOWN


FORM = b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nlocal-whisper\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/v1/embeddings", b'{"input": "x", "model": "local-e"}', {}),
        ("/v1/completions", b'{"model": "local-c", "prompt": "x"}', {}),
        ("/v1/embeddings", gzip.compress(b'{"model": "local-e"}', mtime=0), {"Content_Encoding": "gzip"}),
        ("/v1/audio/transcriptions", FORM, {"Content_Type": "multipart/form-data; boundary=b"}),
        ("/v1/messages/count_tokens", b'{"model": "local-7b"}', {"anthropic_version": "1"}),
        ("/api/generate", b'{"model": "local-7b", "messages": []}', {}),
    ],
)
async def test_a_passed_request_takes_the_route_of_its_model(
    path: str, body: bytes, headers: dict[str, str], tmp_path: Path
) -> None:
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            status, _, told = await proxy.post(path, body, **headers)
            assert status == 200 and told["x-palimpsest-status"].startswith("passed; ")
            assert local.last.body == body and other.requests == []
            await proxy.post(path, body.replace(b"local-", b"other-"), **headers)
            assert len(other.requests) == (0 if "Content_Encoding" in headers else 1)


SAID = '"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1'
LAX = {
    "not a number": '{"model": "local-1", "temperature": NaN, %s}',
    "no bounds": '{%s, "model": "local-1", "x": -Infinity}',
    "a mark before it": '\ufeff{"model": "local-1", %s}',
    "beyond a double": '{"model": "local-1", "x": 1e99999, %s}',
    "half a pair": '{"model": "local-1", "x": "\\ud800", %s}',
    "a name in escapes": '{"mod\\u0065l": "local-1", "x": NaN, %s}',
}
READ_BY_FEW = {
    "a comma too many": '{"model": "local-1", %s,}',
    "deep": '{"model": "local-1", "x": ' + "[" * 5000 + "]" * 5000 + ", %s}",
    "a leading zero": '{"model": "local-1", "x": 01, %s}',
}
BROKEN = {
    "cut": '{"model": "local-1", %s',
    "cut in a string": '{"model": "local-1", %s, "x": "a',
    "two of them": '{"model": "local-1", %s} {}',
    "other quotes": "{'model': 'local-1', %s}",
    "a model that is no text": '{"model": ["local-1"], %s}',
    "a form": "model=local-1",
}
ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings", "/v1/messages/count_tokens"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_body_of_a_lax_kind_takes_its_route_or_none(path: str, encoding: str, tmp_path: Path) -> None:
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            for kind, text in {**LAX, **READ_BY_FEW}.items():
                text = text.replace("%s", SAID)
                body = text.encode() if encoding == "utf-8" else text.lstrip("\ufeff").encode(encoding)
                before = len(local.requests)
                status, reply, _ = await proxy.post(path, body)
                if status == 400 and kind in READ_BY_FEW:
                    continue
                assert status == 200 and len(local.requests) > before and local.last.body == body, (kind, reply)
            assert other.requests == []


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_body_that_cannot_be_read_goes_nowhere_where_its_model_decides(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider:
        routes = [{"model": "local-*", "url": "http://127.0.0.1:9"}]
        async with running(provider, tmp_path, upstream__routes=routes) as proxy:
            for kind, text in BROKEN.items():
                status, reply, headers = await proxy.post(path, text.replace("%s", SAID).encode())
                error = orjson.loads(reply)
                assert status == 400 and headers["x-palimpsest-status"] == "refused; 400", (kind, reply)
                assert error.get("type", "error") == "error" and error["error"]["message"], kind
                assert ("type" in error) == ("/messages" in path)
            for kind in ("multipart/form-data", "multipart/form-data; boundary=b"):
                status, _, _ = await proxy.post("/v1/embeddings", b"\x89 local-1", Content_Type=kind)
                assert status == 400
            assert provider.requests == []
            status, _, _ = await proxy.post("/v1/files", b"\x89 local-1", Content_Type="image/png")
            assert status == 200 and provider.last.body == b"\x89 local-1"


OCTETS = "application/octet-stream"


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/v1/realtime/calls", "application/sdp", b"v=0"),
        ("/api/blobs/sha256:00", OCTETS, b"GGUF\x00"),
        ("/api/blobs/sha256:00", "application/json", b"GGUF\x00"),
        ("/api/oauth/token", "application/x-www-form-urlencoded", b"grant_type=refresh_token&refresh_token=r"),
        ("/api/event_logging/batch", "application/json", b'[{"event": "started"}]'),
        ("/v1/audio/transcriptions", "audio/wav", b"RIFF\x00"),
        ("/v1/embeddings", OCTETS, b"\x89 local-1"),
        ("/v1beta/batches", "application/json", b'{"requests": {"requests": []}}'),
    ],
)
async def test_a_body_that_names_no_model_goes_to_the_default(
    path: str, kind: str, body: bytes, tmp_path: Path
) -> None:
    async with fake_provider() as provider:
        elsewhere = {"model": "claude-*", "url": "http://127.0.0.1:9"}
        routes = [elsewhere, {**elsewhere, "dialect": "ollama-chat"}]
        async with running(provider, tmp_path, upstream__routes=routes) as proxy:
            status, reply, headers = await proxy.post(path, body, Content_Type=kind)
            assert status == 200 and headers["x-palimpsest-status"].startswith("passed; "), reply
            assert provider.last.body == body


@pytest.mark.parametrize("path", ENDPOINTS[:3])
async def test_a_request_of_a_dialect_takes_its_route_whatever_kind_it_says_it_is_of(path: str, tmp_path: Path) -> None:
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            for text in ('{"model": "local-1", %s}', '{"model": "local-1", "x": NaN, %s}'):
                body = text.replace("%s", SAID).encode()
                assert (await proxy.post(path, body, Content_Type=OCTETS))[0] == 200
                assert local.last.body == body and other.requests == []


@pytest.mark.parametrize("kind", [OCTETS, ""])
async def test_json_that_does_not_say_what_it_is_takes_its_route_on_any_path(kind: str, tmp_path: Path) -> None:
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            for text in (b' {"model": "local-1", "input": "a"}', b'{"input": NaN, "model": "local-1"}'):
                assert (await proxy.post("/v1/embeddings", text, Content_Type=kind))[0] == 200
                assert local.last.body == text and other.requests == []
            packed = gzip.compress(b'{"model": "local-1"}')
            sent = await proxy.post("/v1/embeddings", packed, Content_Type=kind, Content_Encoding="gzip")
            assert sent[0] == 200 and local.last.body == packed and other.requests == []


async def test_a_body_of_a_kind_that_names_no_model_is_passed_on_while_it_comes(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        routes = [{"model": "local-*", "url": "http://127.0.0.1:9"}]
        async with running(provider, tmp_path, upstream__routes=routes, server__max_body_mib=1) as proxy:
            largest = 2**20
            status, _, _ = await proxy.post("/v1/realtime/calls", b"x" * (largest + 1), Content_Type=OCTETS)
            assert status == 200 and len(provider.last.body) == largest + 1


async def test_a_batch_goes_where_the_models_of_its_requests_go(tmp_path: Path) -> None:
    def batch(*models: str) -> bytes:
        return orjson.dumps({"requests": [{"custom_id": "1", "params": {"model": model}} for model in models]})

    path = "/v1/messages/batches"
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": model, "url": local.url} for model in ("local-*", "near-*")]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            body = batch("local-1", "local-2", "near-1")
            assert (await proxy.post(path, body))[0] == 200 and local.last.body == body
            for mixed in (batch("local-1", "claude-1"), body.replace(b'"model"', b'"Model"', 1)):
                status, reply, _ = await proxy.post(path, mixed)
                assert status == 400 and b"different providers" in reply
            assert len(local.requests) == 1 and other.requests == []
            assert (await proxy.post(path, batch("claude-1", "claude-2")))[0] == 200
            assert (await proxy.post("/v1/batches", b'{"input_file_id": "f"}'))[0] == 200
            assert len(other.requests) == 2


async def test_a_model_in_the_path_or_the_query_takes_its_route(tmp_path: Path) -> None:
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            body = b'{"messages": [{"role": "user", "content": "hi"}]}'
            sdp = {"Content_Type": "application/sdp"}
            for path, said, headers in (
                ("/v1/realtime?model=local-1", b"v=0", sdp),
                ("/v1/realtime/calls?x=1&mod%65l=local-1", b"v=0", sdp),
                ("/v1/embeddings?model=local-1", b'{"input": "x"}', {}),
                ("/v1/chat/completions?model=local-1", body, {}),
                ("/openai/deployments/local-1/chat/completions", body, {}),
                ("/openai/deployments/local-1/chat/completions", b'{"model": "gpt-9", ' + body[1:], {}),
                ("/openai/deployments/local-1/embeddings?api-version=1", b'{"input": "x"}', {}),
            ):
                assert (await proxy.post(path, said, **headers))[0] == 200
                assert (local.last.path, local.last.body, other.requests) == (path.replace("%65", "e"), said, []), path
            async with proxy.client.get(f"{proxy.url}/v1/realtime?model=local-1") as reply:
                assert reply.status == 200
            assert (local.last.method, local.last.path) == ("GET", "/v1/realtime?model=local-1")
            before = len(local.requests)
            for path in ("/v1/chat/completions?model=local-1", "/v1/embeddings?model=other-1&model=local-1"):
                status, told, _ = await proxy.post(path, b'{"model": "other-1", ' + body[1:])
                assert status == 400 and b"different providers" in told, path
            assert len(local.requests) == before and other.requests == []


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_a_body_that_nobody_reads_is_passed_on_aloud_and_not_guessed_a_route(path: str, tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path / "plain") as proxy:
            status, _, headers = await proxy.post(path, b"unread", Content_Encoding="compress")
            assert status == 200 and provider.last.body == b"unread"
            assert headers["x-palimpsest-status"].startswith("passed; ")
        routes = [{"model": "local-*", "url": "http://127.0.0.1:9"}]
        async with running(provider, tmp_path / "routed", upstream__routes=routes) as proxy:
            status, reply, _ = await proxy.post(path, b"unread", Content_Encoding="compress")
            assert status == 415 and "'compress'" in orjson.loads(reply)["error"]["message"]
        assert len(provider.requests) == 1


@pytest.mark.parametrize("encoding", ["zstd", "br"])
async def test_a_body_in_zstd_or_brotli_takes_its_route_and_gets_memory(encoding: str, tmp_path: Path) -> None:
    library = library_of(encoding)
    assert library is not None
    said = {"model": "local-1", "messages": [{"role": "user", "content": "hi"}]}
    body = library.compress(orjson.dumps(said))
    async with fake_provider() as local, fake_provider() as other:
        routes = [{"model": "local-*", "url": local.url}]
        async with running(other, tmp_path, upstream__routes=routes) as proxy:
            _, _, headers = await proxy.post("/v1/chat/completions", body, Content_Encoding=encoding)
            assert headers["x-palimpsest-status"] == "untouched"
            assert local.last.body == body and local.last.headers["Content-Encoding"] == encoding
            assert other.requests == []


def test_local_paths_that_lead_to_a_company_carry_no_other_companys_key() -> None:
    far = UpstreamSettings.model_validate({"ollama": "https://api.groq.com/x"})
    with pytest.raises(Refusal):
        base_for_path(far, "/api/generate", bearer(ANT))


@pytest.mark.parametrize("key", ["AQ.Ab8RN6Kabc", "ya29.a0AfH6SMabc", GOO])
def test_googles_keys_and_tokens_never_go_to_another_company(key: str) -> None:
    with pytest.raises(Refusal):
        base_for_path(DEFAULT, "/v1/embeddings", bearer(key))


def test_a_parameter_called_key_is_googles_on_googles_paths_only() -> None:
    assert base_for_path(DEFAULT, "/v1/embeddings?key=t1", bearer(OAI)) == OPENAI
    assert companies_of_keys({}, "/v1beta/models?key=t1") == {"Google"}


def test_uploads_of_googles_are_googles() -> None:
    assert api_of("/upload/v1beta/files", {}) is Api.GEMINI
