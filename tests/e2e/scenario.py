"""What each client must get through, and what is checked on the way.

A session of several turns, resumed in a new process each time: talk, a tool, a sub-agent, faults of the provider,
the proxy killed and started again in between. Then something is said that is worth remembering, and it must stand
in what is forwarded for a new session of the same project, and not for one of another project.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from proxy.connect import NotEditable
from tests.e2e.clients import Client
from tests.e2e.model import Forwarded, Model
from tests.e2e.sandbox import end_group, listening, run
from tests.e2e.script import Step

TURN_SECONDS = 90.0
START_SECONDS = 30.0
LEARNING_SECONDS = 30.0
PROXY_PORT = 8484

FACT = "Please remember this decision: the billing service of this project is deployed on port 7443."
QUESTION = "On which port is the billing service deployed?"
ANSWER = "7443"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked."""

    name: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0


class Failed(Exception):
    """A check did not hold."""


class Scenario:
    """One client's run."""

    def __init__(self, client: Client, model: Model, upstream: str, folder: Path) -> None:
        self.client = client
        self.model = model
        self.upstream = upstream
        self.folder = folder
        self.checks: list[Check] = []
        self._proxy: asyncio.subprocess.Process | None = None
        self._session: list[int] = []
        self._knowing: int | None = None

    async def play(self) -> list[Check]:
        """All of it; a check that fails does not keep the others from being made."""
        one = self.client.place.projects[0]
        try:
            if not await self._check("the proxy starts, and connect configures the client", self._begin):
                return self.checks
            await self._check("a turn", lambda: self._turn("Hello, let us begin.", say="Hello to you."))
            await self._check("resume, with a tool", lambda: self._tool(one))
            await self._check("a sub-agent", lambda: self._subagent(one))
            await self._check("the proxy is killed and started again", self._restart)
            await self._check("resume after it", lambda: self._turn("Let us go on.", resume=True, say="With pleasure."))
            for fault, words in (("429", "refused for its rate"), ("500", "failing"), ("cut", "cut in the middle")):
                await self._check(f"a reply that is {words}", lambda fault=fault: self._fault(fault))  # type: ignore[misc]
            await self._check("something worth remembering", lambda: self._turn(FACT, resume=True, say="I shall."))
            await self._check("a session's history only grows", lambda: self._grows(self._session))
            await self._check("a new session of the project knows it", self._remembers)
            await self._check("the proxy is killed and started again once more", self._restart)
            await self._check("the session is resumed with what it was told", self._keeps)
            await self._check("another project does not know it", self._keeps_apart)
            await self._check("the proxy is well, and ends when it is told to", self._well)
        finally:
            await self._stop()
        return self.checks

    async def _check(self, name: str, action: Callable[[], Awaitable[object]]) -> bool:
        started, fault = time.monotonic(), ""
        try:
            await action()
        except Failed as failed:
            fault = str(failed)
        except (NotEditable, OSError, aiohttp.ClientError) as error:
            fault = f"{type(error).__name__}: {error}"
        self.checks.append(Check(name, not fault, fault, time.monotonic() - started))
        return not fault

    async def _begin(self) -> None:
        await self._start()
        self.client.connect(f"http://127.0.0.1:{PROXY_PORT}")

    async def _start(self) -> None:
        home = self.folder / "palimpsest"
        variables = {**os.environ, "PALIMPSEST_HOME": str(home), "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "proxy", "serve", "--port", str(PROXY_PORT), "--upstream", self.upstream]
        with (self.folder / "proxy.log").open("ab") as log:
            self._proxy = await asyncio.create_subprocess_exec(
                *command,
                env=variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        gone = self._proxy
        if not await listening(PROXY_PORT, START_SECONDS, unless=lambda: gone.returncode is not None):
            raise Failed(f"the proxy does not listen: {self._log()[-600:]}")

    async def _stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._proxy is None or self._proxy.returncode is not None:
            return
        self._proxy.send_signal(how)
        try:
            await asyncio.wait_for(self._proxy.wait(), 10)
        except TimeoutError:
            end_group(self._proxy.pid)
            await self._proxy.wait()

    async def _restart(self) -> None:
        await self._stop(signal.SIGKILL)
        await self._start()

    async def _turn(
        self, words: str, resume: bool = False, project: Path | None = None, **told: object
    ) -> tuple[Step, list[Forwarded]]:
        """One turn of the client; what was forwarded for it."""
        step = self.model.script.add(**told)
        if project is None:
            self._session.append(step.number)
        project = project or self.client.place.projects[0]
        status, said = await run(
            self.client.command(f"{words} {step.mark}", resume),
            project,
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
        return step, forwarded

    async def _tool(self, project: Path) -> None:
        calls = (self.client.read(project / "NOTES.md"),)
        _, forwarded = await self._turn("Read my notes.", resume=True, calls=calls, say="I read them.")
        if not any("heliotrope" in one.raw for one in forwarded):
            raise Failed("the tool's result was not forwarded")

    async def _subagent(self, project: Path) -> None:
        child = self.model.script.add(calls=(self.client.read(project / "parser.py"),), say="It splits at commas.")
        calls = self.client.delegate(f"Look how the parser of this project works. {child.mark}")
        step, _ = await self._turn("Let a sub-agent look at the parser.", resume=True, calls=calls, say="That is all.")
        if len(self.model.of_step(child.number)) < 2:
            raise Failed("the sub-agent did not do its work")
        if not any("It splits at commas" in one.raw for one in self.model.seen if one.step in (step.number, 0)):
            raise Failed("the sub-agent's report did not reach its parent")

    async def _fault(self, fault: str) -> None:
        say = f"Here I am after {fault}."
        _, forwarded = await self._turn("Are you still there?", resume=True, say=say, fault=fault, faults=1)
        if len(forwarded) < 2:
            raise Failed("the client did not try again")
        if self.client.appends and forwarded[0].messages != forwarded[1].messages:
            raise Failed("what was forwarded again differs from what was forwarded first")

    async def _grows(self, steps: list[int]) -> None:
        if not self.client.appends:
            return
        before: list[object] = []
        for one in (one for number in steps for one in self.model.of_step(number)):
            messages = one.messages
            if messages[: len(before)] != before:
                at = next(
                    (at for at, (a, b) in enumerate(zip(before, messages, strict=False)) if a != b), len(messages)
                )
                raise Failed(f"step {one.step}: message {at} of {len(before)} is not as it was forwarded before")
            before = messages

    async def _remembers(self) -> None:
        deadline = time.monotonic() + LEARNING_SECONDS
        while True:
            step, forwarded = await self._turn(QUESTION, project=self.client.place.projects[0], say="Let me think.")
            if any(ANSWER in one.raw for one in forwarded):
                self._knowing = step.number
                return
            if time.monotonic() > deadline:
                raise Failed(
                    f"{ANSWER} does not stand in what was forwarded: {json.dumps(forwarded[0].messages[-1])[-300:]}"
                )
            await asyncio.sleep(1)

    async def _keeps(self) -> None:
        if self._knowing is None:
            raise Failed("there is no session that knows it")
        words, project = "Thank you, that helps.", self.client.place.projects[0]
        step, _ = await self._turn(words, resume=True, project=project, say="You are welcome.")
        await self._grows([self._knowing, step.number])

    async def _keeps_apart(self) -> None:
        _, forwarded = await self._turn(QUESTION, project=self.client.place.projects[1], say="I do not know.")
        if any(ANSWER in one.raw for one in forwarded):
            raise Failed(f"{ANSWER} stands in what was forwarded for another project")

    async def _well(self) -> None:
        if self._proxy is None or self._proxy.returncode is not None:
            raise Failed("the proxy is gone")
        address = f"http://127.0.0.1:{PROXY_PORT}/palimpsest/health"
        async with aiohttp.ClientSession() as session, session.get(address) as reply:
            health = await reply.json()
        if health.get("memory") != "on":
            raise Failed(f"its memory is not on: {health}")
        await self._stop()
        if self._proxy.returncode != 0:
            raise Failed(f"it ended with {self._proxy.returncode}: {self._log()[-600:]}")
        if "Traceback" in self._log():
            raise Failed(f"a traceback in the proxy's log: {self._log()[self._log().index('Traceback') :][:600]}")

    def _log(self) -> str:
        return (self.folder / "proxy.log").read_text(errors="replace")
