"""Requests as traces: by the conventions, with no text of anybody's, and with nothing of it where it is off."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from proxy.tracing import NoTraces, OpenTelemetryTraces, TracesMissing, opened
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

ROOT = Path(__file__).parent.parent.parent
QUESTION = "Which database did we choose for the billing service?"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as served:
        yield served


@pytest_asyncio.fixture
async def proxy(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(provider, tmp_path) as started:
        yield started


@pytest.fixture
def spans(proxy: Running) -> InMemorySpanExporter:
    told = InMemorySpanExporter()
    sdk = TracerProvider()
    sdk.add_span_processor(SimpleSpanProcessor(told))
    proxy.edge.traces = OpenTelemetryTraces(sdk.get_tracer("palimpsest"), sdk.shutdown)
    return told


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    [span] = spans.get_finished_spans()
    return span


async def test_a_request_is_told_by_the_conventions_and_without_its_text(
    proxy: Running, provider: FakeProvider, spans: InMemorySpanExporter
) -> None:
    await proxy.chat("We decided to use PostgreSQL 16 for the billing service.", session="s0", stream=True)
    await proxy.learned()
    spans.clear()
    await proxy.chat(QUESTION, session="s1", stream=True)
    span = only(spans)
    assert (span.name, span.kind, span.status.status_code) == ("chat m", SpanKind.CLIENT, StatusCode.UNSET)
    told = dict(span.attributes or {})
    assert told["gen_ai.operation.name"] == "chat" and told["gen_ai.provider.name"] == "openai"
    assert told["gen_ai.request.model"] == "m" and told["http.response.status_code"] == 200
    assert int(str(told["palimpsest.added_tokens"])) > 0
    assert str(told["palimpsest.status"]).startswith("remembered")
    [session] = (await proxy.edge.memory.journal.latest(1)) if proxy.edge.memory else []
    assert told["gen_ai.conversation.id"] == session[0].id
    assert told["gen_ai.response.finish_reasons"] == ("stop",)
    assert "PostgreSQL" not in str(told) and "billing" not in str(told) and not span.events


async def test_it_belongs_to_the_clients_trace_and_the_header_goes_on_as_it_is(
    proxy: Running, provider: FakeProvider, spans: InMemorySpanExporter
) -> None:
    body = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
    await proxy.post("/v1/messages", body, traceparent=PARENT)
    span = only(spans)
    assert span.parent is not None and f"{span.parent.trace_id:032x}" == PARENT.split("-")[1]
    assert (span.attributes or {})["gen_ai.provider.name"] == "anthropic"
    assert provider.last.headers["traceparent"] == PARENT
    spans.clear()
    await proxy.post("/v1/messages", body, traceparent="no trace")
    assert only(spans).parent is None


async def test_what_fails_is_told_as_failed(
    proxy: Running, provider: FakeProvider, spans: InMemorySpanExporter
) -> None:
    async def full(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "too many"}}, status=429)

    provider.answer = full
    status, _, _ = await proxy.post("/v1/chat/completions", {"model": "m", "messages": []})
    span = only(spans)
    assert (status, span.status.status_code) == (429, StatusCode.ERROR)
    assert (span.attributes or {})["error.type"] == "429"
    spans.clear()
    await proxy.post("/v1/chat/completions", {"model": "m", "messages": "none, and a secret"})
    assert "secret" not in str(only(spans).attributes) and "secret" not in str(only(spans).status.description)


async def test_a_collector_that_is_away_costs_no_request(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path / "on", server__traces=True) as proxy:
        assert isinstance(proxy.edge.traces, OpenTelemetryTraces)
        await proxy.chat("Hi.")


async def test_a_collector_is_told_over_otlp(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[ExportTraceServiceRequest]()

    async def take(request: web.Request) -> web.Response:
        told.append(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response(body=ExportTraceServiceResponse().SerializeToString())

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        async with running(provider, tmp_path, server__traces=True) as proxy:
            await proxy.chat("Hello there.")
            body = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}
            await proxy.post("/v1beta/models/gemini-3:generateContent", body, traceparent=PARENT)
    finally:
        await runner.cleanup()
    resources = [each for request in told for each in request.resource_spans]
    attributes = {each.key: each.value.string_value for each in resources[0].resource.attributes}
    assert attributes["service.name"] == "palimpsest"
    chat, gemini = sorted(
        (span for each in resources for scope in each.scope_spans for span in scope.spans), key=lambda span: span.name
    )
    assert (chat.name, gemini.name) == ("chat m", "generate_content gemini-3")
    assert gemini.trace_id.hex() == PARENT.split("-")[1] and gemini.parent_span_id.hex() == PARENT.split("-")[2]
    assert chat.kind == gemini.kind == Span.SPAN_KIND_CLIENT
    numbers = {each.key: each.value.int_value for each in chat.attributes}
    assert numbers["http.response.status_code"] == 200
    assert b"Hello there" not in b"".join(each.SerializeToString() for each in told)


def test_nothing_is_imported_where_it_is_off() -> None:
    code = "import sys, proxy.app; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert isinstance(opened(False, "1"), NoTraces)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(TracesMissing, match=r"palimpsest-proxy\[otel\]"):
        opened(True, "1")
