"""Each request to a model as a trace, by OpenTelemetry's conventions for generative AI; off unless it is asked for.

A span has names and numbers of a request, never a text of it. Where a client tells a trace (``traceparent``), the span
belongs to it. OpenTelemetry is imported only where traces are on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from memory.conversation import Reply
from memory.session import Prepared

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

HOW_TO_INSTALL: Final = "server.traces is on and OpenTelemetry is not installed: pip install 'palimpsest-proxy[otel]'"

OPERATIONS: Final = {"gemini-generate": "generate_content"}
"""What a dialect's requests are called, where it is not ``chat``."""

PROVIDERS: Final = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gcp.gemini",
    "ollama-chat": "ollama",
}
"""Whose format a dialect is: who answers may be another one who speaks it."""


class TracesMissing(RuntimeError):
    """OpenTelemetry is not installed; the message says how it is."""


class RequestTrace(Protocol):
    """One request."""

    def prepared(self, model: str, prepared: Prepared | None, seconds: float) -> None:
        """Memory has done its part, in so many seconds."""

    def replied(self, status: int) -> None:
        """The provider has begun to answer."""

    def heard(self, reply: Reply) -> None:
        """The reply has ended."""


class Traces(Protocol):
    """Where requests are told."""

    def request(self, dialect: str, headers: Mapping[str, str]) -> AbstractContextManager[RequestTrace]:
        """A request under way; what it raises is its error."""

    def close(self) -> None:
        """Send what is left; waits for that."""


class NoTraces:
    """Tells nobody."""

    def request(self, dialect: str, headers: Mapping[str, str]) -> AbstractContextManager[RequestTrace]:
        return nullcontext(self)

    def prepared(self, model: str, prepared: Prepared | None, seconds: float) -> None:
        """See :class:`RequestTrace`."""

    def replied(self, status: int) -> None:
        """See :class:`RequestTrace`."""

    def heard(self, reply: Reply) -> None:
        """See :class:`RequestTrace`."""

    def close(self) -> None:
        """See :class:`Traces`."""


@dataclass(frozen=True, slots=True)
class SpanOfRequest:
    """A request as a span."""

    span: Span
    operation: str

    def prepared(self, model: str, prepared: Prepared | None, seconds: float) -> None:
        self.span.update_name(f"{self.operation} {model}".strip())
        told: dict[str, str | int | float] = {"palimpsest.prepare.seconds": round(seconds, 6)}
        if model:
            told["gen_ai.request.model"] = model
        if prepared is not None:
            receipt = prepared.receipt
            told |= {
                "palimpsest.status": receipt.status,
                "palimpsest.kind": receipt.kind.value,
                "palimpsest.receipt": receipt.id,
                "palimpsest.memories": len(receipt.shown),
                "palimpsest.added_tokens": receipt.page_tokens + receipt.recall_tokens,
                "palimpsest.saved_tokens": receipt.saved,
            }
            if receipt.session:
                told["gen_ai.conversation.id"] = receipt.session
        self.span.set_attributes(told)

    def replied(self, status: int) -> None:
        self.span.set_attribute("http.response.status_code", status)
        if status >= 400:
            self.failed(str(status))

    def heard(self, reply: Reply) -> None:
        told: dict[str, str | int | list[str]] = {}
        if reply.id:
            told["gen_ai.response.id"] = reply.id
        if reply.stop:
            told["gen_ai.response.finish_reasons"] = [reply.stop]
        if (usage := reply.usage) is not None:
            told |= {
                "gen_ai.usage.input_tokens": usage.input,
                "gen_ai.usage.output_tokens": usage.output,
                "gen_ai.usage.cache_read.input_tokens": usage.cached,
                "gen_ai.usage.cache_creation.input_tokens": usage.written,
            }
        self.span.set_attributes(told)
        if not reply.complete:
            self.failed("cut")

    def failed(self, kind: str) -> None:
        """It went wrong, in this way."""
        from opentelemetry.trace import StatusCode

        self.span.set_attribute("error.type", kind)
        self.span.set_status(StatusCode.ERROR)


class OpenTelemetryTraces:
    """Tells requests as spans. ``closing`` sends what is left."""

    def __init__(self, tracer: Tracer, closing: Callable[[], None]) -> None:
        self._tracer = tracer
        self._closing = closing

    @contextmanager
    def request(self, dialect: str, headers: Mapping[str, str]) -> Iterator[RequestTrace]:
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        operation = OPERATIONS.get(dialect, "chat")
        named = {"gen_ai.operation.name": operation, "gen_ai.provider.name": PROVIDERS.get(dialect, dialect)}
        span = self._tracer.start_span(
            operation, TraceContextTextMapPropagator().extract(carrier), SpanKind.CLIENT, named
        )
        trace = SpanOfRequest(span, operation)
        try:
            yield trace
        except BaseException as error:
            # What it says may hold a text of the request.
            trace.failed(type(error).__name__)
            raise
        finally:
            span.end()

    def close(self) -> None:
        self._closing()


def opened(wanted: bool, version: str) -> Traces:
    """Where requests are told from now on: to the address that OpenTelemetry's own environment variables name
    (``OTEL_EXPORTER_OTLP_ENDPOINT``, else this machine's port 4318), over HTTP.

    Raises:
        TracesMissing: when they are wanted and cannot be made.
    """
    if not wanted:
        return NoTraces()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TracesMissing(HOW_TO_INSTALL) from error
    name = os.environ.get("OTEL_SERVICE_NAME") or "palimpsest"
    resource = Resource.create({"service.name": name, "service.version": version})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return OpenTelemetryTraces(provider.get_tracer("palimpsest", version), provider.shutdown)
