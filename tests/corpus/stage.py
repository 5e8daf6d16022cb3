"""Plays a scene: a client, the real proxy with real stores in this process, and a provider that says what it is told.

Between two exchanges everything that memory does by itself is done, in one order: its workers are stopped, and each
of them is asked to catch up. Deadlines are so long that none is ever met.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from aiohttp import web

from memory.parts import Memory
from tests import rooms
from tests.bench.sessions import Growing, Turn
from tests.corpus.fixed import Clock
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say, document, stream
from tests.running import Running, running

LONG_MS = 60_000
PATIENT: Mapping[str, Any] = {
    "memory.recall.deadline_ms": LONG_MS,
    "memory.recall.longest_ms": LONG_MS,
    "memory.research.deadline_ms": LONG_MS,
    "memory.page.device": "corpus",
    "memory.night.enabled": False,
}
"""Nothing is ever late, nothing is named after this machine, and nights come when a scene says so."""

OURS = "x-palimpsest-"
SORTS = ("fact", "passage", "research", "candidate")


@dataclass(frozen=True)
class Exchange:
    """What one request came to: ``bodies`` by name, what was forwarded before what was answered."""

    name: str
    bodies: tuple[tuple[str, bytes], ...]


@dataclass
class Stage:
    """One scene on its way."""

    name: str
    provider: FakeProvider
    proxy: Running
    clock: Clock
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def memory(self) -> Memory:
        """The open memory."""
        assert self.proxy.edge.memory is not None
        return self.proxy.edge.memory

    async def send(self, label: str, path: str, body: Any, *replies: Round | int, **headers: str) -> bytes:
        """One request of a client, to which the provider says these rounds (a number is a status to refuse with, and
        where there is none left it says OK); the reply."""
        self.provider.answer = _scripted(self.provider, path.partition("?")[0], replies)
        self.provider.requests.clear()
        status, reply, told = await self.proxy.post(path, body, **headers)
        forwarded = [("forwarded", request.body) for request in self.provider.requests]
        ours = "".join(f"{key.lower()}: {told[key]}\n" for key in sorted(told) if key.lower().startswith(OURS))
        self._add(label, *forwarded, ("reply", f"{status}\n{ours}\n".encode() + reply))
        await self.quiet()
        self.clock.pass_by(minutes=1)
        return reply

    async def turn(self, label: str, session: Growing, turn: Turn, *hidden: Round, **headers: str) -> None:
        """One turn of a session that grows; ``hidden`` rounds come before the reply, and the client sees of them what
        is not a call of memory's tools."""
        await self.send(label, session.path, session.hear(turn), *hidden, turn.reply, **headers)
        seen = [part for each in hidden for part in each.parts if not (isinstance(part, Call) and _ours(part))]
        session.answered(Turn((), Round((*seen, *turn.reply.parts), turn.reply.usage, turn.reply.id)))

    async def ask(self, label: str, method: str, path: str, body: Any = None) -> Any:
        """Ask memory's own endpoints; the answer."""
        reason = await self._asked(method, path, body)
        self._add(label, ("answer", reason))
        await self.quiet()
        return orjson.loads(reason)

    async def forget(self, query: str, project: str = "loom") -> list[str]:
        """Have forgotten what has to do with a query; the ids."""
        # What would go is told with its strength at the real moment, which is another one in every run.
        told = orjson.loads(await self._asked("POST", f"api/forget?project={project}", {"query": query}))
        ids = [each["id"] for each in told["would_forget"]]
        if ids:
            await self.ask("forget", "POST", f"api/forget?project={project}", {"ids": ids})
        return ids

    async def export(self, user: str = "local") -> None:
        """Everything that memory holds of a person, as an export gives it out."""
        inventory = await self._asked("GET", f"api/export?user={user}")
        told = {"inventory": inventory}
        for sort in SORTS:
            path = f"api/export/{sort}?user={user}&owner="
            each = [await self._asked("GET", path + quote(owner)) for owner in orjson.loads(inventory)["owners"]]
            told[sort] = b"".join(each)
        self._add("export", *told.items())

    async def _asked(self, method: str, path: str, body: Any = None) -> bytes:
        headers = {"Authorization": f"Bearer {self.proxy.edge.token}"}
        url = f"{self.proxy.url}/palimpsest/{path}"
        data = None if body is None else orjson.dumps(body)
        async with self.proxy.client.request(method, url, data=data, headers=headers) as reply:
            told = await reply.read()
            assert reply.status < 300, (path, told)
        return told.replace(str(self.memory.home).encode(), b"HOME")

    async def night(self) -> None:
        """A night passes."""
        self.clock.pass_by(hours=12)
        await rooms.nights(self.memory).runner.run()
        await self.quiet()

    async def quiet(self) -> None:
        """Let memory do all that there is to do."""
        memory = self.memory
        await memory.preparation.settle()
        await self.proxy.learned()
        await memory.learner._settle(True)
        await memory.tier_worker.catch_up()
        await rooms.subagents(memory).worker.catch_up()
        await rooms.subagents(memory).worker._settle(True)
        await memory.learner.catch_up()
        await memory.entity_graph.catch_up()
        await memory.recall.weighing.settle()
        await memory.cache_warmer.settle()
        if memory.preparation._fitting is not None:
            await memory.preparation._fitting._shedding.settle()
        await memory.token_counting.settle()
        await memory.usage_calibration.settle()
        await memory.pages.refresh()
        await memory.pages.settle()

    def _add(self, label: str, *bodies: tuple[str, bytes]) -> None:
        self.exchanges.append(Exchange(f"{self.name}/{len(self.exchanges):03d} {label}", bodies))


@asynccontextmanager
async def stage(name: str, home: Path, options: Mapping[str, Any]) -> AsyncIterator[Stage]:
    """A stage for a scene; ``options`` are dotted settings."""
    clock = Clock()
    async with fake_provider() as provider, running(provider, home, now=clock, **{**PATIENT, **options}) as proxy:
        played = Stage(name, provider, proxy, clock)
        memory = played.memory
        await memory.cache_warmer.settle()
        for following in memory.followers:
            await following.stop()
        await memory.entity_graph.stop()
        await memory.index_repair.stop()
        await memory.retention.stop()
        # Counted exactly from the first request on: when it is loaded beside is a matter of the machine.
        memory.token_counting._tokenizer.count("")
        yield played
        assert not proxy.edge.degradations.counts, proxy.edge.degradations


def _scripted(provider: FakeProvider, path: str, replies: tuple[Round | int, ...]) -> Any:
    left = deque(replies)

    async def answer(request: web.Request) -> web.StreamResponse:
        said = left.popleft() if left else Round((Say("OK."),))
        if isinstance(said, int):
            return web.json_response({"error": {"message": "prompt is too long: 9000 tokens > 5000"}}, status=said)
        if path not in PATHS:
            return web.json_response({"object": "list", "data": []})
        if not _streams(provider.last.body):
            return web.Response(body=document(path, said), content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(stream(path, said))
        await response.write_eof()
        return response

    return answer


def _streams(body: bytes) -> bool:
    try:
        return bool(orjson.loads(body).get("stream"))
    except (ValueError, AttributeError):
        return False


def _ours(call: Call) -> bool:
    return call.name.startswith("memory_")
