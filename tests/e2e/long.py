"""Sessions that would overflow: far larger than the window in which a client compacts them, several times over.

With shedding off, each client is seen to ask for its summary. With it on none does, all that is forwarded is valid
and fits, what left comes back when it is turned to, and the proxy may be killed on the way.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proxy.wire import dialect_of
from tests.e2e.clients import Client
from tests.e2e.material import Detail, File, write_files
from tests.e2e.sandbox import PATIENCE
from tests.e2e.stage import Failed, Stage
from tests.e2e.walk import Walk

OVER = 3
"""How many times a client's threshold is passed."""
REPLY = "All of it was read: the offices, their gates, and what each of them takes on a day."
GATE_SECONDS = 120.0 * PATIENCE

_HANDLE = re.compile(r"palimpsest show ([0-9a-f]{12}\.\d+)")


class Unshed(Stage):
    """What happens without shedding: the check that the others can fail."""

    name = "unshed"

    def settings(self) -> Mapping[str, Any]:
        return {"memory": {"windows": {"*": self.client.narrow}, "shedding": {"enabled": False}}}

    async def scenes(self) -> None:
        await self.check("without shedding it compacts its session", self._compacts)

    async def _compacts(self) -> None:
        files = _files(self.client, self.project, 1.1)
        calls = tuple(self.client.read(file.path) for file in files)
        try:
            await self.turn("Read what the offices do.", calls=calls, say=REPLY)
            await self.turn("Let us go on.", resume=True, say="With pleasure.")
        except Failed:
            pass  # how it fares with its summary is its own matter
        if not any(one.compaction for one in self.model.seen):
            largest = max((one.tokens for one in self.model.seen), default=0)
            raise Failed(f"no summary was asked for, at {largest} tokens of {self.client.compacts}")


