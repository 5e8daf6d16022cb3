"""Both ends of a run: a client before the proxy, and the provider behind it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from yarl import URL

from proxy.conformance.case import CaseFailed, must
from proxy.conformance.formats.api_format import ApiFormat
from proxy.conformance.upstream import RecordedRequest, ScriptedAnswer, Upstream

SECONDS: Final = 170.0
"""How long a request may take; a body of 64 MiB takes a busy machine a while."""


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A reply as the client sees it. ``whole``: it ended as it should."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Bench:
    """One format before one proxy. ``more`` are headers of every request, ``memory`` of those that give its memory
    something to do."""

    base: str
    model: str
    format: ApiFormat
    upstream: Upstream
    client: aiohttp.ClientSession
    more: Mapping[str, str] = field(default_factory=dict)
    large: int = 64 * 2**20
    memory: Mapping[str, str] = field(default_factory=dict)

    @property
    def unique_text(self) -> str:
        """Words that no other case says, and that ask and teach nothing."""
        return f"Hello {uuid.uuid4().hex}."

    def json(self, *texts: str, stream: bool = False, **more: Any) -> bytes:
        """A body with a person's and a model's texts."""
        return json.dumps(self.format.body(self.model, *(texts or (self.unique_text,)), stream=stream, **more)).encode()

    def whole(self, text: str = "Very well.") -> ScriptedAnswer:
        """A whole reply, to be given from now on."""
        return self.upstream.answers(ScriptedAnswer([json.dumps(self.format.reply(text)).encode()]))

    def streamed(self, *pieces: bytes, **more: Any) -> ScriptedAnswer:
        """A streamed reply, to be given from now on."""
        chunks = pieces or tuple(self.format.events("One two three."))
        return self.upstream.answers(ScriptedAnswer(list(chunks), headers={"Content-Type": self.format.stream}, **more))

    async def post(self, body: bytes, *, stream: bool = False, path: str = "", **headers: str) -> ClientReply:
        """Send a body; the reply. Underscores in names of headers stand for dashes."""
        async with self.open(body, stream=stream, path=path, **headers) as reply:
            came = bytearray()
            whole = True
            try:
                async for piece in reply.content.iter_any():
                    came += piece
            except (aiohttp.ClientPayloadError, ConnectionError):
                whole = False
            return ClientReply(reply.status, reply.headers, bytes(came), whole)

    @asynccontextmanager
    async def open(
        self, body: bytes, *, stream: bool = False, path: str = "", method: str = "POST", **headers: str
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The reply to a body, as it comes."""
        all_headers = {
            "Content-Type": "application/json",
            "User-Agent": "conformance/1",
            **self.format.headers,
            **self.more,
        }
        all_headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        # As it is spelt: a query must not be put in order on its way to the proxy.
        url = URL(self.base + (path or self.format.path(self.model, stream)), encoded=True)
        data = None if method == "GET" else body
        async with asyncio.timeout(SECONDS), self.client.request(method, url, data=data, headers=all_headers) as reply:
            yield reply

    def only(self) -> RecordedRequest:
        """The one request that has come.

        Raises:
            Failed: where it was none, or several.
        """
        came = self.upstream.came
        if len(came) != 1:
            raise CaseFailed(f"{len(came)} requests reached the provider, not one")
        return came[0]

    async def arrives(self, body: bytes, headers: Mapping[str, str] | None = None) -> RecordedRequest:
        """Send a body and have it answered; the request that reached the provider."""
        self.whole()
        got = await self.post(
            body, stream=False, path="", **{k.replace("-", "_"): v for k, v in (headers or {}).items()}
        )
        must(got.status == 200, f"the client got {got.status}: {got.body[:200]!r}")
        return self.only()

    async def unchanged(self, body: bytes) -> None:
        """Send a body, which must arrive byte for byte."""
        came = await self.arrives(body)
        must(came.body == body, difference(body, came.body))


def all_there(sent: Mapping[str, str], came: Callable[[str], str | None]) -> None:
    """Every header must be what it was.

    Raises:
        CaseFailed: where one is not.
    """
    lost = [f"{name} became {came(name)!r}" for name, value in sent.items() if came(name) != value]
    must(not lost, "; ".join(lost))


def difference(sent: bytes, came: bytes) -> str:
    """Where two bodies differ first, in words."""
    at = next(
        (n for n, (one, other) in enumerate(zip(sent, came, strict=False)) if one != other), min(len(sent), len(came))
    )
    return f"at byte {at} of {len(sent)} {sent[at : at + 40]!r} became {came[at : at + 40]!r}"
