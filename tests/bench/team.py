"""Several replicas over one PostgreSQL journal, asked in turn by many sessions, while replicas are killed.

    python -m tests.bench.team [--replicas 3] [--sessions 8] [--turns 6] [--kills 2] [--people 4]
        [--database-kills 0] [--pgbouncer PROGRAM]

Sessions of several people grow turn by turn, each turn at the next replica; who meets a replica that is gone sends its
request to another one, as a client's retry does. Replicas are killed with SIGKILL in the middle, the one that does the
work first, and started again; with --database-kills the database is stopped at once and started again, too, with each
of the first so many. With --pgbouncer the replicas reach it through PgBouncer in transaction mode. An exchange counts
as acknowledged when its client has seen the end of the reply.

At the end each acknowledged exchange must stand in the journal, but where a reply said that no memory was open yet (a
balancer sends nothing to such a server). What reached the provider of a session must begin with what had reached it
before (where no reply said "degraded"), each statement must have been learnt once, and no request of one person may
hold another's words.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import psycopg

from proxy.settings import Role
from tests import postgresql
from tests.bench.pooler import pooled
from tests.bench.processes import Process, free_port
from tests.fake_provider import FakeProvider, fake_provider

PLACES = ("Oslo", "Lima", "Cairo", "Kyoto", "Quito", "Turin", "Perth", "Dakar")
CATCH_UP_SECONDS = 120.0
TRIES = 40


@dataclass
class Outcome:
    """What a run came to; empty lists where all held."""

    acknowledged: int = 0
    retried: int = 0
    degraded: int = 0
    without: int = 0
    kills: int = 0
    learnt: int = 0
    lost: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    broken_degraded: list[str] = field(default_factory=list)
    learnt_otherwise: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether all of it held."""
        return not (self.lost or self.broken or self.learnt_otherwise or self.leaked)

    def told(self) -> str:
        """The outcome in lines."""
        times = sorted(self.milliseconds) or [0.0]
        lines = [
            f"{self.acknowledged} exchanges acknowledged, {self.retried} requests sent again, {self.kills} kills",
            f"{self.without} of them at a server that had just started and said that it has no memory yet",
            f"{len(self.lost)} lost, {len(self.broken)} prefixes broken (and {len(self.broken_degraded)} of which a "
            f"reply said degraded; {self.degraded} replies said so)",
            f"{self.learnt} statements learnt, {len(self.learnt_otherwise)} not exactly once",
            f"{len(self.leaked)} requests with another person's words",
            f"a whole request: median {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms",
        ]
        for name in ("lost", "broken", "learnt_otherwise", "leaked"):
            lines += [f"{name}: {each}" for each in getattr(self, name)[:5]]
        return "\n".join(lines)


class Replica:
    """One server program with a home of its own."""

    def __init__(
        self,
        number: int,
        folder: Path,
        database: str,
        provider: str,
        hold_ms: int,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.home = folder / f"replica-{number}"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            "PALIMPSEST_HOME": str(self.home),
            "PALIMPSEST_UPSTREAM": provider,
            "PALIMPSEST__SERVER__PORT": str(self.port),
            "PALIMPSEST__MEMORY__POSTGRESQL__URL": database,
            "PALIMPSEST__MEMORY__POSTGRESQL__REPLICAS": "true",
            "PALIMPSEST__MEMORY__JOURNAL__HOLD_MS": str(hold_ms),
            # A busy machine must not decide what is measured here.
            "PALIMPSEST__MEMORY__RECALL__DEADLINE_MS": "5000",
            **(more or {}),
        }
        self.process: Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        command = [sys.executable, "-m", "proxy", "serve"]
        self.process = Process(command, self.home.parent / f"{self.home.name}.log", self._environment)
        async with aiohttp.ClientSession() as client:
            until = time.monotonic() + 120
            asked = "?role=work" if self._environment.get("PALIMPSEST__SERVER__ROLE") == Role.WORKER else ""
            while not await answers(client, f"{self.url}/palimpsest/ready{asked}"):
                if self.process.ended() is not None or time.monotonic() > until:
                    raise RuntimeError(f"replica does not start: {self.process.written()[-2000:]}")
                await asyncio.sleep(0.1)

    def kill(self) -> None:
        """End it as a crash would."""
        assert self.process is not None
        self.process.kill()