class Long(Stage):
    """One long session with shedding on."""

    name = "long"
    in_sight = True
    """Whether each request brings the whole history: what left comes back to what the proxy sees it missing from."""
    _before = 0
    """How many requests had been seen when the proxy was killed."""

    @property
    def walk(self) -> Walk:
        """The script, which can pause."""
        assert isinstance(self.model.script, Walk)
        return self.model.script

    def settings(self) -> Mapping[str, Any]:
        return {"memory": {"windows": {"*": self.client.narrow}}}

    async def scenes(self) -> None:
        self._files = _files(self.client, self.project, OVER)
        first, second, third = (self._files[at::3] for at in range(3))
        await self.check("a window is filled; the proxy is killed, and started again", lambda: self._killed(first))
        await self.check("the next request goes on with the same bytes", self._same_bytes)
        await self.check("the session is resumed, and filled once more", lambda: self._reads("Read more.", second))
        await self.check("and resumed, and filled again", lambda: self._reads("Read the rest.", third))
        await self.check("what left comes back when it is asked for", self._asked_for)
        if self.in_sight:
            await self.check("what left comes back when the model turns to it", self._turned_to)
        await self.check("a stub's handle shows the whole", self._shown)
        await self.check(f"its threshold was passed {OVER} times over", self._passed_over)
        await self.check("no summary was ever asked for", self._never_compacted)
        await self.check("all that was forwarded is valid", self._valid)
        await self.check("all that was forwarded fits", self._fits)
        await self.check("what the person asked stands in every request", self._asked_stands)

    async def _reads(self, words: str, files: Sequence[File]) -> None:
        calls = tuple(self.client.read(file.path) for file in files)
        await self.turn(words, resume=True, calls=calls, say=REPLY)

    async def _killed(self, files: Sequence[File]) -> None:
        """Kill the proxy right after something has left, while the client waits for a tool: its next request comes
        from the same process."""
        begun, gate = self.project / "begun", self.project / "gate"
        self.walk.pause = self.client.shell(f"touch {begun}; until [ -e {gate} ]; do sleep 0.1; done; echo open")
        calls = tuple(self.client.read(file.path) for file in files)
        turn = asyncio.create_task(self.turn("Read what the offices do.", calls=calls, say=REPLY))
        try:
            if await _appears(begun, unless=turn.done):
                await self._acknowledged()
                self._before = len(self.model.seen)
                await self.restart()
        finally:
            gate.touch()
            await turn

    async def _acknowledged(self) -> None:
        """Wait until the client may have seen the end of every reply: some run a tool before, and what was not
        acknowledged dies with the proxy."""
        turns = sum(bool(one.step) for one in self.model.seen)

        async def journaled() -> bool | None:
            return (await self.ask("api/status"))["stored"]["exchanges"] >= turns or None

        await self.soon(journaled, lambda: f"not all of {turns} exchanges come to be in the journal")

    async def _same_bytes(self) -> None:
        if not self._before or self._before >= len(self.model.seen):
            raise Failed("nothing left the requests, so the proxy was not killed")
        before, after = self.model.seen[self._before - 1 : self._before + 1]
        if not _stubs(before.raw):
            raise Failed("there was no stub in the last request before the kill")
        if after.messages[: len(before.messages)] != before.messages:
            at = next(at for at, (a, b) in enumerate(zip(before.messages, after.messages, strict=False)) if a != b)
            raise Failed(f"message {at} of {len(before.messages)} is not as it was forwarded before the kill")

    async def _asked_for(self) -> None:
        detail = self._absent()
        _, forwarded = await self.turn(detail.asked, resume=True, say="Let me look at it.")
        if detail.line.strip() not in forwarded[0].raw:
            raise Failed(f"{detail.line.strip()!r} of {detail.name} is not in the request that asks for it")

    async def _turned_to(self) -> None:
        detail = self._absent()
        calls = (self.client.shell(f"echo {detail.name} in {detail.file}"),)
        _, forwarded = await self.turn("Look once more.", resume=True, calls=calls, say="I looked at it.")
        if detail.line.strip() not in forwarded[1].raw:
            raise Failed(f"{detail.line.strip()!r} of {detail.name} is not in the request after the call")

    async def _shown(self) -> None:
        handles = next((found for one in reversed(self.model.seen) if (found := _stubs(one.raw))), [])
        if not handles:
            raise Failed("there is no stub")
        whole = await self.palimpsest("show", handles[0])
        said = json.dumps(whole)[1:-1]
        if len(whole) < self.client.shows // 2 or not any(said in one.raw for one in self.model.seen):
            raise Failed(f"{handles[0]} shows something else than was read: {whole[:300]}")

    async def _passed_over(self) -> None:
        said = sum(len(str(one.messages[-1])) // 4 for one in self.model.seen)
        if said < OVER * self.client.compacts:
            raise Failed(f"only {said} tokens of {OVER} times {self.client.compacts}")

    async def _never_compacted(self) -> None:
        asked = [at for at, one in enumerate(self.model.seen) if one.compaction]
        if asked:
            sizes = [one.tokens for one in self.model.seen[: asked[0] + 1]][-6:]
            raise Failed(f"requests {asked} of {len(self.model.seen)}; the last sizes before: {sizes}")

    async def _valid(self) -> None:
        for at, one in enumerate(self.model.seen):
            dialect = dialect_of(one.path)
            broken = dialect.check(self.client.corrected(one.raw).encode()) if dialect else ["unknown path"]
            if broken:
                raise Failed(f"request {at} of {len(self.model.seen)}: {'; '.join(broken)[:300]}")

    async def _fits(self) -> None:
        largest = max(one.tokens for one in self.model.seen)
        if largest > self.client.narrow:
            raise Failed(f"{largest} tokens of {self.client.narrow}")

    async def _asked_stands(self) -> None:
        for step in self.model.script.steps.values():
            for at, one in enumerate(self.model.of_step(step.number)):
                if step.mark not in one.raw:
                    raise Failed(f"request {at} of step {step.number} does not say what was asked")

    def _absent(self) -> Detail:
        """A detail that was read and has left; of the file that was read last, since a client may itself have cleared
        what is older."""
        last = next(one.raw for one in reversed(self.model.seen) if one.step)
        for file in reversed([*self._files[::3], *self._files[1::3], *self._files[2::3]]):
            for detail in file.details:
                if detail.line.strip() not in last:
                    return detail
        raise Failed("everything that was read stands in the last request")


def _files(client: Client, project: Path, over: float) -> list[File]:
    """Files that pass a client's threshold so many times."""
    return write_files(project / "offices", int(over * client.compacts * 4 / client.shows) + 1, client.shows)


async def _appears(file: Path, unless: Callable[[], bool]) -> bool:
    """Whether a file comes to be, in time, ``unless`` something happens."""
    deadline = asyncio.get_running_loop().time() + GATE_SECONDS
    while not await asyncio.to_thread(file.exists):
        if unless() or asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


def _stubs(raw: str) -> list[str]:
    return list(dict.fromkeys(_HANDLE.findall(raw)))
