"""The light scenario, for clients whose every turn takes long: in five turns one side of all the others.

A tool and a sub-agent, a kill, the session resumed, in which the provider breaks off and something is told, a new
session to which it comes and whose sub-agent is given the first one's report, and another project that knows nothing.
"""

from __future__ import annotations

from tests.e2e.errands import QUESTION, REPORT, REWORDED, Errands
from tests.e2e.scenario import DETAIL, FACT, Recalls
from tests.e2e.stage import Failed


class Once(Errands, Recalls):
    """Each capability, shown once."""

    name = "once"

    async def scenes(self) -> None:
        """All of it."""
        self.child, self._next = self.errand(REPORT), self.errand("As it was found before.")
        await self.check("a turn with a tool", self._tool)
        await self.check("its research is kept, tied and whole", self.kept)
        await self.check("the proxy is killed and started again", self.restart)
        await self.check("a reply that is cut in the middle", self._told)
        await self.check("five unrelated things in other sessions", self.others_told)
        await self.check("a new session of the project recalls it, and nothing else", self._remembers)
        await self.check("a reworded question is given the report", self._given)
        await self.check("what is asked for otherwise is recalled, too", self.others_can_come)
        await self.check("the session is resumed with what it was told", self.keeps)
        await self.check("another project does not know it", self.keeps_apart)

    async def _tool(self) -> None:
        calls = self.client.read(self.project / "NOTES.md"), *self.client.delegate(f"{QUESTION} {self.child.mark}")
        _, forwarded = await self.turn("Read my notes, and have the parser studied.", calls=calls, say="Read.")
        if not any("heliotrope" in one.raw for one in forwarded):
            raise Failed("the tool's result was not forwarded")

    async def _told(self) -> None:
        _, forwarded = await self.turn(f"{DETAIL} {FACT}", resume=True, say="I shall.", fault="cut", faults=1)
        if len(forwarded) < 2:
            raise Failed("the client did not try again")

    async def _remembers(self) -> None:
        await self.remembers(self.client.delegate(f"{REWORDED} {self._next.mark}"))

    async def _given(self) -> None:
        self.was_given(self._next)
