"""A session of thousands of turns through the real proxy, killed on the way: is every request valid, below the window,
and does it still say what the session began with and what was pinned?

    python -m tests.bench.endless [--turns 5000] [--window 60000] [--format chat|responses|messages] [--kills 3]
                                  [--begin 0] [--every 1] [--transcripts FOLDER]

Recorded sessions are played one behind the other as one session; without a folder one is made up. The provider counts
four bytes of a request as a token and reports that. After each kill the next request must go on with the bytes of the
last one, unless it has to be shed itself. What is told of memory and time is the proxy's process alone, by the tenth of
the session. With ``--begin`` the first request brings so many turns along; with ``--every 10`` a request is sent at
every tenth turn only, so that the longest sessions are played in minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import orjson
from aiohttp import web

from memory.edits import handle
from proxy.wire import dialect_of
from tests.bench import targets
from tests.bench.client import Connection, Timed
from tests.bench.processes import Process
from tests.bench.sessions import CHAT, FORMATS, Growing, Person, Turn, made_up, turns_of
from tests.bench.transcripts import broken, transcripts
from tests.proxy.wire.rounds.scripts import Round, stream

PINS = (20, 200, 1000, 3000)
"""Turns after which something that was just read is pinned."""
PARTS = 10
LONGEST_PIN = 2_000
RESERVE, SURE = 4_000, 0.97
"""What of the window is the reply's, and how much of the rest a request may fill with nothing leaving it for sure."""
SESSION = "endless"


