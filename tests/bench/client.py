"""A small HTTP client that notes when a reply's first and last byte came. One connection, kept open.

Of our own because a library's work on each request would be as large as what is measured.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timed:
    """A reply: status, head, body as it came off the wire (chunks unjoined), seconds to its first byte and its end."""

    status: int
    head: bytes
    body: bytes
    first: float
    last: float

    def header(self, name: str) -> str:
        """A header's value, or an empty text."""
        lines = (line.partition(":") for line in self.head.decode("latin-1").split("\r\n"))
        return next((value.strip() for key, _, value in lines if key.lower() == name), "")


class Broken(ConnectionError):
    """The connection ended before the reply did; ``body`` is what had come of it."""

    def __init__(self, body: bytes) -> None:
        super().__init__(f"the connection ended after {len(body)} bytes of the reply")
        self.body = body


class Connection:
    """One connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def open(self) -> bool:
        """Whether the next request goes over the connection of the last: a server ends one that rests too long."""
        if self._reader is None or self._writer is None:
            return False
        return not (self._writer.is_closing() or self._reader.at_eof())

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> Timed:
        """Send a body and read the whole reply.

        Raises:
            Broken: when the connection ends first.
        """
        if self._reader is None or self._writer is None or not self.open:
            await self.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in {"Content-Type": "application/json", **headers}.items()]
        began = time.perf_counter()
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        received = b""
        try:
            received = head = await self._reader.readuntil(b"\r\n\r\n")
            names = head.lower()
            received = await self._reader.read(2**20)
            first = time.perf_counter() - began
            while not _ended(names, received):
                more = await self._reader.read(2**20)
                if not more:
                    raise Broken(received)
                received += more
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            await self.close()
            raise error if isinstance(error, Broken) else Broken(received) from error
        return Timed(int(head.split(b" ", 2)[1]), head, received, first, time.perf_counter() - began)

    async def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def _ended(head: bytes, body: bytes) -> bool:
    """Whether the body is whole: all of its declared length, or the last, empty chunk."""
    at = head.find(b"content-length:")
    if at >= 0:
        return len(body) >= int(head[at + 15 : head.index(b"\r\n", at)])
    return body.endswith(b"0\r\n\r\n")
