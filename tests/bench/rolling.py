"""A rolling restart: two proxies and a worker behind HAProxy are ended and started again, one after the other, under
load.

    python -m tests.bench.rolling [--haproxy haproxy] [--clients 8]

HAProxy runs with config/haproxy.team.cfg, its addresses changed. Streams of three seconds go through all the while,
each a session of its own. Counted are those that came whole, those that were cut off or refused, and those of which the
reply says that memory took no part.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import orjson
from aiohttp import web

from proxy.settings import Role
from tests import postgresql
from tests.bench.processes import ROOT, free_port
from tests.bench.team import Replica, answers
from tests.fake_provider import fake_provider

NAMES = {"proxy-1": Role.PROXY, "proxy-2": Role.PROXY, "worker": Role.WORKER}
"""What there is behind the balancer, by the names that its settings have."""
PIECES, SPACING_SECONDS = 12, 0.25
BEFORE_SECONDS = 4.0
PLACES = re.compile(r" resolvers containers init-addr libc,none")


@dataclass
class Streams:
    """What became of the streams."""

    whole: int = 0
    without_memory: int = 0
    cut: list[str] = field(default_factory=list)


async def in_pieces(request: web.Request) -> web.StreamResponse:
    """A reply that takes three seconds."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in range(PIECES):
        choice = {"index": 0, "delta": {"content": f"{piece} "}, "finish_reason": None}
        await response.write(b"data: " + orjson.dumps({"choices": [choice]}) + b"\n\n")
        await asyncio.sleep(SPACING_SECONDS)
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    await response.write(b"data: " + orjson.dumps({"choices": [end]}) + b"\n\ndata: [DONE]\n\n")
    await response.write_eof()
    return response


async def talk(url: str, client: int, streams: Streams, ended: asyncio.Event) -> None:
    """One stream after the other, on connections that are kept as far as the balancer keeps them."""
    async with aiohttp.ClientSession() as session:
        turn = 0
        while not ended.is_set():
            turn += 1
            body = {
                "model": "bench",
                "stream": True,
                "messages": [{"role": "user", "content": f"Go on, {client} {turn}."}],
            }
            headers = {"x-session-id": f"rolling-{client}-{turn}", "x-palimpsest-project": "rolling"}
            try:
                async with session.post(f"{url}/v1/chat/completions", json=body, headers=headers) as reply:
                    whole = await reply.read()
                    if reply.status != 200 or not whole.endswith(b"data: [DONE]\n\n"):
                        streams.cut.append(f"{reply.status}: {whole[-80:]!r}")
                        continue
                    streams.whole += 1
                    status = reply.headers.get("x-palimpsest-status", "")
                    streams.without_memory += status.startswith(("without", "degraded"))
            except aiohttp.ClientError as error:
                streams.cut.append(repr(error))


def balancer(program: str, replicas: list[Replica], folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """HAProxy before two proxies and a worker, and its address."""
    port = free_port()
    text = (ROOT / "config" / "haproxy.team.cfg").read_text(encoding="utf-8")
    text = PLACES.sub("", text).replace("bind :8484", f"bind 127.0.0.1:{port}")
    for name, replica in zip(NAMES, replicas, strict=True):
        text = text.replace(f"{name}:8484", f"127.0.0.1:{replica.port}")
    file = folder / "haproxy.cfg"
    file.write_text(text, encoding="utf-8")
    with (folder / "haproxy.log").open("ab") as log:
        return subprocess.Popen([program, "-db", "-f", str(file)], stdout=log, stderr=log), f"http://127.0.0.1:{port}"


async def run(program: str, clients: int, folder: Path) -> Streams:
    """All of it.

    Raises:
        RuntimeError: when there is no PostgreSQL, or a replica does not start.
    """
    server = postgresql.server()
    if server is None:
        raise RuntimeError("there is no PostgreSQL on this machine")
    database, streams, ended = server.database(folder), Streams(), asyncio.Event()
    drain = {"PALIMPSEST__SERVER__DRAIN__NOTICE_SECONDS": "3", "PALIMPSEST__SERVER__DRAIN__REPLY_SECONDS": "60"}
    async with fake_provider() as provider, aiohttp.ClientSession() as client:
        provider.answer = in_pieces
        replicas = [
            Replica(number, folder, database, provider.url, 50, {**drain, "PALIMPSEST__SERVER__ROLE": role})
            for number, role in enumerate(NAMES.values())
        ]
        balancing: subprocess.Popen[bytes] | None = None
        try:
            await asyncio.gather(*(each.start() for each in replicas))
            balancing, url = balancer(program, replicas, folder)
            await until_it_answers(client, f"{url}/palimpsest/ready?role=work")
            talks = [asyncio.create_task(talk(url, number, streams, ended)) for number in range(clients)]
            for each in replicas:
                await asyncio.sleep(BEFORE_SECONDS)
                assert each.process is not None
                each.process.signal(signal.SIGTERM)
                await asyncio.to_thread(each.process.wait)
                await each.start()
                await until_it_answers(client, f"{url}/palimpsest/ready?role=work")
            await asyncio.sleep(BEFORE_SECONDS)
            ended.set()
            await asyncio.gather(*talks)
        finally:
            if balancing is not None:
                balancing.terminate()
                balancing.wait()
            for each in replicas:
                if each.process is not None:
                    each.process.kill()
            server.give_back()
    return streams


async def until_it_answers(client: aiohttp.ClientSession, url: str) -> None:
    """Wait until the balancer passes a check on to somebody who says yes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(60):
            while not await answers(client, url):  # noqa: ASYNC110 (it is found out by asking)
                await asyncio.sleep(0.2)


def main() -> int:
    """Run it, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--haproxy", default="haproxy")
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    program = shutil.which(given.haproxy)
    if program is None:
        print("there is no HAProxy here: --haproxy names one", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="palimpsest-rolling-") as folder:
        streams = asyncio.run(run(program, given.clients, Path(folder)))
    print(f"{streams.whole} streams whole, {len(streams.cut)} cut off, {streams.without_memory} without memory")
    print(*streams.cut[:5], sep="\n")
    return 1 if streams.cut else 0


if __name__ == "__main__":
    sys.exit(main())
