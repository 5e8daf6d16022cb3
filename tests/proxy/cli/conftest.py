"""A home folder of its own for every test, and a server in this process that has it open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from proxy.cli import server_access
from proxy.cli.server import RunningServer
from proxy.edge import EDGE
from proxy.settings import Loaded
from tests import rooms
from tests.proxy.cli.running import beside


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("PALIMPSEST_HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("PALIMPSEST_CONFIG", raising=False)
    monkeypatch.delenv("PALIMPSEST_UPSTREAM", raising=False)
    # A port on which nothing of the person's own can answer.
    monkeypatch.setenv("PALIMPSEST__SERVER__PORT", "1")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """It plans nights in this process."""
    build = server_access.built

    def built(settings: Loaded) -> web.Application:
        app = build(settings)
        app.on_startup.append(plan_here)
        return app

    async def plan_here(app: web.Application) -> None:
        memory = await app[EDGE].opened()
        if memory is not None:
            rooms.plan_nights_here(memory)

    monkeypatch.setattr(server_access, "built", built)
    with beside(home) as started:
        yield started


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's own folder, empty."""
    folder = tmp_path / "person"
    folder.mkdir()
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "OPENCODE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder
