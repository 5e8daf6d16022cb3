"""A small balancer: connections go in turn to those servers that say they are ready, and are passed on byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp

CHECK_SECONDS = 0.1


@dataclass
class Balancer:
    """Where it listens, and where it passes connections on to."""

    servers: list[str]
    url: str = ""
    ready: list[str] = field(default_factory=list)
    _turn: int = 0

    async def check(self) -> None:
        """Ask the servers again and again whether they are ready."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as client:
            while True:
                self.ready = [each for each in self.servers if await _is_ready(client, each)]
                await asyncio.sleep(CHECK_SECONDS)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a new connection on; to the next one where nobody listens any more."""
        for _ in self.servers:
            if not self.ready:
                break
            self._turn += 1
            host, _, port = self.ready[self._turn % len(self.ready)].removeprefix("http://").partition(":")
            with suppress(OSError):
                there = await asyncio.open_connection(host, int(port))
                await asyncio.gather(_pass(reader, there[1]), _pass(there[0], writer))
                return
        writer.close()


async def _is_ready(client: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with client.get(f"{url}/palimpsest/ready") as reply:
            return reply.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.close()


@asynccontextmanager
async def balancing(*servers: str) -> AsyncIterator[Balancer]:
    """A balancer before these servers."""
    balancer = Balancer([*servers])
    listening = await asyncio.start_server(balancer.take, "127.0.0.1", 0)
    balancer.url = "http://{}:{}".format(*listening.sockets[0].getsockname()[:2])
    checking = asyncio.create_task(balancer.check())
    try:
        while not balancer.ready:  # noqa: ASYNC110 (it is found out by asking)
            await asyncio.sleep(CHECK_SECONDS)
        yield balancer
    finally:
        checking.cancel()
        listening.close()
