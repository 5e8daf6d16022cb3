"""What every scenario stands on: the proxy as a process, a client's turns, and checks that are told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import aiohttp

from proxy.connect import NotEditable
from tests.e2e.clients import Beside, Client
from tests.e2e.model import Forwarded, Model
from tests.e2e.prefixes import Growth, Pair, growth
from tests.e2e.sandbox import PATIENCE, end_group, listening, run
from tests.e2e.script import Step
from tests.e2e.tap import NUMBER, Tap

TURN_SECONDS = 180.0 * PATIENCE
START_SECONDS = 60.0 * PATIENCE
STOP_SECONDS = 30.0 * PATIENCE
SOON_SECONDS = 90.0 * PATIENCE
"""How long what is done beside the requests may take until it shows."""
LOOK_SECONDS = 0.2
RECEIPT = "x-palimpsest-receipt"
MOST_RECEIPTS = 1000
PROXY_PORT = 8484
TAP_PORT = 8485
"""Where the client finds the proxy: its requests are kept on the way."""

PATIENT = {
    "PALIMPSEST__MEMORY__RECALL__DEADLINE_MS": "20000",
    "PALIMPSEST__MEMORY__RESEARCH__DEADLINE_MS": "20000",
    "PALIMPSEST__MEMORY__CHECKOUTS__WAIT_MS": "10000",
    "PALIMPSEST__MEMORY__JOURNAL__HOLD_MS": "10000",
    "PALIMPSEST__MEMORY__NIGHT__ENABLED": "false",
}
"""What is checked is what memory adds and keeps, not how fast the machine is: a request goes on without memories that
are late, as it should, and what is late for the journal dies with a process that is killed. How long all of it takes is
measured by ``tests.bench``. And no run is another one for being played at the hour of the night's work."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    name: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0


class Failed(Exception):
    """A check did not hold."""


