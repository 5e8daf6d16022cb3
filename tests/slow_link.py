"""A way to a PostgreSQL server that takes time, as a network does, and counts how often somebody waits for an answer.

A round trip is counted when a client sends after the server has spoken: what is sent at once is answered at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

_CHUNK = 1 << 16


class Turns:
    """Who speaks on one connection: the client, then the server, and so on.

    Raises:
        ConnectionResetError: when the server answers what the answer to is to be lost.
    """

    def __init__(self, link: SlowLink) -> None:
        self._link = link
        self._answered = True
        self._loses = False

    def asks(self, data: bytes) -> None:
        """The client sends."""
        if self._link.loses and self._link.loses in data:
            self._link.loses, self._loses = b"", True
        if self._answered:
            self._answered = False
            self._link.round_trips += 1

    def answers(self, data: bytes) -> None:
        """The server sends."""
        if self._loses:
            raise ConnectionResetError
        self._answered = True


class SlowLink:
    """A loopback port that leads to the server behind a URL, in a thread of its own.

    Args:
        url: a database on a server that listens to a socket in a folder, or on a port.
        delay: seconds that each way takes.

    Once, the answer to a client that sends what it ``loses`` does not arrive: the connection ends instead.
    """

    def __init__(self, url: str, delay: float = 0.0) -> None:
        parts = urlsplit(url)
        host = parse_qs(parts.query).get("host", [parts.hostname or "localhost"])[0]
        self._host, self._port = host, parts.port or 5432
        self.delay = delay
        self.round_trips = 0
        self.loses = b""
        self._user, self._database = parts.username, parts.path
        self._loop = asyncio.new_event_loop()
        self._ways: set[asyncio.StreamWriter] = set()
        self._listening = threading.Event()
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="slow-link", daemon=True)
        self._thread.start()
        self._listening.wait()

    @property
    def url(self) -> str:
        """The database, reached this way."""
        return f"postgresql://{self._user}@127.0.0.1:{self.port}{self._database}?sslmode=disable"

    def close(self) -> None:
        """Listen no more."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.close()

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._ended.wait()
        server.close()
        self._cut()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)

    def _cut(self) -> None:
        for way in self._ways:
            way.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._host.startswith("/"):
            opening = asyncio.open_unix_connection(f"{self._host}/.s.PGSQL.{self._port}")
        else:
            opening = asyncio.open_connection(self._host, self._port)
        try:
            from_server, to_server = await opening
        except OSError:
            writer.transport.abort()
            return
        turns = Turns(self)
        self._ways |= {writer, to_server}
        try:
            await asyncio.gather(
                self._carry(reader, to_server, turns.asks), self._carry(from_server, writer, turns.answers)
            )
        finally:
            self._ways -= {writer, to_server}

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: Callable[[bytes], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK):
                passes(data)
                if self.delay:
                    loop.call_later(self.delay, writer.write, data)
                else:
                    writer.write(data)
        if self.delay:
            loop.call_later(self.delay, writer.close)
        else:
            writer.close()
