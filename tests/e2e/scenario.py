"""What each client must get through, and what is checked on the way.

A session of several turns, resumed in a new process each time: talk, a tool, a sub-agent, faults of the provider,
the proxy killed and started again in between. On the way something is told and something is decided. In a new session
of the same project what was told must be recalled where it is asked for, of six memories that alone, and what was
decided stand on the page; in another project neither.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.script import Call
from tests.e2e.stage import Failed, Stage

FACT = "Please remember this decision: the billing service of this project is deployed on port 7443."
QUESTION = "On which port is the billing service deployed?"
ANSWER = "7443"
"""What is decided comes onto the page."""
DETAIL = "The nightly backup of the ledger starts at 04:30, when the disks are idle."
ASKED = "When does the nightly backup of the ledger start?"
RECALLED = "04:30"
"""What is only told does not: it is recalled where it is asked for."""
UNRELATED = {
    "keeps the quotes": "The tokenizer splits its input on commas and keeps the quotes.",
    "lake house": "Greta's birthday party is at the lake house in July.",
    "Helvetica": "The invoices are printed in Helvetica on grey paper.",
    "podcast": "Our podcast comes out every second Thursday morning.",
    "humidity": "The greenhouse sensors report humidity every ten minutes.",
}
"""Five memories that have nothing to do with it, by what is in each alone."""
OTHER, OTHER_ASKED = "humidity", "What do the greenhouse sensors report?"

_RECALLED = re.compile(r"<recalled-memory>.*?</recalled-memory>", re.DOTALL)
_PAGE = re.compile(r"<memory-page>.*?</memory-page>", re.DOTALL)


class Recalls(Stage):
    """What was told comes where it is asked for, and nothing beside it."""

    def settings(self) -> Mapping[str, Any]:
        # What is told is to come by recall: a young page would hold all of it.
        return {"memory": {"page": {"filled_tokens": 0}}}

    knowing: int | None = None
    """The step of the session to which it came."""

    async def others_told(self) -> None:
        """Each in a session of its own, in the same project."""
        for words in UNRELATED.values():
            await self.say(words)

    async def remembers(self, calls: tuple[Call, ...] = ()) -> None:
        """In a new session, of six memories the right one is recalled; what was decided stands on the page."""
        await self.learnt()
        step, forwarded = await self.turn(ASKED, calls=calls, say="Let me think.")
        raw = forwarded[0].raw
        recalled, page = "".join(_RECALLED.findall(raw)), "".join(_PAGE.findall(raw))
        if RECALLED not in recalled:
            raise Failed(f"{RECALLED} is not recalled: {recalled or json.dumps(forwarded[0].messages[-1])[-400:]}")
        if beside := [mark for mark in UNRELATED if mark in recalled]:
            raise Failed(f"with the right one was recalled what has nothing to do with it: {', '.join(beside)}")
        if ANSWER not in page:
            raise Failed(f"{ANSWER} does not stand on the page: {page}")
        self.knowing = step.number

    async def others_can_come(self) -> None:
        """They stayed away since they were not asked for, not since they could not be found."""
        raw = (await self.say(OTHER_ASKED)).raw
        recalled = "".join(_RECALLED.findall(raw))
        if OTHER not in recalled:
            raise Failed(f"asked for what the sensors report, it recalls {recalled!r}")

    async def keeps(self) -> None:
        """The session to which it came still has it, resumed."""
        if self.knowing is None:
            raise Failed("there is no session that knows it")
        _, forwarded = await self.turn("Thank you, that helps.", resume=True, say="You are welcome.")
        # A client that rewrites its own messages when it resumes may leave nothing to which the recall belongs.
        stood, mark = (_RECALLED, RECALLED) if self.client.appends else (_PAGE, ANSWER)
        if mark not in "".join(stood.findall(forwarded[-1].raw)):
            raise Failed(f"{mark} is gone from the session to which it came")

    async def keeps_apart(self) -> None:
        """It does not come in another project."""
        _, forwarded = await self.turn(ASKED, project=self.client.place.projects[1], say="I do not know.")
        for words in (RECALLED, ANSWER):
            if any(words in one.raw for one in forwarded):
                raise Failed(f"{words} stands in what was forwarded for another project")


class Turns(Recalls):
    """A session, its faults, and what it taught."""

    name = "turns"

    async def scenes(self) -> None:
        """All of it."""
        one = self.project
        await self.check("a turn", lambda: self.turn("Hello, let us begin.", say="Hello to you."))
        await self.check("resume, with a tool", lambda: self._tool(one))
        await self.check("a sub-agent", lambda: self._subagent(one))
        await self.check("the proxy is killed and started again", self.restart)
        await self.check("resume after it, with something worth remembering", self._told)
        for fault, words in (("429", "refused for its rate"), ("500", "failing"), ("cut", "cut in the middle")):
            if fault in self.client.survives:
                await self.check(f"a reply that is {words}", lambda fault=fault: self._fault(fault))  # type: ignore[misc]
        await self.check("five unrelated things in other sessions", self.others_told)
        await self.check("a new session of the project recalls it, and nothing else", self.remembers)
        await self.check("what is asked for otherwise is recalled, too", self.others_can_come)
        await self.check("the proxy is killed and started again once more", self.restart)
        await self.check("the session is resumed with what it was told", self.keeps)
        await self.check("another project does not know it", self.keeps_apart)

    async def _told(self) -> None:
        await self.turn(f"{DETAIL} {FACT}", resume=True, say="I shall.")

    async def _tool(self, project: Path) -> None:
        calls = (self.client.read(project / "NOTES.md"),)
        _, forwarded = await self.turn("Read my notes.", resume=True, calls=calls, say="I read them.")
        if not any("heliotrope" in one.raw for one in forwarded):
            raise Failed("the tool's result was not forwarded")

    async def _subagent(self, project: Path) -> None:
        says = "It splits at commas."
        reads = (self.client.read(project / "parser.py"), *self.client.reports(says))
        child = self.model.script.add(calls=reads, say=says)
        calls = self.client.delegate(f"Look how the parser of this project works. {child.mark}")
        step, _ = await self.turn("Let a sub-agent look at the parser.", resume=True, calls=calls, say="That is all.")
        if len(self.model.of_step(child.number)) < 2:
            raise Failed("the sub-agent did not do its work")
        if not any("It splits at commas" in one.raw for one in self.model.seen if one.step in (step.number, 0)):
            raise Failed("the sub-agent's report did not reach its parent")

    async def _fault(self, fault: str) -> None:
        say = f"Here I am after {fault}."
        _, forwarded = await self.turn("Are you still there?", resume=True, say=say, fault=fault, faults=1)
        if len(forwarded) < 2:
            raise Failed("the client did not try again")
        if self.client.appends and forwarded[0].messages != forwarded[1].messages:
            raise Failed("what was forwarded again differs from what was forwarded first")
