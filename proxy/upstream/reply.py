"""What comes back from a provider, whichever way the request went."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from multidict import CIMultiDict, CIMultiDictProxy


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
