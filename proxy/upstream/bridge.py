"""Send a request to a model that speaks another format than the client, through litellm.

Only routes that name a ``bridge`` come here; all others stay bytes. The client keeps its own format: litellm reads the
request in it, asks the provider in the provider's, and its answer goes back in the client's.

What a provider of another format said was wrong, in the client's own: litellm packs it into sentences of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
from multidict import CIMultiDict

from memory.models.litellm_client import provider_error, translating_litellm
from proxy.errors import UpstreamUnreachable
from proxy.settings import UpstreamRoute, UpstreamSettings
from proxy.upstream.warm_up import warm_up_litellm
from proxy.wire.dialect import Dialect
from proxy.wire.overflow import overflow

MAX_ERROR_CHARS = 500
"""Characters of what is told."""


def error_message(error: BaseException) -> str:
    """What an error says: the provider's own message where it was packed, else the first line; litellm writes its own
    stack below it."""
    if isinstance(error, ImportError):
        return f"litellm cannot translate this without more of its parts ({error}): pip install 'litellm[proxy]'"
    text = str(error).strip()
    message = _error_message(_embedded_json(text))
    return (message or text.partition("\n")[0])[:MAX_ERROR_CHARS] or type(error).__name__


def refusal(dialect: Dialect, error: BaseException, message: str) -> tuple[int, bytes]:
    """An error's status and body in the client's format; ``message`` is what may be told of it."""
    status = getattr(error, "status_code", None)
    if not (isinstance(status, int) and 400 <= status < 600):
        return 502, dialect.refusal(502, message)
    if too_long := overflow(status, json.dumps({"error": message}).encode()):
        return 400, dialect.too_long(message, too_long.limit, too_long.size)
    if type(error).__name__ == "ContextWindowExceededError":
        return 400, dialect.too_long(message)
    return status, dialect.refusal(status, message)


def retry_after_headers(error: BaseException) -> dict[str, str]:
    """How long a provider asks its clients to wait, as it said it."""
    headers = getattr(error, "litellm_response_headers", None)
    if not isinstance(headers, Mapping):
        return {}
    return {name: str(headers[name]) for name in ("retry-after", "retry-after-ms") if headers.get(name)}


def _embedded_json(text: str) -> Any:
    """The JSON that stands in a text, also as Python writes bytes."""
    start = text.find("{")
    if start < 0:
        return None
    for packed in (text[start:], text[start:].replace("\\'", "'").replace("\\\\", "\\")):
        try:
            return json.JSONDecoder().raw_decode(packed)[0]
        except ValueError:
            continue
    return None


def _error_message(packed: Any) -> str:
    if isinstance(packed, Mapping):
        error = packed.get("error", packed)
        message = error.get("message") if isinstance(error, Mapping) else error
        return message.strip() if isinstance(message, str) else ""
    return ""


_SAMPLING = frozenset({"temperature", "top_p", "stream", "tools", "tool_choice", "model"})
FIELDS: Mapping[str, frozenset[str]] = {
    "openai-chat": _SAMPLING
    | {
        "messages", "parallel_tool_calls", "n", "stop", "max_tokens", "max_completion_tokens", "presence_penalty",
        "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "response_format", "seed", "user",
        "stream_options", "reasoning_effort", "modalities", "audio", "prediction", "verbosity", "web_search_options",
        "functions", "function_call",
    },
    "openai-responses": _SAMPLING
    | {
        "input", "instructions", "parallel_tool_calls", "max_output_tokens", "reasoning", "text", "truncation",
        "include", "user", "top_logprobs", "max_tool_calls",
    },
    "anthropic-messages": _SAMPLING | {"messages", "system", "max_tokens", "top_k", "stop_sequences", "thinking"},
}  # fmt: skip
"""What of a request is translated. Anything else is left out: litellm would read a field ``api_base`` of a client's as
the place to send a key to."""

LINKED = frozenset(
    {
        "image",
        "image_url",
        "input_image",
        "document",
        "file",
        "input_file",
        "video_url",
        "input_video",
        "container_upload",
    }
)
"""Parts that may name an address in place of data."""

Troubles = tuple[type[Exception], ...]
_UNTRANSLATED: Troubles = (ValueError, LookupError, TypeError, AttributeError, ImportError)
"""What litellm's adapters raise at a request that they cannot translate."""
_CONNECTING = ("ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError")
"""Errors of the HTTP libraries below litellm that say that nothing was sent."""


