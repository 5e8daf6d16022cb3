"""Servers that remember something, for one runtime after the other to ask: the right memory, and five others."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

RIGHT = "The staging gateway listens on port 7443 behind the reverse proxy."
REMEDY = "The error libwombat.so.3 not found means that tools/vendor.sh has not run."
OTHERS = (
    "The parser splits its input on commas and keeps the quotes.",
    "Greta's birthday party is at the lake house in July.",
    "The invoices are printed in Helvetica, never in Arial.",
    "Our podcast comes out every second Thursday morning.",
    "The greenhouse sensors report humidity every ten minutes.",
)
PROJECT = {"x_palimpsest_project": "gate"}
OPENS = "<recalled-memory>"


class Told:
    """Servers that were told some memories, each memory in a session of its own, and have learned nothing since: what
    one runtime says there is no memory of the next. Each runtime has a credential of its own, and so its own sessions.
    """

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._told: dict[tuple[tuple[str, ...], str], tuple[Running, FakeProvider]] = {}

    async def memories(self, *memories: str, **settings: Any) -> tuple[Running, FakeProvider]:
        """The server that was told these."""
        key = memories, str(settings)
        if key not in self._told:
            provider = await self._stack.enter_async_context(fake_provider())
            home = self._folder / f"told-{len(self._told)}"
            proxy = await self._stack.enter_async_context(running(provider, home, **settings))
            for number, memory in enumerate(memories):
                await proxy.chat(memory, session=f"told-{number}", project="gate")
            await proxy.learned()
            assert proxy.edge.memory is not None
            await proxy.edge.memory.learner.stop()
            self._told[key] = proxy, provider
        return self._told[key]


def told(body: bytes) -> str:
    """All that a body recalls."""
    return "\n".join(re.findall(f"{OPENS}(.*?)</recalled-memory>", body.decode(), re.DOTALL))


def others_in(text: str) -> list[str]:
    return [each for each in OTHERS if each[:24] in text]
