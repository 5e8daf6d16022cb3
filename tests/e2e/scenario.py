"""What each client must get through, and what is checked on the way.

A session of several turns, resumed in a new process each time: talk, a tool, a sub-agent, faults of the provider,
the proxy killed and started again in between. Then something is said that is worth remembering, and it must stand
in what is forwarded for a new session of the same project, and not for one of another project.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.model import Forwarded
from tests.e2e.script import Step
from tests.e2e.stage import Failed, Stage

FACT = "Please remember this decision: the billing service of this project is deployed on port 7443."
QUESTION = "On which port is the billing service deployed?"
ANSWER = "7443"
UNRELATED = (
    "Some news of the team: the tokenizer splits its input on commas and keeps the quotes. Greta's birthday party is at"
    " the lake house in July. The invoices are printed in Helvetica, never in Arial. Our podcast comes out every second"
    " Thursday morning. The greenhouse sensors report humidity every ten minutes."
)
"""Five memories that have nothing to do with the question."""
MARKS = ("keeps the quotes", "lake house", "Helvetica", "podcast", "greenhouse")

_RECALLED = re.compile(r"<recalled-memory>.*?</recalled-memory>", re.DOTALL)


class Turns(Stage):
    """A session, its faults, and what it taught."""

    name = "turns"
    _knowing: int | None = None

    async def scenes(self) -> None:
        """All of it."""
        self._session: list[int] = []
        one = self.project
        await self.check("a turn", lambda: self._turn("Hello, let us begin.", say="Hello to you."))
        await self.check("resume, with a tool", lambda: self._tool(one))
        await self.check("a sub-agent", lambda: self._subagent(one))
        await self.check("the proxy is killed and started again", self.restart)
        await self.check("resume after it", lambda: self._turn("Let us go on.", resume=True, say="With pleasure."))
        for fault, words in (("429", "refused for its rate"), ("500", "failing"), ("cut", "cut in the middle")):
            if fault in self.client.survives:
                await self.check(f"a reply that is {words}", lambda fault=fault: self._fault(fault))  # type: ignore[misc]
        await self.check("something worth remembering", lambda: self._turn(FACT, resume=True, say="I shall."))
        await self.check("a session's history only grows", lambda: self.grows(self._session))
        await self.check("five unrelated things in another session", lambda: self._turn(UNRELATED, one, say="I see."))
        await self.check("a new session of the project knows it", self._remembers)
        await self.check("the proxy is killed and started again once more", self.restart)
        await self.check("the session is resumed with what it was told", self._keeps)
        await self.check("another project does not know it", self._keeps_apart)
        await self.check("the proxy is well, and ends when it is told to", self.well)

    async def _turn(
        self, words: str, project: Path | None = None, resume: bool = False, **told: Any
    ) -> tuple[Step, list[Forwarded]]:
        if project is None:
            self._session.append(len(self.model.script.steps) + 1)
        return await self.turn(words, resume, project, **told)

    async def _tool(self, project: Path) -> None:
        calls = (self.client.read(project / "NOTES.md"),)
        _, forwarded = await self._turn("Read my notes.", resume=True, calls=calls, say="I read them.")
        if not any("heliotrope" in one.raw for one in forwarded):
            raise Failed("the tool's result was not forwarded")

    async def _subagent(self, project: Path) -> None:
        says = "It splits at commas."
        reads = (self.client.read(project / "parser.py"), *self.client.reports(says))
        child = self.model.script.add(calls=reads, say=says)
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

    async def _remembers(self) -> None:
        await self.learnt()
        step, forwarded = await self._turn(QUESTION, project=self.client.place.projects[0], say="Let me think.")
        if not any(ANSWER in one.raw for one in forwarded):
            raise Failed(
                f"{ANSWER} does not stand in what was forwarded: {json.dumps(forwarded[0].messages[-1])[-300:]}"
            )
        if beside := unrelated_in(forwarded):
            raise Failed(f"with the right one was recalled what has nothing to do with it: {', '.join(beside)}")
        self._knowing = step.number

    async def _keeps(self) -> None:
        if self._knowing is None:
            raise Failed("there is no session that knows it")
        words, project = "Thank you, that helps.", self.client.place.projects[0]
        step, _ = await self._turn(words, resume=True, project=project, say="You are welcome.")
        await self.grows([self._knowing, step.number])

    async def _keeps_apart(self) -> None:
        _, forwarded = await self._turn(QUESTION, project=self.client.place.projects[1], say="I do not know.")
        if any(ANSWER in one.raw for one in forwarded):
            raise Failed(f"{ANSWER} stands in what was forwarded for another project")


def unrelated_in(forwarded: list[Forwarded]) -> list[str]:
    """Which of the unrelated memories were recalled."""
    told = "".join(found for one in forwarded for found in _RECALLED.findall(one.raw))
    return [mark for mark in MARKS if mark in told]
