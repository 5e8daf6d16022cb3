"""An agent at work in a repository, through the real proxy: what it is given, and what is learnt of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from memory.checkout import LearnedAt
from memory.fact import Fact, Origin
from memory.features.checkouts.feature import CheckoutsFeature
from tests.fake_provider import FakeProvider, fake_provider
from tests.memory.features.checkouts.repository import Repository
from tests.running import Running, running


class Working:
    """The proxy, the provider behind it, and a repository."""

    def __init__(self, proxy: Running, provider: FakeProvider, repository: Repository) -> None:
        self.proxy, self.provider, self.repository = proxy, provider, repository
        self._sessions = 0

    @property
    def memory(self) -> Any:
        assert self.proxy.edge.memory is not None
        return self.proxy.edge.memory

    @property
    def feature(self) -> CheckoutsFeature:
        """The feature that is tried."""
        feature: CheckoutsFeature = self.memory.features.of(CheckoutsFeature)
        return feature

    async def say(self, text: str, at: Path | None = None, *, tools: bool = False) -> str:
        """Say something in a new session, to an agent that has ``tools`` or none; what memory added to it. All of it is
        learnt from when this ends."""
        self._sessions += 1
        system = f"You are a coding agent.\nWorking directory: {at or self.repository.root}\n"
        body: dict[str, Any] = {
            "model": "m",
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
        }
        if tools:
            run = {"name": "run", "parameters": {"type": "object", "properties": {}}}
            body["tools"] = [{"type": "function", "function": run}]
        status, _, _ = await self.proxy.post("/v1/chat/completions", body, x_session_id=f"s{self._sessions}")
        assert status == 200
        await self.settle()
        told: str = orjson.loads(self.provider.last.body)["messages"][-1]["content"]
        return told.removeprefix(text)

    async def settle(self) -> None:
        """Wait until memory has seen all that there is to be seen."""
        await self.proxy.learned()
        await self.memory.preparation.settle()
        await self.memory.learner.catch_up()

    async def seen(self, at: Path | None = None) -> None:
        """Let memory look at the repository as it stands, as any request would."""
        await self.say(f"Good morning to you, for the {self._sessions + 1}th time.", at)

    async def facts(self) -> dict[str, tuple[Fact, LearnedAt]]:
        """The facts that were said, by their texts, each with where it was learnt."""
        found = await self.memory.journal.facts_of(await self.memory.journal.owners())
        learnt = await self.memory.journal.learnt([fact.id for fact in found])
        said = (fact for fact in found if fact.origin is not Origin.FILE)
        return {fact.text: (fact, learnt[fact.id]) for fact in said if fact.id in learnt}

    async def observed(self) -> dict[str, tuple[Fact, LearnedAt]]:
        """What the project's own files say, by its texts, each with where it was seen."""
        found = await self.memory.journal.facts_of(await self.memory.journal.owners())
        learnt = await self.memory.journal.learnt([fact.id for fact in found])
        return {fact.text: (fact, learnt[fact.id]) for fact in found if fact.origin is Origin.FILE}


@asynccontextmanager
async def working(folder: Path, **options: Any) -> AsyncIterator[Working]:
    """An agent at work below a folder."""
    options = {"memory__checkouts__wait_ms": 10_000.0} | options  # a busy machine must not decide what a test sees
    repository = Repository(folder / "loom")
    async with fake_provider() as provider, running(provider, folder / "home", **options) as proxy:
        yield Working(proxy, provider, repository)