class Stage:
    """One client's run of one scenario. ``settings`` are the proxy's."""

    name = ""
    lays_prefixes: ClassVar[bool] = True
    """Whether all that is forwarded is laid beside what the client itself sent. Not where sessions have one request
    each."""

    def __init__(self, client: Client, model: Model, upstream: str, folder: Path) -> None:
        self.client = client
        self.model = model
        self.upstream = upstream
        self.folder = folder
        self.checks: list[Check] = []
        self.tap = Tap(TAP_PORT, PROXY_PORT)
        self._proxy: asyncio.subprocess.Process | None = None
        self._beside: asyncio.subprocess.Process | None = None

    @property
    def project(self) -> Path:
        """Where the client works if nothing else is said."""
        return self.client.place.projects[0]

    def settings(self) -> Mapping[str, Any]:
        """What the proxy is told beside its defaults."""
        return {}

    async def scenes(self) -> None:
        """All that is played, once the proxy runs and the client is configured."""
        raise NotImplementedError

    async def play(self) -> list[Check]:
        """All of it; a check that fails does not keep the others from being made."""
        try:
            if await self.check("the proxy starts, and connect configures the client", self._begin):
                await self.scenes()
                if self.lays_prefixes:
                    await self.check("no prefix is shorter than the client's own", self.grows)
                await self.check("the proxy is well, and ends when it is told to", self.well)
        finally:
            if self._beside is not None and self._beside.returncode is None:
                end_group(self._beside.pid)
                await self._beside.wait()
            await self.tap.stop()
            await self.stop()
        return self.checks

    async def check(self, name: str, action: Callable[[], Awaitable[object]]) -> bool:
        """Do something that raises :class:`Failed` where it does not hold; whether it held. A fault tells what of
        memory failed or was late meanwhile; a text that the action gives back is told with it."""
        started, fault, heard = time.monotonic(), "", len(self._degraded())
        found: object = None
        try:
            found = await action()
        except Failed as failed:
            fault = str(failed)
        except (NotEditable, OSError, aiohttp.ClientError) as error:
            fault = f"{type(error).__name__}: {error}"
        if fault and (degraded := self._degraded()[heard:]):
            fault += f"; meanwhile {'; '.join(degraded)}"
        detail = fault or (found if isinstance(found, str) else "")
        self.checks.append(Check(name, not fault, detail, time.monotonic() - started))
        return not fault

    async def start(self) -> None:
        """Start the proxy, on what it kept before, and wait until its stores are open: a request that comes earlier
        goes on without memory, as it should."""
        command = [sys.executable, "-m", "proxy", "serve", "--port", str(PROXY_PORT), "--upstream", self.upstream]
        with (self.folder / "proxy.log").open("ab") as log:
            self._proxy = await asyncio.create_subprocess_exec(
                *command,
                env=self._environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        gone = self._proxy
        if not await listening(PROXY_PORT, START_SECONDS, unless=lambda: gone.returncode is not None):
            raise Failed(f"the proxy does not listen: {self.log()[-600:]}")
        await self.soon(self._opened, lambda: f"its stores are not open: {self.log()[-600:]}")

    async def _opened(self) -> bool | None:
        return (await self._health())["status"] != "opening" or None

    async def _health(self) -> dict[str, Any]:
        address = f"http://127.0.0.1:{PROXY_PORT}/palimpsest/health"
        async with aiohttp.ClientSession() as session, session.get(address) as reply:
            health: dict[str, Any] = await reply.json()
            return health

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the proxy, if it runs."""
        if self._proxy is None or self._proxy.returncode is not None:
            return
        self._proxy.send_signal(how)
        try:
            await asyncio.wait_for(self._proxy.wait(), STOP_SECONDS)
        except TimeoutError:
            end_group(self._proxy.pid)
            await self._proxy.wait()

    async def restart(self) -> None:
        """Kill the proxy, and start it again."""
        await self.stop(signal.SIGKILL)
        await self.start()

    async def palimpsest(self, *arguments: str) -> str:
        """What a command of the proxy's says."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proxy", *arguments),
            env=self._environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said, complained = await asyncio.wait_for(process.communicate(), START_SECONDS)
        except TimeoutError:
            process.kill()
            raise Failed(f"palimpsest {' '.join(arguments)} took more than {START_SECONDS:.0f} s") from None
        if process.returncode != 0:
            raise Failed(f"palimpsest {' '.join(arguments)}: {(complained or said).decode()[-300:]}")
        return said.decode()

    async def turn(
        self, words: str, resume: bool = False, project: Path | None = None, **told: Any
    ) -> tuple[Step, list[Forwarded]]:
        """One turn of the client; what was forwarded for it."""
        step = self.model.script.add(**told)
        self.client.at(project or self.project)
        status, said = await run(
            self.client.command(f"{words} {step.mark}", resume),
            project or self.project,
            self.client.everything(),
            TURN_SECONDS,
            self.folder / "client.log",
        )
        if status is None:
            raise Failed(f"the client took more than {TURN_SECONDS:.0f} s: {said[-300:]}")
        if status != 0:
            raise Failed(f"the client ended with {status}: {said[-400:]}")
        forwarded = self.model.of_step(step.number)
        if not forwarded:
            raise Failed(f"nothing was forwarded: {said[-300:]}")
        if step.say not in said:
            raise Failed(f"the client did not show the model's answer: {said[-300:]}")
        step.shown = said
        return step, forwarded

    async def growth(self) -> Growth:
        """How the requests of the sessions so far went on from one another."""
        receipts = {one["id"]: one for one in (await self.ask(f"api/log?limit={MOST_RECEIPTS}"))["receipts"]}
        sent = {one.number: one for one in self.tap.sent}
        first = dict[int, Pair]()
        for one in self.model.seen:
            number = int(one.headers.get(NUMBER, "0"))
            if number in sent and not one.compaction and (one.body.get("tools") or not self.client.tools):
                receipt = receipts.get(sent[number].answered.get(RECEIPT, ""), {})
                shed = receipt["shed"] if receipt else None
                first.setdefault(number, Pair(sent[number].body, one.body, shed["step"] if shed else ""))
        return growth(first.values())

    async def grows(self) -> str:
        """No request shares less with the one before it than what the client itself sent, unless its own receipt says
        that something left it, and then only from there on; how many did."""
        told = await self.growth()
        if faults := told.faults():
            raise Failed(f"of {told.compared}: {'; '.join(faults)}")
        if not told.compared:
            raise Failed("no request goes on from another one")
        return f"{told.moved} of {told.compared} moved with what was shed"

    async def say(self, words: str) -> Forwarded:
        """One request of a plain program in the client's project, a session of its own; what was forwarded for it."""
        system = {"role": "system", "content": f"Working directory: {self.project}"}
        body = {"model": "scripted", "messages": [system, {"role": "user", "content": words}]}
        url = f"http://127.0.0.1:{PROXY_PORT}/v1/chat/completions"
        headers = {"Authorization": "Bearer sk-scripted"}
        async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as reply:
            if reply.status != 200:
                raise Failed(f"{words!r} was answered with {reply.status}: {(await reply.text())[:300]}")
        return next(one for one in reversed(self.model.seen) if words in one.raw)

    async def ask(self, path: str) -> dict[str, Any]:
        """What an endpoint of the proxy's answers; a command takes seconds to start."""
        token = (self.folder / "palimpsest" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{PROXY_PORT}/palimpsest/{path}"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as reply:
            reason: dict[str, Any] = await reply.json()
            return reason

    async def soon(self, what: Callable[[], Awaitable[T | None]], missing: Callable[[], str]) -> T:
        """What comes to be in time; ``missing`` says what there is instead."""
        deadline = time.monotonic() + SOON_SECONDS
        while (found := await what()) is None:
            if time.monotonic() > deadline:
                raise Failed(missing())
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def learnt(self) -> None:
        """Wait until memory has learned from all that was said, and can find it."""
        status: dict[str, Any] = {}

        async def done() -> bool | None:
            nonlocal status
            status = await self.ask("api/status")
            owed = [status["stored"]["behind"], status["waiting"], status["kept"]] if "stored" in status else [1]
            return True if not any(owed) else None

        await self.soon(done, lambda: f"memory is behind: {json.dumps(status)[:400]}")

    async def well(self) -> None:
        """The proxy runs, its memory is on, and it ends when it is told to, without a traceback."""
        if self._proxy is None or self._proxy.returncode is not None:
            raise Failed("the proxy is gone")
        health = await self._health()
        if health.get("memory") != "on":
            raise Failed(f"its memory is not on: {health}")
        await self.stop()
        if self._proxy.returncode != 0:
            raise Failed(f"it ended with {self._proxy.returncode}: {self.log()[-600:]}")
        if "Traceback" in self.log():
            raise Failed(f"a traceback in the proxy's log: {self.log()[self.log().index('Traceback') :][:600]}")

    def log(self) -> str:
        """What the proxy said."""
        file = self.folder / "proxy.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def _degraded(self) -> list[str]:
        """The lines of its log that tell where memory failed or was late."""
        return [line for line in self.log().splitlines() if "memory failed while" in line]

    async def _begin(self) -> None:
        home = self.folder / "palimpsest"
        home.mkdir(mode=0o700, exist_ok=True)
        if settings := self.settings():
            (home / "config.yaml").write_text(json.dumps(settings))
        await self.start()
        await self.tap.start()
        self.client.connect(f"http://127.0.0.1:{TAP_PORT}")
        if beside := self.client.beside():
            await self._start_beside(beside)

    async def _start_beside(self, beside: Beside) -> None:
        with (self.folder / "beside.log").open("ab") as log:
            self._beside = started = await asyncio.create_subprocess_exec(
                *beside.command,
                cwd=self.project,
                env=self.client.everything(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if not await listening(beside.port, SOON_SECONDS, unless=lambda: started.returncode is not None):
            raise Failed(f"{beside.command[0]} does not listen: {(self.folder / 'beside.log').read_text()[-600:]}")

    def _environment(self) -> dict[str, str]:
        home = str(self.folder / "palimpsest")
        return {**os.environ, **PATIENT, "PALIMPSEST_HOME": home, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