async def answers(client: aiohttp.ClientSession, url: str) -> bool:
    """Whether a check says yes."""
    try:
        async with client.get(url, timeout=aiohttp.ClientTimeout(total=5)) as reply:
            return reply.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


def says_degraded(reply: aiohttp.ClientResponse) -> bool:
    """Whether a reply says that memory did not take part as it should."""
    return reply.headers.get("x-palimpsest-status", "").startswith("degraded")


def mark(session: int, turn: int) -> str:
    """A word that stands in one statement only."""
    letters = "bcdfghjklmnp"
    return f"zu{letters[session % 12]}o{letters[session // 12 % 12]}i{letters[turn % 12]}ax{session}x{turn}"


def statement(session: int, turn: int) -> str:
    """What a person says in a turn."""
    return f"The relay {mark(session, turn)} of ours stands in {PLACES[(session + turn) % len(PLACES)]}."


class Run:
    """One run."""

    def __init__(self, replicas: list[Replica], provider: FakeProvider, people: int) -> None:
        self.replicas = replicas
        self.provider = provider
        self.people = people
        self.outcome = Outcome()
        self.receipts: dict[str, str] = {}
        self.degraded: set[int] = set()
        self._next = 0

    def person(self, session: int) -> str:
        """Whose session it is."""
        return f"person{session % self.people}"

    async def talk(self, client: aiohttp.ClientSession, session: int, turns: int) -> None:
        """A session of so many turns."""
        messages: list[dict[str, str]] = []
        for turn in range(turns):
            messages.append({"role": "user", "content": statement(session, turn)})
            await self._turn(client, session, turn, messages)
            messages.append({"role": "assistant", "content": self.provider.reply})

    async def _turn(
        self, client: aiohttp.ClientSession, session: int, turn: int, messages: list[dict[str, str]]
    ) -> None:
        body = {"model": "bench", "messages": messages, "stream": True}
        headers = {
            # Half of the sessions have no id that their client tells.
            **({"x-session-id": f"team-{session}"} if session % 2 else {}),
            "x-palimpsest-project": "relays",
            "x-bench-tag": f"{session}.{turn}",
        }
        for again in range(TRIES):
            self._next += 1
            replica = self.replicas[self._next % len(self.replicas)]
            began = time.perf_counter()
            try:
                url = f"{replica.url}/u/{self.person(session)}/v1/chat/completions"
                async with client.post(url, json=body, headers=headers) as reply:
                    whole = await reply.read()
                    if reply.status != 200 or not whole.endswith(b"data: [DONE]\n\n"):
                        raise aiohttp.ClientError(f"{reply.status}: {whole[-100:]!r}")
            except (aiohttp.ClientError, ConnectionError, TimeoutError):
                self.outcome.retried += 1
                await asyncio.sleep(0.05 * (again + 1))
                continue
            self.outcome.milliseconds.append((time.perf_counter() - began) * 1000)
            self.outcome.acknowledged += 1
            receipt, degraded = reply.headers.get("x-palimpsest-receipt"), says_degraded(reply)
            if degraded:
                self.outcome.degraded += 1
                self.degraded.add(session)
            if receipt is None and degraded:
                self.outcome.without += 1
            else:
                self.receipts[receipt or f"none of {session}.{turn}"] = f"{session}.{turn}"
            return
        raise RuntimeError("no replica answers")

    def check_forwarded(self) -> None:
        """What reached the provider: prefixes, and whose words they are."""
        sent: dict[int, list[Any]] = defaultdict(list)
        words = {mark(session, turn): self.person(session) for session, turn in self._said()}
        for request in self.provider.requests:
            tag = request.headers.get("x-bench-tag", "")
            if not tag:
                continue
            session = int(tag.partition(".")[0])
            text = request.body.decode()
            others = [word for word, person in words.items() if person != self.person(session) and word in text]
            self.outcome.leaked += [f"{tag} has {word}" for word in others]
            messages = orjson.loads(request.body)["messages"]
            before = sent[session]
            shared = min(len(before), len(messages))
            if before[:shared] != messages[:shared]:
                broken = self.outcome.broken_degraded if session in self.degraded else self.outcome.broken
                broken.append(f"{tag}: {before[:shared]} then {messages[:shared]}"[:2000])
            sent[session] = messages

    def check_journal(self, database: str) -> None:
        """What stands in the journal: receipts, and what was learnt."""
        with psycopg.connect(database, options="-c palimpsest.owners=*") as connection:
            there = {id for (id,) in connection.execute("SELECT id FROM receipts WHERE exchange IS NOT NULL")}
            self.outcome.lost += [f"{tag}: {id}" for id, tag in self.receipts.items() if id not in there]
            texts = [text for (text,) in connection.execute("SELECT text FROM passages")]
        for session, turn in self._said():
            times = sum(mark(session, turn) in text for text in texts)
            self.outcome.learnt += times > 0
            if times != 1:
                self.outcome.learnt_otherwise.append(f"{session}.{turn}: {times} times")

    def _said(self) -> list[tuple[int, int]]:
        return [(int(session), int(turn)) for session, turn in (tag.split(".") for tag in self.receipts.values())]


