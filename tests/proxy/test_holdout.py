"""A session that is held out goes as its client sent it, says so, is learned from, and is compared with the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest_asyncio

from memory.services.sessions.live import held_out
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.web.browsing import let_in
from tests.running import Running, running

RULE = "We always use pnpm instead of npm in this project. Please remember that."
ASKED = "Which package manager do we use in this project, npm or pnpm?"


def test_the_share_is_held_and_the_same_id_is_always_in_the_same_arm() -> None:
    ids = [f"session {number}" for number in range(10_000)]
    arms = [held_out(id, 0.1) for id in ids]
    assert 900 < sum(map(bool, arms)) < 1100 and arms == [held_out(id, 0.1) for id in ids]
    assert held_out("any", 0.0) is None
    more = [held_out(id, 0.3) for id in ids]
    assert all(wide for narrow, wide in zip(arms, more, strict=True) if narrow), "a larger share holds the smaller one"


async def _status(proxy: Running, session: str, text: str = ASKED) -> str:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
    headers = {"x_session_id": session, "x_palimpsest_project": "loom"}
    _, _, told = await proxy.post("/v1/chat/completions", body, **headers)
    return told["x-palimpsest-status"]


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as started:
        yield started


async def test_some_sessions_go_without_and_the_page_compares_them(provider: FakeProvider, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with running(provider, home) as proxy:
        await proxy.chat(RULE, session="before")
        await proxy.learned()
    async with running(provider, home, memory__measure__holdout=0.5, memory__tools__offer=True) as proxy:
        untouched, remembered = set(), set()
        for number in range(24):
            status = await _status(proxy, f"s{number}")
            sent = provider.requests[-1].body
            if status.startswith("held out"):
                assert sent == orjson.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": ASKED}]})
                untouched.add(f"s{number}")
            else:
                assert b"pnpm instead of npm" in sent
                remembered.add(f"s{number}")
        assert len(untouched) > 4 and len(remembered) > 4
        one = min(untouched)
        assert (await _status(proxy, one, "And where is that written down?")).startswith("held out")
        await proxy.learned()
        ask = asking(proxy)
        told = await ask("GET", "api/money")
        assert (told["measured"]["with_memory"], told["measured"]["without"]) == (len(remembered), len(untouched))
        assert [row["name"] for row in told["by_project"]] == ["loom"] and told["by_model"][0]["name"] == "gpt-4o-mini"
        assert sum(row["requests"] for row in told["by_day"]) == told["sums"]["requests"] == 26
        turns = next(each for each in told["measured"]["differences"] if each["name"] == "turns")
        assert turns["with_memory"] == 1.0 and turns["without"] == 1.0 + 1 / len(untouched)
        page = await (await let_in(proxy)).get("money")
        assert "With memory and without" in page.text and "it may be chance" in page.text
        assert f"{len(untouched)} sessions without" in page.text
    async with running(provider, home) as proxy:
        assert not (await _status(proxy, one, "Which package manager is it then, npm or pnpm?")).startswith("held out")


async def test_an_agent_that_was_sent_is_in_the_arm_of_the_one_that_sent_it(
    provider: FakeProvider, tmp_path: Path
) -> None:
    async with running(provider, tmp_path / "home", memory__measure__holdout=0.5) as proxy:
        for number in range(12):
            sender = f"{number:08d}-0000-4000-8000-000000000000"
            told = []
            for agent in ("", "worker"):
                body = {
                    "model": "claude-x",
                    "max_tokens": 9,
                    "messages": [{"role": "user", "content": f"Look at file {number} {agent}"}],
                    "metadata": {"user_id": orjson.dumps({"session_id": sender, "device_id": "d"}).decode()},
                }
                headers = {
                    "x-app": "cli",
                    "user-agent": "claude-cli/2.1 (external)",
                    "x-claude-code-session-id": sender,
                }
                if agent:
                    headers["x-claude-code-agent-id"] = "a1"
                _, _, reply = await proxy.post("/v1/messages", body, **headers)
                told.append(reply["x-palimpsest-status"].startswith("held out"))
            assert told[0] == told[1], number