@dataclass
class Provider:
    """Answers each request as the session was recorded, and keeps what came."""

    round: Round = field(default_factory=lambda: Round(()))
    bodies: list[bytes] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """One reply, streamed."""
        body = await request.read()
        self.bodies.append(body)
        told = replace(self.round, usage=(len(body) // 4, 10))
        return web.Response(body=stream(request.path, told), content_type="text/event-stream")


@dataclass
class Row:
    """What was seen in one part of a session."""

    turn: int
    seconds: list[float] = field(default_factory=list)
    resident_mib: float = 0.0
    cpu_ms: float = 0.0
    client_tokens: int = 0
    memories: int = 0


@dataclass
class Seen:
    """What was seen of a whole session; ``faults`` are sentences, the first of each sort."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    most: int = 0
    kept: int = 0
    before: int = 0
    cost: float = 0.0
    client_cost: float = 0.0

    def fault(self, sort: str, told: str) -> None:
        """Something that must not be."""
        self.counts[sort] += 1
        self.faults.setdefault(sort, told)


class Session:
    """One session that is played; ``recall_ms`` is the proxy's memory.recall.deadline_ms."""

    def __init__(
        self,
        path: str,
        turns: Sequence[Turn],
        window: int,
        folder: Path,
        begin: int = 0,
        every: int = 1,
        recall_ms: int = 50,
    ) -> None:
        self.path, self.turns, self.window, self.folder = path, turns, window, folder
        self.begin, self.every = begin, every
        self.recall_ms = recall_ms
        self.growing = Growing(path, turns)
        self.provider, self.seen = Provider(), Seen()
        self.task = next(each.text for each in turns[0].heard if isinstance(each, Person))
        self.pinned: list[str] = []
        self._forwarded = b""
        self._client = 0
        self._port = 0

    async def play(self, kills: Sequence[int]) -> Seen:
        """All of it."""
        app = web.Application(client_max_size=2**30)
        app.router.add_post(self.path, self.provider.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._port = runner.addresses[0][1]
        server = self._server()
        try:
            for number, turn in enumerate(self.turns):
                if number % max(len(self.turns) // PARTS, 1) == 0:
                    self._measure(number, server)
                body = self.growing.hear(turn)
                if number < self.begin or number % self.every:
                    self.growing.answered(turn)
                    continue
                again = number in kills
                if again:
                    _process(server).kill()
                    server = self._server()
                await self._turn(server.port, number, turn, body, again)
                self.growing.answered(turn)
                if number in PINS:
                    self._pin(server.port, turn)
            self._measure(len(self.turns), server)
            self.seen.counts["stopped badly"] += _process(server).stop() != 0
        finally:
            _process(server).kill()
            await runner.cleanup()
        return self.seen

    def _server(self) -> targets.Target:
        home = self.folder / "home"
        return targets.palimpsest(
            "endless",
            self.folder,
            home,
            self._port,
            MEMORY__WINDOWS=json.dumps({"*": self.window}),
            MEMORY__RECALL__DEADLINE_MS=str(self.recall_ms),
        )

    async def _turn(self, port: int, number: int, turn: Turn, body: bytes, again: bool) -> None:
        self.provider.round, self.provider.bodies = turn.reply, []
        connection = Connection(port)
        reply = await connection.post(self.path, body, {"x-session-id": SESSION, "x-palimpsest-project": "bench"})
        await connection.close()
        self.seen.rows[-1].seconds.append(reply.last)
        self.seen.counts["requests"] += 1
        self._judge(number, turn, reply, len(body), again)

    def _judge(self, number: int, turn: Turn, reply: Timed, client: int, again: bool) -> None:
        seen, at = self.seen, f"turn {number}"
        if reply.status != 200 or len(self.provider.bodies) != 1:
            seen.fault("failed", f"{at}: {reply.status}, forwarded {len(self.provider.bodies)} times")
            return
        [forwarded] = self.provider.bodies
        status = reply.header("x-palimpsest-status")
        if status.startswith("degraded"):
            seen.fault("degraded", f"{at}: {status}")
        dialect = dialect_of(self.path)
        body = orjson.loads(forwarded)
        faults = dialect.check(forwarded) if dialect else ["no dialect"]
        if faults or (self.path == CHAT and (faults := broken(body["messages"]))):
            seen.fault("invalid", f"{at}: {faults[0]}")
        if len(forwarded) // 4 > self.window:
            seen.fault("over", f"{at}: {len(forwarded) // 4} tokens")
        seen.counts["client over"] += client // 4 > self.window
        said = "\n".join(_strings(body))
        for sort, text in (("task gone", self.task), *(("pinned gone", text) for text in self.pinned)):
            if text not in said:
                seen.fault(sort, f"{at}: {text[:80]!r}")
        if any(each.text not in said for each in turn.heard[-1:]) and len(turn.heard[-1].text) // 4 < self.window // 4:
            seen.fault("newest gone", f"{at}: {turn.heard[-1].text[:80]!r}")
        self._count(forwarded, client, at, again)

    def _count(self, forwarded: bytes, client: int, at: str, again: bool) -> None:
        seen, before = self.seen, self._forwarded
        kept = _common(before, forwarded)
        if before:
            # The closing of the list and of the object stands behind what can be in common.
            moved = kept < len(before) - 2
            seen.counts["moved"] += moved
            if again:
                seen.counts["kills"] += 1
                if moved and (len(before) + client - self._client) // 4 <= SURE * (self.window - RESERVE):
                    seen.fault("other bytes after a kill", f"{at}: {kept} of {len(before)} bytes")
            seen.kept += kept
            seen.before += len(before)
            seen.cost += len(forwarded) - 0.9 * kept
            seen.client_cost += client - 0.9 * self._client
        self._forwarded, self._client = forwarded, client
        seen.most = max(seen.most, len(forwarded) // 4)
        seen.rows[-1].client_tokens = client // 4

    def _measure(self, number: int, server: targets.Target) -> None:
        process = _process(server)
        if self.seen.rows:
            self.seen.rows[-1].resident_mib = process.resident_mib()
            self.seen.rows[-1].cpu_ms = process.cpu_seconds() * 1000
            self.seen.rows[-1].memories = self._memories()
        if number < len(self.turns):
            self.seen.rows.append(Row(number))

    def _memories(self) -> int:
        """Facts and passages that are remembered."""
        with closing(sqlite3.connect(f"file:{self.folder / 'home' / 'journal.db'}?mode=ro", uri=True)) as journal:
            (count,) = journal.execute(
                "SELECT (SELECT count(*) FROM facts) + (SELECT count(*) FROM passages)"
            ).fetchone()
        return int(count)

    def _pin(self, port: int, turn: Turn) -> None:
        """Pin the newest thing that was heard, if it is of a size that a person would pin."""
        dialect = dialect_of(self.path)
        assert dialect is not None
        alone = Growing(self.path, ())
        view = dialect.read(alone.hear(Turn(turn.heard[-1:], turn.reply)), str)
        message, text = view.conversation.messages[-1], turn.heard[-1].text
        if len(text) > LONGEST_PIN or len(turn.heard) > 1:
            return
        token = (self.folder / "home" / "token").read_text().strip()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/palimpsest/api/content/{handle(message.digest, 0)}?project=bench",
            json.dumps({"pinned": True}).encode(),
            {"x-palimpsest-token": token, "Content-Type": "application/json"},
            method="PATCH",
        )
        with urllib.request.urlopen(request, timeout=30) as told:
            assert json.load(told)["pinned"]
        self.pinned.append(text)


def _process(server: targets.Target) -> Process:
    assert server.process is not None
    return server.process


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _common(one: bytes, other: bytes) -> int:
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def summary(seen: Seen) -> dict[str, Any]:
    """The measures."""
    rows, earlier = [], 0.0
    for row in seen.rows:
        # A process that was killed begins to count anew.
        spent = row.cpu_ms - earlier if row.cpu_ms >= earlier else row.cpu_ms
        earlier = row.cpu_ms
        rows.append(
            {
                "from turn": row.turn,
                "client tokens": row.client_tokens,
                "resident MiB": round(row.resident_mib),
                "memories": row.memories,
                "cpu ms a turn": round(spent / max(len(row.seconds), 1), 1),
                "p50 ms": round(median(row.seconds) * 1000, 1) if row.seconds else None,
                "max ms": round(max(row.seconds, default=0) * 1000),
            }
        )
    return {
        **dict(seen.counts),
        "most tokens forwarded": seen.most,
        "prefix kept": round(seen.kept / seen.before, 4) if seen.before else None,
        "cost": round(seen.cost / seen.client_cost, 4) if seen.client_cost else None,
        "faults": seen.faults,
        "rows": rows,
    }


def main() -> None:
    """Play a session and print the measures; fails where something was not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5000)
    parser.add_argument("--window", type=int, default=60_000)
    parser.add_argument("--format", choices=FORMATS, default="chat")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--begin", type=int, default=0, help="turns that stand in the first request already")
    parser.add_argument("--every", type=int, default=1, help="turns from one request to the next")
    parser.add_argument("--transcripts", type=Path)
    arguments = parser.parse_args()
    if arguments.transcripts:
        recorded = transcripts(arguments.transcripts, 0, 0)
        turns = turns_of((each.messages for each in recorded), arguments.turns)
    else:
        turns = made_up(arguments.turns)
    kills = [(each + 1) * len(turns) // (arguments.kills + 1) for each in range(arguments.kills)]
    with tempfile.TemporaryDirectory(prefix="palimpsest-endless-") as folder:
        path, begin, every = FORMATS[arguments.format], arguments.begin, arguments.every
        session = Session(path, turns, arguments.window, Path(folder), begin, every)
        seen = asyncio.run(session.play(kills))
    print(json.dumps(summary(seen), indent=1))
    sys.exit(1 if seen.faults else 0)


if __name__ == "__main__":
    main()
