"""Ask a provider that is none, once in each format, before any client does.

litellm imports the better part of itself with the first requests, which holds every stream of the process up for a
fifth of a second; done at the start, nobody waits for it. Nothing leaves the machine: whoever is asked is a socket of
our own on the loopback, which refuses. Where the environment sends even the loopback through a proxy, nobody is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

SECONDS: Final = 20.0
"""After which the whole rehearsal is given up: the first requests then import what is left."""

_BODY: Final = b'{"type":"error","error":{"type":"authentication_error","message":"a rehearsal"}}'
_REFUSAL: Final = (
    b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    % len(_BODY)
) + _BODY

_SCHEMA: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
_MESSAGES: Final = [{"role": "user", "content": "?"}]
WARM_UP_REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "openai-chat": {
        "model": "anthropic/rehearsal",
        "messages": _MESSAGES,
        "tools": [{"type": "function", "function": {"name": "read", "parameters": _SCHEMA}}],
    },
    "openai-responses": {
        "model": "anthropic/rehearsal",
        "input": "?",
        "tools": [{"type": "function", "name": "read", "parameters": _SCHEMA}],
    },
    "anthropic-messages": {
        "model": "openai/rehearsal",
        "max_tokens": 9,
        "messages": _MESSAGES,
        "tools": [{"name": "read", "input_schema": _SCHEMA}],
    },
}
"""What is asked in the format of each dialect, of a provider of another."""


async def warm_up_litellm(
    calls: Mapping[str, Callable[..., Awaitable[Any]]], troubles: tuple[type[Exception], ...]
) -> None:
    """Make one call in each dialect; ``troubles`` are what a refusal may raise."""
    if {"http", "all"} & getproxies().keys() and not proxy_bypass("127.0.0.1"):
        return

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_REFUSAL)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server, _with_timeout(SECONDS):
        host, port = server.sockets[0].getsockname()[:2]
        own = {"api_base": f"http://{host}:{port}", "api_key": "none", "timeout": SECONDS, "max_retries": 0}
        for dialect, body in WARM_UP_REQUESTS.items():
            with suppress(*troubles, OSError):
                await calls[dialect](**body, **own, stream=True)


@asynccontextmanager
async def _with_timeout(seconds: float) -> AsyncIterator[None]:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield
