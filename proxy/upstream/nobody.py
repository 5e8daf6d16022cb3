"""The way to no provider at all: what memory answers in a model's place, in the client's own format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from multidict import CIMultiDict

from memory.session import Answered
from proxy.wire.dialect import Dialect, View
from proxy.wire.made import made, media_type


@dataclass(frozen=True, slots=True)
class _Content:
    """A body that is there already."""

    body: bytes

    async def iter_any(self) -> AsyncIterator[bytes]:
        """The bytes."""
        yield self.body

    async def read(self, n: int = -1) -> bytes:
        """The bytes."""
        return self.body


@dataclass(frozen=True, slots=True)
class MadeReply:
    """See :class:`proxy.upstream.reply.ProviderReply`."""

    headers: CIMultiDict[str]
    content: _Content
    status: int = 200
    reason: str | None = None

    @property
    def content_type(self) -> str:
        """The media type."""
        return self.headers["Content-Type"]


def made_reply(dialect: Dialect, view: View, answer: Answered, id: str, at: int) -> MadeReply:
    """The reply; ``id`` is the receipt's, ``at`` seconds since 1970."""
    conversation = view.conversation
    body = made(
        dialect.name,
        answer.text,
        id.replace("-", ""),
        conversation.model,
        at,
        stream=conversation.stream,
        usage=b"include_usage" in bytes(view.fields.get("stream_options", b"")),
        framing=view.framing,
    )
    return MadeReply(CIMultiDict({"Content-Type": media_type(conversation.stream, view.framing)}), _Content(body))


@asynccontextmanager
async def to_nobody(reply: MadeReply) -> AsyncIterator[MadeReply]:
    """Sends nothing anywhere: the reply is there."""
    yield reply
