"""How long one odd request holds up another: a neighbour asks all the while, and its slowest reply is told.

    python -m tests.bench.neighbours [--mib 16] [--only NAME]

Each odd body is sent once to a server of its own, and the neighbour goes on until the server has learned from it, for
``--seconds`` at most. Resident memory is the most that was seen meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import secrets
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.bench import targets
from tests.bench.client import Broken, Connection, Timed
from tests.bench.seed import PROJECT

CHAT = "/v1/chat/completions"
WORDS = "the retries stay at three as decided, token = build error in main.py key: value password "
MIB = 2**20


def chat(*contents: str) -> bytes:
    """A request whose person says these things."""
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "bench", "messages": messages}).encode()


def many(size: int) -> bytes:
    """As many messages as there is room for."""
    one = json.dumps({"role": "user", "content": "a"})
    return b'{"model":"bench","messages":[' + b",".join([one.encode()] * (size // (len(one) + 1))) + b"]}"


def parts(size: int) -> bytes:
    """One message of as many parts."""
    one = b'{"type":"text","text":"a"}'
    inner = b",".join([one] * (size // (len(one) + 1)))
    return b'{"model":"bench","messages":[{"role":"user","content":[' + inner + b"]}]}"


ODD: dict[str, Callable[[int], tuple[bytes, dict[str, str]]]] = {
    "words": lambda size: (chat((WORDS * (size // len(WORDS) + 1))[:size]), {}),
    "one letter": lambda size: (chat("a" * size), {}),
    "not ASCII": lambda size: (chat("ж" * (size // 6)), {}),
    "many messages": lambda size: (many(size), {}),
    "many parts": lambda size: (parts(size), {}),
    "numbers": lambda size: (b'{"model":"bench","messages":[],"x":[' + b"1," * (size // 2) + b"1]}", {}),
    "no JSON": lambda size: (b'{"model":"bench","messages":[' + b'"' * size, {}),
    "gzip of words": lambda size: (gzip.compress(chat(WORDS * (size // len(WORDS)))), {"Content-Encoding": "gzip"}),
    "gzip of 250 MiB": lambda _: (gzip.compress(chat("a " * (125 * MIB))), {"Content-Encoding": "gzip"}),
}


async def neighbour(port: int, until: asyncio.Event) -> list[float]:
    """Ask small things, one after the other; how long each took, and what was under way at the end."""
    took, connection, name = list[float](), Connection(port), secrets.token_hex(4)
    for number in itertools.count():
        if until.is_set():
            break
        began = time.perf_counter()
        headers = {"x-session-id": f"small-{name}-{number}", "x-palimpsest-project": PROJECT}
        with suppress(Broken):
            await connection.post(CHAT, chat(f"What was decided about retries, number {number}?"), headers)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    await connection.close()
    return took


async def ask_until_told(port: int, at_once: int) -> list[float]:
    """Be so many neighbours until a line comes."""
    told = asyncio.Event()
    asking = [asyncio.create_task(neighbour(port, told)) for _ in range(at_once)]
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    told.set()
    return list(itertools.chain.from_iterable(await asyncio.gather(*asking)))


def behind(port: int, home: Path) -> int:
    """How many exchanges are still to be learned from."""
    token = (home / "token").read_text().strip()
    url = f"http://127.0.0.1:{port}/palimpsest/api/status"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"x-palimpsest-token": token})) as reply:
        return int(json.load(reply)["stored"]["behind"])


async def measured(server: targets.Target, home: Path, body: bytes, headers: dict[str, str], seconds: float) -> str:
    """What one body does to the neighbour."""
    assert server.process is not None
    quiet = asyncio.Event()
    asyncio.get_running_loop().call_later(2, quiet.set)
    usual = max(await neighbour(server.port, quiet))
    done = asyncio.Event()
    beside = asyncio.create_task(neighbour(server.port, done))
    connection = Connection(server.port)
    named = {"x-session-id": "odd", "x-palimpsest-project": PROJECT, **headers}

    async def odd() -> Timed | None:
        with suppress(Broken):
            return await connection.post(CHAT, body, named)
        return None

    began, most = time.perf_counter(), 0.0
    asked = asyncio.create_task(odd())
    while time.perf_counter() - began < seconds:
        await asyncio.sleep(0.25)
        most = max(most, server.process.resident_mib())
        if asked.done() and time.perf_counter() - began > 3 and not await asyncio.to_thread(behind, server.port, home):
            break
    done.set()
    took = sorted(await beside)
    answered = asked.result() if asked.done() else None
    asked.cancel()
    told = f"{answered.status} in {answered.last:.1f} s" if answered else "no reply"
    return f"usual {usual * 1000:.0f} ms, slowest {took[-1] * 1000:.0f} ms, {most:.0f} MiB resident, {told}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=16, help="how large the bodies are")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to wait for each at most")
    parser.add_argument("--only", default="", help="one of them")
    parser.add_argument(
        "--ask", type=int, help="only be the neighbour of this port until a line comes; print the times"
    )
    parser.add_argument("--at-once", type=int, default=1, help="so many of them")
    arguments = parser.parse_args()
    if arguments.ask:
        print(json.dumps(asyncio.run(ask_until_told(arguments.ask, arguments.at_once))))
        return
    for name, make in ODD.items():
        if arguments.only not in ("", name):
            continue
        folder = Path(tempfile.mkdtemp(prefix="palimpsest-neighbours-"))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            provider = targets.provider(folder, spacing_ms=1.0)
            assert provider.process is not None
            stack.callback(provider.process.stop)
            server = targets.palimpsest("odd", folder, folder / "home", provider.port)
            assert server.process is not None
            stack.callback(server.process.kill)
            told = asyncio.run(measured(server, folder / "home", *make(arguments.mib * MIB), arguments.seconds))
        print(f"{name:16} {told}", flush=True)


if __name__ == "__main__":
    main()
