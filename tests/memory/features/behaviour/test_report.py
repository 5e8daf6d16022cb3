"""Habits over HTTP and on the command line, with what bears them out, and only the asker's own."""

from __future__ import annotations

from pathlib import Path

from memory.features.behaviour.commands import lines
from tests.fake_provider import fake_provider
from tests.memory.features.behaviour.test_observing import FIXED, play
from tests.proxy.api.asking import asking
from tests.running import running

WORK = [("cargo fmt", ""), ("cargo clippy --all", "ok"), ("git commit -m 'x y'", "[main 1] x")]


async def test_habits_of_a_project_with_their_support(tmp_path: Path) -> None:
    async with fake_provider() as upstream, running(upstream, tmp_path / "home") as proxy:
        ask = asking(proxy)
        assert await ask("GET", "api/habits") == {"projects": []}
        for number in range(3):
            await play(ask.running, f"Do piece {number}.", WORK, f"s{number}")
        await play(
            ask.running, "Make the report.", FIXED, "s9", then="No, the report should be in UTC, not local time."
        )
        [told] = (await ask("GET", "api/habits?project=loom"))["projects"]
        [sequel] = told["sequences"]
        assert sequel["steps"] == ["cargo fmt", "cargo clippy --all", "git commit -m <text>"]
        assert (sequel["sessions"], sequel["times"], sequel["kept"]) == (3, 3, 1.0)
        [fix] = told["fixes"]
        assert fix["between"] == ["`pip install tabulate==0.9`"] and "tabulate" in fix["error"]
        [corrected] = told["corrections"]
        assert corrected["wrong"] == "`python report.py`"
        assert told["ended"] == {"finished": 3, "corrected": 1}
        text = "\n".join(lines(told))
        assert "cargo fmt → cargo clippy --all → git commit -m <text>  (3 sessions, 3 times, kept 100%)" in text
        assert (await ask("GET", "api/habits?user=bob"))["projects"] == []
        await ask("GET", "api/habits?limit=0", status=422)
