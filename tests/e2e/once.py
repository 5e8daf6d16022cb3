"""The light scenario, for clients that are not driven through all the others: a whole turn with a tool, something worth
remembering, a new session of the project that knows it, and one of another project that does not."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.scenario import ANSWER, FACT, QUESTION, UNRELATED, unrelated_in
from tests.e2e.stage import Failed, Stage


class Once(Stage):
    """A turn, and what it taught."""

    name = "once"

    async def scenes(self) -> None:
        """All of it."""
        one, two = self.client.place.projects
        await self.check("a turn with a tool", lambda: self._tool(one))
        await self.check("a session's history only grows", lambda: self.grows([1]))
        await self.check("something worth remembering", lambda: self.turn(FACT, say="I shall."))
        await self.check("five unrelated things in another session", lambda: self.turn(UNRELATED, say="I see."))
        await self.check("a new session of the project knows it", lambda: self._asks(one, knows=True))
        await self.check("another project does not know it", lambda: self._asks(two, knows=False))
        await self.check("the proxy is well, and ends when it is told to", self.well)

    async def _tool(self, project: Path) -> None:
        _, forwarded = await self.turn("Read my notes.", calls=(self.client.read(project / "NOTES.md"),), say="Read.")
        if not any("heliotrope" in one.raw for one in forwarded):
            raise Failed("the tool's result was not forwarded")

    async def _asks(self, project: Path, knows: bool) -> None:
        await self.learnt()
        _, forwarded = await self.turn(QUESTION, project=project, say="Let me think.")
        if any(ANSWER in one.raw for one in forwarded) is not knows:
            raise Failed(f"{ANSWER} {'does not stand' if knows else 'stands'} in what was forwarded for {project.name}")
        if beside := unrelated_in(forwarded):
            raise Failed(f"with the right one was recalled what has nothing to do with it: {', '.join(beside)}")
