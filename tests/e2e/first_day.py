"""The first day, timed: from an empty home a client is started with memory, in one line, and its next session knows
what the first one was told.

Nothing is set up before: no server runs, no file of the client's was touched, and two lines are all that is typed. Only
the provider's address is a setting, since the provider is a scripted one here. What a check took is what the person
waited, the client's own time included.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.sandbox import listening, run
from tests.e2e.scenario import ANSWER, FACT, QUESTION
from tests.e2e.stage import PROXY_PORT, TURN_SECONDS, Check, Failed, Stage

GOING_SECONDS = 1.0
"""How long the server that came with a client may outlive it."""


class FirstDay(Stage):
    """Two lines on a terminal."""

    name = "first-day"

    async def play(self) -> list[Check]:
        """Both of them."""
        self.client.prepare()
        if await self.check("the first line: a session with memory", lambda: self._line(FACT, "I shall.")):
            await self.check("the second line: the next session knows it", self._asks)
            await self.check("nothing is left running", self._gone)
        return self.checks

    async def _line(self, words: str, say: str) -> int:
        step = self.model.script.add(say=say)
        program, *given = self.client.command(f"{words} {step.mark}", resume=False)
        environment = self.client.everything()
        environment |= {name: value for name, value in self._environment().items() if name.startswith("PALIMPSEST")}
        environment |= {
            "PATH": f"{Path(program).parent}:{environment['PATH']}",
            "PALIMPSEST__UPSTREAM__URL": self.upstream,
            "PALIMPSEST__SERVER__PORT": str(PROXY_PORT),
        }
        typed = [str(Path(sys.executable).with_name("palimpsest")), "run", Path(program).name, *given]
        status, said = await run(typed, self.project, environment, TURN_SECONDS, self.folder / "client.log")
        if status != 0 or say not in said:
            raise Failed(f"it ended with {status}: {said[-600:]}")
        return step.number

    async def _asks(self) -> None:
        number = await self._line(QUESTION, "Let me think.")
        forwarded = self.model.of_step(number)
        if not any(ANSWER in each.raw for each in forwarded):
            raise Failed(f"{ANSWER} does not stand in what was forwarded: {[each.raw[-600:] for each in forwarded]}")

    async def _gone(self) -> None:
        if await listening(PROXY_PORT, GOING_SECONDS, unless=lambda: False):
            raise Failed("a server still listens")