class _NotConnected(Exception):
    """The connection to the provider could not be made."""


@dataclass(frozen=True, slots=True)
class BridgedReply:
    """A reply in the client's format; see :class:`proxy.upstream.reply.ProviderReply`."""

    status: int
    headers: CIMultiDict[str]
    content: BridgedContent
    reason: str | None = None

    @property
    def content_type(self) -> str:
        """The media type."""
        return self.headers["Content-Type"]


@dataclass(frozen=True, slots=True)
class BridgedContent:
    """The body of a bridged reply."""

    pieces: AsyncIterator[bytes]

    def iter_any(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        return self.pieces

    async def read(self, n: int = -1) -> bytes:
        """The rest of it."""
        return b"".join([piece async for piece in self.pieces])


class Bridge:
    """The way to providers of another format. ``environment`` is where ``key_from`` is looked up."""

    def __init__(self, settings: UpstreamSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._litellm: Any = None
        self._troubles: Troubles = _UNTRANSLATED

    @property
    def wanted(self) -> bool:
        """Whether any route needs it."""
        return any(route.bridge for route in self._settings.routes)

    async def open(self) -> None:
        """Import litellm where a route needs it, and use it: in mid-traffic the import would hold every stream up for
        seconds, and the first request for a fifth of one.

        Raises:
            memory.models.litellm_client.DoorShut: when what it needs is not installed.
        """
        if self.wanted:
            self._litellm = await asyncio.to_thread(translating_litellm)
            self._troubles = (provider_error(), *_UNTRANSLATED)
            await warm_up_litellm(self._calls, self._troubles)

    async def close(self) -> None:
        """Close its connections."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()

    @asynccontextmanager
    async def send(
        self, dialect: Dialect, route: UpstreamRoute, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[BridgedReply]:
        """The provider's reply in the client's dialect; its errors too, with their own status.

        Raises:
            UpstreamUnreachable: when no reply came. Only a connection that could not be made is tried again.
        """
        if self._litellm is None:
            raise UpstreamUnreachable(f"the bridge to {route.bridge} is not open; see the log of the server's start")
        fields = orjson.loads(body)
        if fields.get("previous_response_id") is not None:
            message = "a history that the server keeps cannot be bridged to another format: send it whole"
            yield _refused(dialect, 400, message, "previous_response_id")
            return
        if _links_to_file(fields.get("messages")) or _links_to_file(fields.get("input")):
            message = "pictures and files are bridged as data only: litellm would fetch an address from this machine"
            yield _refused(dialect, 400, message, "messages" if "messages" in fields else "input")
            return
        key = self._environment.get(route.key_from, "") if route.key_from else credential(headers)
        try:
            answer = await self._answer(dialect, route, key, fields)
        except _NotConnected as error:
            raise UpstreamUnreachable(_without(key, f"no connection for {route.bridge}: {error}")) from error
        except self._troubles as error:
            status, refused = refusal(dialect, error, _without(key, error_message(error)))
            own = CIMultiDict({"Content-Type": "application/json", **retry_after_headers(error)})
            yield BridgedReply(status, own, BridgedContent(_once(refused)))
            return
        own = CIMultiDict({"x-palimpsest-bridge": str(route.bridge)})
        if fields.get("stream"):
            own["Content-Type"] = "text/event-stream"
            async with aclosing(_sse_frames(dialect.name, answer, self._troubles, key)) as frames:
                yield BridgedReply(200, own, BridgedContent(frames))
        else:
            own["Content-Type"] = "application/json"
            yield BridgedReply(200, own, BridgedContent(_once(_json(answer))))

    @property
    def _calls(self) -> Mapping[str, Callable[..., Awaitable[Any]]]:
        return {
            "openai-chat": self._litellm.acompletion,
            "openai-responses": self._litellm.aresponses,
            "anthropic-messages": self._litellm.anthropic_messages,
        }

    async def _answer(self, dialect: Dialect, route: UpstreamRoute, key: str, fields: Mapping[str, Any]) -> Any:
        # As litellm is: most installations have no bridge.
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

        arguments = {name: value for name, value in fields.items() if name in FIELDS[dialect.name]}
        arguments["model"] = str(route.bridge).replace("*", str(fields.get("model", "")))
        arguments |= {
            "api_key": key or None,
            "timeout": self._settings.read_seconds,
            "drop_params": True,
            "max_retries": 0,
        }
        if route.url:
            arguments["api_base"] = route.url
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait_random_exponential(multiplier=0.1, max=2),
            retry=retry_if_exception_type(_NotConnected),
            reraise=True,
        ):
            with attempt:
                try:
                    return await self._calls[dialect.name](**arguments)
                except self._troubles as error:
                    if _failed_to_connect(error):
                        raise _NotConnected(error_message(error)) from error
                    raise
        raise AssertionError("the last attempt returns or raises")


def credential(headers: Mapping[str, str]) -> str:
    """The provider's key as a client sent it, in either of the two headers that clients use."""
    scheme, _, bearer = headers.get("Authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


def _links_to_file(value: Any, in_file: bool = False) -> bool:
    """Whether a picture or a file in some messages is an address that somebody would have to fetch."""
    if isinstance(value, str):
        return in_file and value.lower().startswith(("http:", "https:", "file:", "ftp:"))
    if isinstance(value, list):
        return any(_links_to_file(each, in_file) for each in value)
    if isinstance(value, dict):
        kind = value.get("type")
        inside = in_file or kind in LINKED
        return kind != "tool_use" and any(_links_to_file(each, inside) for each in value.values())
    return False


def _refused(dialect: Dialect, status: int, message: str, where: str = "") -> BridgedReply:
    body = dialect.refusal(status, message, where)
    return BridgedReply(status, CIMultiDict({"Content-Type": "application/json"}), BridgedContent(_once(body)))


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _sse_frames(dialect: str, answer: Any, troubles: Troubles, key: str) -> AsyncGenerator[bytes, None]:
    number = 0
    try:
        async for event in answer:
            if isinstance(event, bytes | str):
                yield event if isinstance(event, bytes) else event.encode()
                continue
            if dialect == "openai-chat":
                yield b"data: " + _json(event) + b"\n\n"
                continue
            data = orjson.loads(_json(event))
            if dialect == "openai-responses":
                data["sequence_number"] = number
                number += 1
            yield b"event: " + str(data.get("type", "message")).encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
        if dialect == "openai-chat":
            yield b"data: [DONE]\n\n"
    except troubles as error:
        raise aiohttp.ClientPayloadError(_without(key, error_message(error))) from None
    finally:
        if hasattr(answer, "aclose"):
            with suppress(*troubles):
                await answer.aclose()


def _json(answer: Any) -> bytes:
    if hasattr(answer, "model_dump_json"):
        text: str = answer.model_dump_json(exclude_none=True)
        return text.encode()
    return orjson.dumps(answer)


def _failed_to_connect(error: BaseException) -> bool:
    """Whether a connection could not be made: the one fault after which a request may be sent again."""
    seen: BaseException | None = error
    while seen is not None:
        if type(seen).__name__ in _CONNECTING or isinstance(seen, ConnectionRefusedError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _without(key: str, message: str) -> str:
    return message.replace(key, "(key)") if key else message
