"""The model asks memory in the middle of its turns, and the client sees none of it.

Alone, between the client's own tools, beside one of them in the same reply, with text before it; where the provider
breaks off while the model goes on; in a session that is resumed after the proxy was killed. What was hidden must stand
in its place in all that is forwarded from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.model import Forwarded
from tests.e2e.script import Call
from tests.e2e.stage import Failed, Stage

FACT = "Please remember this decision: the billing service of this project is deployed on port 7443."
SEARCH = Call("memory_search", {"query": "billing service port"})
ANSWER = "From memory: what was said or done then"


class Asking(Stage):
    """Memory's tools are offered, and called."""

    name = "asking"

    def settings(self) -> Mapping[str, Any]:
        """Offer them."""
        return {"memory": {"tools": {"offer": True}}}

    async def scenes(self) -> None:
        """All of it."""
        self._asked = 0
        self._before: list[Any] = []
        self._seen: list[str] = []
        told = Call(SEARCH.tool, SEARCH.arguments, say="Let me see what I know.")
        read = self.client.read(self.project / "NOTES.md")
        both = Call(read.tool, read.arguments, beside=(SEARCH,))
        await self.check("a turn", self._told)
        await self.check("the model asks memory", lambda: self._turn("On which port?", 1, calls=(SEARCH,)))
        await self.check("after it has said something", lambda: self._turn("Are you sure?", 1, calls=(told,)))
        await self.check(
            "between the client's own tools", lambda: self._turn("Read, ask, read.", 1, calls=(read, SEARCH, read))
        )
        await self.check("beside the client's own tool", lambda: self._turn("Do both.", 1, calls=(both,)))
        await self.check("the provider breaks off when it has asked", self._broken)
        await self.check("the proxy is killed and started again", self.restart)
        await self.check("the session is resumed", lambda: self._turn("Let us go on.", 0, say="With pleasure."))
        await self.check("the client has seen nothing of it", self._unseen)

    async def _told(self) -> None:
        """Memory is asked next, and some clients do so before it has learned what was said."""
        await self._turn(FACT, 0, say="I shall.")
        await self.learnt()

    async def _turn(self, words: str, asks: int, **told: Any) -> None:
        step, forwarded = await self.turn(words, resume=bool(self._seen), **told)
        self._seen.append(step.shown)
        for one in forwarded:
            self._offered(one)
            self._grown(one)
        self._stands(forwarded[-1], asks)

    async def _broken(self) -> None:
        """The client asks again for the whole reply; what was hidden in the one that broke off may be gone with it."""
        told: dict[str, Any] = {"calls": (SEARCH,), "fault": "cut", "faults": 1, "after": 1}
        _, forwarded = await self.turn("Ask once more.", resume=True, **told)
        first, *others = forwarded
        self._offered(first)
        self._grown(first)
        if not any(one.fault for one in others):
            raise Failed("nothing was broken off")
        for one in others:
            self._offered(one)
            if self.client.appends and one.messages[: len(first.messages)] != first.messages:
                raise Failed("what was forwarded again does not begin with what was forwarded first")
        self._stands(forwarded[-1], 1)
        self._before = forwarded[-1].messages

    def _offered(self, one: Forwarded) -> None:
        if one.raw.count('"memory_note"') != 1:
            raise Failed("memory's tools are not offered")

    def _stands(self, last: Forwarded, asks: int) -> None:
        # A client that rewrites what was said when it resumes takes along what was hidden there.
        self._asked = asks + (self._asked if self.client.appends else 0)
        found = last.raw.count(ANSWER)
        if found < self._asked or (self.client.appends and found > self._asked):
            raise Failed(f"{found} answers of memory stand in what was forwarded last, not {self._asked}")

    def _grown(self, one: Forwarded) -> None:
        if self.client.appends and one.messages[: len(self._before)] != self._before:
            raise Failed(f"step {one.step}: what was forwarded before does not stand in it")
        self._before = one.messages

    async def _unseen(self) -> None:
        said = (self.folder / "client.log").read_text(errors="replace")
        if "memory_search" in said or ANSWER in said:
            raise Failed("the client told of a call that it should not have seen")
