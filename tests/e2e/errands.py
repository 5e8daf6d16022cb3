"""What sub-agents find is kept, tied to what sent them, found again, and given to the next one that is asked the same.

One sub-agent studies something; two are sent out at once; Claude Code sends one into the background. Then, in a new
session, another one is asked the first question in other words: the report stands in its first message.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from tests.e2e.script import Call, Step
from tests.e2e.stage import Failed, Stage

QUESTION = "Study how the parser of this project splits a line, and list every separator and quoting rule it knows."
REWORDED = "List all separators and quoting rules of this project's parser, and how that parser splits a line."
REPORT = (
    "The parser in parser.py splits a line with parse(line) at commas only. It knows no quoting rule at all, so that "
    "a quoted comma is split too; the separator is the literal in line 2, and nothing else configures it."
)


class Errands(Stage):
    """Sub-agents, and what is kept of them."""

    name = "errands"
    child: Step
    """What the sub-agent did that studied the parser."""

    async def scenes(self) -> None:
        """All of it."""
        await self.check("a sub-agent studies the parser", self._studies)
        await self.check("its research is kept, tied and whole", self.kept)
        await self.check("it is found by what it was about, and by what it read", self._found)
        await self.check("two at once are not mixed up", self._two)
        if self.client.name == "claude":
            await self.check("one in the background is kept too", self._behind)
        await self.check("a reworded question in a new session is given the report", self._given)

    def errand(self, say: str) -> Step:
        """What a sub-agent does: it reads a file, and reports."""
        calls = (self.client.read(self.project / "parser.py"), *self.client.reports(say))
        return self.model.script.add(calls=calls, say=say)

    async def _studies(self) -> None:
        self.child = self.errand(REPORT)
        calls = self.client.delegate(f"{QUESTION} {self.child.mark}")
        await self.turn("Have the parser studied.", calls=calls, say="It was studied.")
        if len(self.model.of_step(self.child.number)) < 2:
            raise Failed("the sub-agent did not do its work")

    async def kept(self) -> None:
        [told] = await self._research(self.child)
        if not told["parent"] or told["claimed_parent"]:
            raise Failed(f"it is not tied to its parent: {told}")
        whole = await self.ask(f"api/research/{told['handle']}?trail=1")
        if whole["reports"] != [REPORT]:
            raise Failed(f"its report is {whole['reports']}")
        if not any("split(" in part for message in whole["trail"] for part in message["parts"]):
            raise Failed("what it read does not stand in its trail")

    async def _found(self) -> None:
        for text in ("separators of the parser", "def parse(line)"):
            # What it is found by is written right behind the research itself.
            await self.soon(lambda text=text: self._search(text), lambda text=text: f"nothing is found about {text!r}")  # type: ignore[misc]

    async def _search(self, text: str) -> Any:
        return (await self.ask(f"api/research?text={quote(text)}"))["research"] or None

    async def _two(self) -> None:
        says = [f"The {part} of the project says that it is the {part}, in line 1, and no more." for part in _PARTS]
        steps = [self.errand(say) for say in says]
        pairs = zip(_PARTS, steps, strict=True)
        asked = [f"Look what the {part} of the project says. {step.mark}" for part, step in pairs]
        await self.turn("Have both looked at.", calls=self.client.delegate_two(*asked), say="Both were.")
        for step, say in zip(steps, says, strict=True):
            [told] = await self._research(step)
            whole = await self.ask(f"api/research/{told['handle']}")
            if whole["reports"] != [say]:
                raise Failed(f"{step.mark} reported {whole['reports']}, not {say!r}")
            if not told["parent"]:
                raise Failed(f"{step.mark} is not tied to its parent")

    async def _behind(self) -> None:
        child = self.errand("The project has no license file, neither in its root nor anywhere below it.")
        [call] = self.client.delegate(f"Look for the license of the project. {child.mark}")
        behind = Call(call.tool, {**call.arguments, "run_in_background": True})
        await self.turn("Have the license looked for meanwhile.", calls=(behind,), say="It is being looked for.")
        [told] = await self._research(child)
        if not told["parent"]:
            raise Failed("it is not tied to its parent")

    async def _given(self) -> None:
        child = self.errand("As it was found before.")
        calls = self.client.delegate(f"{REWORDED} {child.mark}")
        await self.turn("Have it told once more.", calls=calls, say="It was told.")
        self.was_given(child)

    def was_given(self, child: Step) -> None:
        """A sub-agent that is asked the same in other words has the report in its first request."""
        forwarded = self.model.of_step(child.number)
        first = forwarded[0].raw if forwarded else ""
        if "earlier-research" not in first or "knows no quoting rule" not in first:
            raise Failed("the report does not stand in the sub-agent's first request")

    async def _research(self, child: Step) -> list[dict[str, Any]]:
        """The research of a step, once it is finished and there is just one."""
        told: list[dict[str, Any]] = []

        async def kept() -> list[dict[str, Any]] | None:
            nonlocal told
            told = (await self.ask("api/research?limit=100"))["research"]
            wholes = [(each, await self.ask(f"api/research/{each['handle']}")) for each in told]
            finished = [(each, whole) for each, whole in wholes if each["outcome"] == "finished"]
            of_step = [each for each, whole in finished if child.mark in whole["question"]]
            return of_step if len(of_step) == 1 else None

        return await self.soon(kept, lambda: f"not one is kept of {child.mark}: {json.dumps(told)[:600]}")


_PARTS = ("README", "notes")