def behind(database: str) -> int:
    """How many exchanges are still to be learned from."""
    with psycopg.connect(database, options="-c palimpsest.owners=*") as connection:
        row = connection.execute("SELECT count(*) FROM exchanges WHERE number > named_number('learned')").fetchone()
    return int(row[0]) if row else 0


async def working(client: aiohttp.ClientSession, replicas: list[Replica]) -> Replica | None:
    """The replica that does the work."""
    for each in replicas:
        if await answers(client, f"{each.url}/palimpsest/ready?role=work"):
            return each
    return None


async def run(
    replicas: int,
    sessions: int,
    turns: int,
    kills: int,
    people: int,
    folder: Path,
    again: bool = True,
    database_kills: int = 0,
    pgbouncer: str = "",
) -> Outcome:
    """All of it; what was killed is started ``again``. The database is killed with the first ``database_kills``
    replicas. ``pgbouncer`` is its program, where it is to stand between.

    Raises:
        RuntimeError: when there is no PostgreSQL, or a replica does not start.
    """
    server = postgresql.server()
    if server is None:
        raise RuntimeError("there is no PostgreSQL on this machine")
    database, more = server.database(folder), {}
    async with AsyncExitStack() as stack:
        url = database
        if pgbouncer:
            url = stack.enter_context(pooled(pgbouncer, database, folder, server.user or ""))
            more["PALIMPSEST__MEMORY__POSTGRESQL__DIRECT_URL"] = database
        provider = await stack.enter_async_context(fake_provider())
        client = await stack.enter_async_context(aiohttp.ClientSession())
        # What is set aside on a replica's disk comes into the journal when that one is started again.
        hold_ms = 50 if again else 10_000
        started = [Replica(number, folder, url, provider.url, hold_ms, more) for number in range(replicas)]
        try:
            await asyncio.gather(*(each.start() for each in started))
            played = Run(started, provider, people)
            talks = [asyncio.create_task(played.talk(client, session, turns)) for session in range(sessions)]
            for number in range(kills):
                wanted = (number + 1) * sessions * turns // (kills + 1)
                while played.outcome.acknowledged < wanted and not all(each.done() for each in talks):  # noqa: ASYNC110 (a count)
                    await asyncio.sleep(0.01)
                killed = await working(client, started) or started[number % replicas]
                killed.kill()
                played.outcome.kills += 1
                if number < database_kills:
                    await asyncio.to_thread(server.pause)
                    await asyncio.to_thread(server.resume)
                if again:
                    await killed.start()
            await asyncio.gather(*talks)
            until = time.monotonic() + CATCH_UP_SECONDS
            while await asyncio.to_thread(behind, database) and time.monotonic() < until:  # noqa: ASYNC110 (asked)
                await asyncio.sleep(0.2)
            played.check_forwarded()
            await asyncio.to_thread(played.check_journal, database)
            return played.outcome
        finally:
            for each in started:
                if each.process is not None:
                    each.process.kill()
            server.give_back()


def main() -> int:
    """Run it, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = {"replicas": 3, "sessions": 8, "turns": 6, "kills": 2, "people": 4, "database-kills": 0}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--pgbouncer", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palimpsest-team-") as folder:
        outcome = asyncio.run(run(folder=Path(folder), **vars(given)))
    print(outcome.told())
    return 0 if outcome.held else 1


if __name__ == "__main__":
    sys.exit(main())
