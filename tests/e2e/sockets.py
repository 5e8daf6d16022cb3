"""Codex over its WebSocket: it opens with a frame that only warms up, and goes on from its last response.

What its server holds is laid beside what the client would have sent over HTTP. A history that does not fit any more is
asked for, and shed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path

from tests.e2e.clients import Client, Codex
from tests.e2e.long import OVER, Long
from tests.e2e.model import Forwarded, Model
from tests.e2e.prefixes import Growth, Pair, growth
from tests.e2e.scenario import Turns
from tests.e2e.stage import Failed, Stage
from tests.e2e.tap import NUMBER

NOT_FOUND = "previous_response_not_found"


class OverSockets(Stage):
    """Whatever is played, over WebSockets."""

    def __init__(self, client: Client, model: Model, upstream: str, folder: Path) -> None:
        assert isinstance(client, Codex)
        client.sockets = True
        super().__init__(client, model, upstream, folder)

    async def scenes(self) -> None:
        """All of it."""
        await super().scenes()
        await self.check("all of it came over WebSockets, and most went on from a response", self._came_so)

    async def _came_so(self) -> str:
        asked = [one for one in self.model.seen if "chat" not in one.path]
        frames = [one for one in asked if one.frame]
        if frames != asked:
            raise Failed(f"{len(asked) - len(frames)} of {len(asked)} came over HTTP")
        went_on = sum(one.before is not None for one in self.tap.frames)
        if went_on * 2 < len(frames):
            raise Failed(f"only {went_on} of {len(frames)} go on from a response")
        return f"{went_on} of {len(frames)} go on from a response"

    async def growth(self) -> Growth:
        """How the sessions' histories grew, at the client and at the model."""
        came = defaultdict[int, deque[Forwarded]](deque)
        for one in self.model.seen:
            if one.frame:
                came[int(one.headers[NUMBER])].append(one)
        pairs = list[Pair]()
        for sent in self.tap.frames:
            there = came[sent.connection]
            # What the proxy itself refused did not come.
            if sent.refused != NOT_FOUND and there:
                one = there.popleft()
                if not one.compaction:
                    pairs.append(Pair(sent.whole, one.body))
        return growth(pairs)


class Sockets(OverSockets, Turns):
    """A session, its faults, and what it taught, over WebSockets."""

    name = "sockets"


class LongSockets(OverSockets, Long):
    """One long session, of which the server holds most."""

    name = "long-sockets"
    lays_prefixes = False
    in_sight = False

    async def scenes(self) -> None:
        """All of it."""
        await super().scenes()
        await self.check("it was asked for its history, and rarely", self._asked_rarely)

    async def _asked_rarely(self) -> str:
        asked = sum(one.refused == NOT_FOUND for one in self.tap.frames)
        if not 1 <= asked <= 4 * OVER:
            raise Failed(f"it was asked {asked} times in {len(self.tap.frames)} frames")
        return f"{asked} times in {len(self.tap.frames)} frames"
