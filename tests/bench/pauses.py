"""Recorded sessions through the real proxy, with pauses after which the provider's cache is gone: what do they cost,
and how well is kept what is needed next?

    python -m tests.bench.pauses FOLDER [--window 60000] [--limit 40] [--every 0 40 10] [--json]

Each turn comes twenty seconds after the one before, and every so many turns (0: never) an hour later; then nothing is
in the cache, of the client's own history neither. The cost is that of the input against a client's whose history is
passed on as it is, with the same pauses. Sessions, measures and the price of cached text (a tenth) are those of
``tests.bench.shedding``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from tests.bench.shedding import Play, Recorded, Rules, table
from tests.bench.transcripts import Rendered, Seen, Tally, transcripts
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

TURN, PAUSE = timedelta(seconds=20), timedelta(hours=1)
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
MOST = 600


class Clock:
    """A clock that is moved."""

    def __init__(self) -> None:
        self.at = BEGAN

    def now(self) -> datetime:
        """The time."""
        return self.at


class Through:
    """One session through the proxy."""

    def __init__(self, recorded: Recorded, window: int, proxy: Running, provider: FakeProvider, clock: Clock) -> None:
        self.recorded, self.proxy, self.provider, self.clock = recorded, proxy, provider, clock
        self.play = Play(recorded, Rules(window=window))

    async def run(self, every: int) -> Tally:
        """All its requests."""
        seen, added = Seen(), 0
        messages = self.recorded.transcript.messages
        for number, count in enumerate([*self.recorded.requests()][:MOST]):
            while added < count:
                seen.add(added, messages[added], self.recorded.names[added])
                added += 1
            cold = bool(every) and number % every == every - 1
            if cold:
                await self._rest()
            self.clock.at += PAUSE if cold else TURN
            forwarded = [Rendered.of(each) for each in await self._forwarded(count)]
            self.play.judge(forwarded, count, cold)
            if (number + 1) % 3 == 0 or number < 29:
                self.play.support(forwarded, count, seen)
        return self.play.tally

    async def _forwarded(self, count: int) -> list[dict[str, Any]]:
        said = self.recorded.transcript.messages[count]
        told: list[dict[str, Any]] = []

        async def answer(request: web.Request) -> web.Response:
            body = self.provider.last.body
            told[:] = orjson.loads(body)["messages"]
            usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 10, "total_tokens": len(body) // 4 + 10}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            return web.json_response({"id": "c", "choices": [choice], "usage": usage})

        self.provider.answer = answer
        body = {"model": "m", "tools": self.recorded.schemas, "messages": self.recorded.transcript.messages[:count]}
        status, reply, headers = await self.proxy.post(
            "/v1/chat/completions", body, x_session_id=self.recorded.transcript.id, x_palimpsest_project="bench"
        )
        if status != 200:
            raise RuntimeError(f"{status}: {reply[:200]!r}")
        self.play.tally.sums["degraded"] += headers.get("x-palimpsest-status", "").startswith("degraded")
        return told

    async def _rest(self) -> None:
        """In a pause all that waits is worked off."""
        await self.proxy.learned()
        assert self.proxy.edge.memory is not None
        await self.proxy.edge.memory.tier_worker.catch_up()


async def played(recorded: Sequence[Recorded], window: int, every: int) -> tuple[Tally, dict[str, int]]:
    """All sessions with a pause so often, on an empty memory; and how many sheds there were of each sort."""
    tally, clock = Tally(), Clock()
    options = {"memory.windows": {"*": window}, "now": clock.now}
    with tempfile.TemporaryDirectory(prefix="palimpsest-pauses-") as folder:
        async with (
            fake_provider() as provider,
            running(provider, Path(folder) / "home", **options) as proxy,
        ):
            for each in recorded:
                tally.add(await Through(each, window, proxy, provider, clock).run(every))
            assert proxy.edge.memory is not None
            receipts = await proxy.edge.memory.journal.receipts(10**9)
    sheds = [receipt.shed for receipt in receipts if receipt.shed]
    tally.sums["sheds"] = len(sheds)
    tally.sums["cuts"] = sum(shed.step == "rotate" for shed in sheds)
    return tally, {"cold": sum(not shed.warm for shed in sheds), "degraded": tally.sums["degraded"]}


def main() -> None:
    """Play a folder and print the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--window", type=int, default=60_000)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--every", type=int, nargs="+", default=[0, 40, 10])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    recorded = [Recorded.of(each) for each in transcripts(arguments.folder, 0, arguments.limit)]
    tallies: dict[str, Tally] = {}
    beside: dict[str, dict[str, int]] = {}
    for every in arguments.every:
        name = f"every {every}" if every else "none"
        tallies[name], beside[name] = asyncio.run(played(recorded, arguments.window, every))
    if arguments.json:
        print(json.dumps({name: tally.row() | beside[name] for name, tally in tallies.items()}, indent=1))
    else:
        print(table(tallies))
        print("\n".join(f"{name}: {told}" for name, told in beside.items()))


if __name__ == "__main__":
    main()
