"""Plays scenes, each in a home of its own that is thrown away."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.corpus.fixed import fixed
from tests.corpus.scenes import Scene
from tests.corpus.stage import Exchange, stage


async def played(scene: Scene) -> list[Exchange]:
    """What a scene comes to."""
    with fixed(), tempfile.TemporaryDirectory() as folder:
        async with stage(scene.name, Path(folder) / "home", scene.options) as on:
            await scene.play(on)
        return on.exchanges
