"""What comes back from a provider, whichever way the request went.

The way to no provider at all: what memory answers in a model's place, in the client's own format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from multidict import CIMultiDict, CIMultiDictProxy

from memory.session import ResearchAnswer
from proxy.wire.dialect import Dialect, RequestView
from proxy.wire.synthetic_reply import media_type, synthetic_body


class ReplyContent(Protocol):
    """A body that is still to be read."""

    def iter_any(self) -> AsyncIterator[bytes]:
        """The bytes as they come.

        Raises:
            aiohttp.ClientError: while they are read, when the provider breaks off.
        """

    async def read(self, n: int = -1) -> bytes:
        """The rest of it."""


class ProviderReply(Protocol):
    """A reply, its body still to be read."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def reason(self) -> str | None:
        """The words beside the status."""

    @property
    def headers(self) -> CIMultiDict[str] | CIMultiDictProxy[str]:
        """The reply's headers."""

    @property
    def content_type(self) -> str:
        """The media type, without parameters."""

    @property
    def content(self) -> ReplyContent:
        """The body."""


def plain(reply: ProviderReply) -> bool:
    """Whether a reply can be read as it comes."""
    return reply.headers.get("Content-Encoding", "identity").lower() == "identity"


async def chunks(reply: ProviderReply, begun: bytes = b"") -> AsyncIterator[bytes]:
    """A reply's bytes as they come, those first that were read before."""
    if begun:
        yield begun
    async for chunk in reply.content.iter_any():
        yield chunk


@dataclass(frozen=True, slots=True)
class _Content:
    """A body that is there already."""

    body: bytes

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield self.body

    async def read(self, n: int = -1) -> bytes:
        return self.body


@dataclass(frozen=True, slots=True)
class LocalReply:
    """See :class:`proxy.upstream.reply.ProviderReply`."""

    headers: CIMultiDict[str]
    content: _Content
    status: int = 200
    reason: str | None = None

    @property
    def content_type(self) -> str:
        """The media type."""
        return self.headers["Content-Type"]


def local_reply(dialect: Dialect, view: RequestView, answer: ResearchAnswer, id: str, at: int) -> LocalReply:
    """The reply; ``id`` is the receipt's, ``at`` seconds since 1970."""
    conversation = view.conversation
    body = synthetic_body(
        dialect.name,
        answer.text,
        id.replace("-", ""),
        conversation.model,
        at,
        stream=conversation.stream,
        usage=b"include_usage" in bytes(view.fields.get("stream_options", b"")),
        framing=view.framing,
    )
    return LocalReply(CIMultiDict({"Content-Type": media_type(conversation.stream, view.framing)}), _Content(body))


@asynccontextmanager
async def send_locally(reply: LocalReply) -> AsyncIterator[LocalReply]:
    """Sends nothing anywhere: the reply is there."""
    yield reply
