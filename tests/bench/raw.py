"""Bytes as they are over a connection that is kept open: requests one behind the other, and their replies in order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

PATIENCE = 10.0
"""Seconds for which a reply is waited for."""

_GONE = (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)
_NO_BODY = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and headers of a reply, whose body was read and let go. Without a status there was none."""

    status: int
    headers: dict[str, str]


NONE = Reply(0, {})


class RawConnection:
    """One connection to a server on this machine at a time; a new one where the server has ended the last."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, requests: Sequence[bytes]) -> list[Reply]:
        """Send them all at once, and read a reply to each. A server may end the connection behind any reply: those
        that it has not answered then are sent again, but for the first of them where it has answered none."""
        replies: list[Reply] = []
        while len(replies) < len(requests):
            left, kept = requests[len(replies) :], self._streams is not None
            told = await self._answered(left)
            # A connection that rested may have ended before anything was sent over it.
            replies += told or ([] if kept else [NONE])
        return replies

    async def _answered(self, requests: Sequence[bytes]) -> list[Reply]:
        replies: list[Reply] = []
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = self._streams or await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
                self._streams = reader, writer
                writer.write(b"".join(requests))
                for each in requests:
                    reply = await _reply(reader, bodiless=each.startswith(b"HEAD "))
                    replies.append(reply)
                    if "close" in reply.headers.get("connection", "").lower():
                        break
                else:
                    return replies
        except _GONE:
            pass
        await self.close()
        return replies

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            await _closed(writer)


async def ask_once(port: int, data: bytes, patience: float) -> Reply:
    """Send what may be no request at all over a connection of its own; what is answered within so many seconds. With
    no patience, leave as soon as it is sent."""
    reply, writer = NONE, None
    with suppress(*_GONE):
        async with asyncio.timeout(patience or PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
            writer.write(data)
            await writer.drain()
            if patience:
                reply = await _reply(reader, bodiless=False)
    if writer is not None:
        await _closed(writer)
    return reply


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _reply(reader: asyncio.StreamReader, bodiless: bool) -> Reply:
    status = 100
    while status // 100 == 1:  # "go on" comes before the reply
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(first.split(" ", 2)[1])
    headers = dict(_headers(lines))
    if not bodiless and status not in _NO_BODY:
        await _through(reader, headers)
    return Reply(status, headers)


def _headers(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, found, value = line.partition(":")
        if found:
            yield name.lower(), value.strip()


async def _through(reader: asyncio.StreamReader, headers: dict[str, str]) -> None:
    """Read a body to its end."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        size = -1
        while size:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            await reader.readexactly(size + 2)
    elif "content-length" in headers:
        await reader.readexactly(int(headers["content-length"]))
    else:
        await reader.read(-1)
        headers["connection"] = "close"
