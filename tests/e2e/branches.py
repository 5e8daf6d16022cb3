"""What is learnt on a branch: three branches in the project's own repository, a merge, a revert, a rename and a branch
that is dropped, each with a session behind it that asks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from tests.e2e.model import Forwarded
from tests.e2e.stage import Failed, Stage

QUEUE = "We decided to keep the retry queue in retry.py on port 7100."
CACHE = "We decided to use Redis for the session cache."
PARSER = "The function parse in parser.py splits its input at commas."
ASK_QUEUE = "Where does the retry queue live, and on which port?"
ASK_CACHE = "Which cache do we use for the sessions?"
ASK_PARSER = "What does the function parse split its input at?"

WHOLE = ("codex", "claude")
"""Clients with which all of it is played. What a client can get wrong is in which folder it says that it works: that
the others show as far as the merge. What follows is between the proxy and the repository."""

_SOURCES = ("user: ", "assistant: ", "project file: ", "- ")
"""How a line begins that memory has added."""


class Branches(Stage):
    """Who knows what, and what is said of it."""

    name = "branches"
    lays_prefixes = False
    _asked = 0

    async def scenes(self) -> None:
        """All of it."""
        await self.check("something learnt on the main branch", lambda: self._says(PARSER))
        self._git("checkout", "-q", "-b", "retry")
        await self.check("something learnt on a branch", lambda: self._says(QUEUE))
        self._commit("retry.py", "PORT = 7100\n")
        self._git("checkout", "-q", "-b", "cache", "main")
        await self.check("something learnt on another one", lambda: self._says(CACHE))
        self._commit("cache.py", "URL = 'redis:'\n")
        self._git("checkout", "-q", "main")
        await self.check("the main branch knows neither", self._neither)
        if self.client.name in WHOLE:
            await self._goes_on()
        self._git("merge", "-q", "--no-ff", "-m", "Merge retry", "retry")
        await self.check("merged, it is the project's", lambda: self._asks(ASK_QUEUE, _says("7100", "branch")))
        if self.client.name in WHOLE:
            await self._later()

    async def _goes_on(self) -> None:
        self._git("checkout", "-q", "-b", "retry-twice", "retry")
        self._commit("twice.py", "TWICE = True\n")
        await self.check("a branch that goes on from it knows it", lambda: self._asks(ASK_QUEUE, _says("7100")))
        self._git("checkout", "-q", "main")

    async def _later(self) -> None:
        self._git("revert", "--no-edit", "-m", "1", "HEAD")
        words = "merged and reverted since"
        await self.check("reverted, it is told so", lambda: self._asks(ASK_QUEUE, lambda told: words in told))
        self._git("mv", "parser.py", "splitter.py")
        self._git("commit", "-q", "-m", "Call it splitter")
        moved = "now splitter.py"
        await self.check("what it cites was renamed", lambda: self._asks(ASK_PARSER, lambda told: moved in told))
        self._git("branch", "-q", "-D", "cache")
        words_of_dropped = "learnt on branch cache, dropped since"
        await self.check("of a dropped branch", lambda: self._asks(ASK_CACHE, lambda told: words_of_dropped in told))

    async def _says(self, words: str) -> None:
        await self.turn(words, say="I see.")
        await self.learnt()

    async def _neither(self) -> None:
        await self._asks(ASK_QUEUE, lambda told: "7100" not in told)
        await self._asks(ASK_CACHE, lambda told: "Redis" not in told)

    async def _asks(self, question: str, holds: Callable[[str], bool]) -> None:
        """Ask in a session of its own, once memory has looked at the repository as it stands: with any request. The
        client's own would bring nothing more, and many clients start for seconds."""
        self._asked += 1
        await self.say(f"Good morning, for the {self._asked}th time.")
        await self.learnt()
        _, forwarded = await self.turn(f"{question} (I ask for the {self._asked}th time.)", say="Let me think.")
        await self.learnt()
        told = _added(forwarded)
        if not holds(told):
            raise Failed(f"of {question!r} memory told: {told or 'nothing'}")

    def _commit(self, name: str, text: str) -> None:
        (self.project / name).write_text(text)
        self._git("add", "-A")
        self._git("commit", "-q", "-m", f"Add {name}")

    def _git(self, *asked: str) -> None:
        who = ("-c", "user.name=e2e", "-c", "user.email=e2e@localhost")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.client.place.home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *who, *asked],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"git {' '.join(asked)}: {done.stderr}")


def _says(mark: str, unless: str = "") -> Callable[[str], bool]:
    """Whether a fact is told, and not that it holds on a branch only."""
    return lambda told: any(mark in line and not (unless and unless in line) for line in told.splitlines())


def _added(forwarded: list[Forwarded]) -> str:
    """The lines that memory has added to the newest request's messages."""
    whole = str(forwarded[-1].messages).replace("\\n", "\n").replace("\\\\n", "\n")
    return "\n".join(line for line in whole.splitlines() if line.startswith(_SOURCES))
