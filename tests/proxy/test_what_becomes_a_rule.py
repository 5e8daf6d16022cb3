"""From what a person says again and again in one runtime to a rule in the project's file and in another's request."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.fake_provider import fake_provider
from tests.memory.features.nights.test_routes import consolidated
from tests.proxy.api.asking import asking
from tests.running import running

CORRECTIONS = [
    "No, use pnpm to install packages here, not npm.",
    "Please install packages with pnpm, not npm.",
    "That's wrong, we install packages with pnpm instead of npm.",
    "Use pnpm to install packages, not npm!",
    "I told you: always use pnpm to install packages, never npm.",
    "No. Install packages with pnpm, not npm.",
]
LIBRARIES = ("lodash", "react", "vue", "svelte", "axios", "zod")


async def test_what_is_corrected_although_memory_shows_it_to_the_model_counts(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        for number, (library, text) in enumerate(zip(LIBRARIES, CORRECTIONS, strict=True)):
            asked, done = f"Add {library} to the project please.", f"I ran npm install {library}."
            await proxy.chat(asked, done, text, session=f"s{number}")
            await proxy.learned()
        assert b"<recalled-memory>" in provider.last.body, "memory shows it"
        ask = asking(proxy)
        await consolidated(ask, {})
        [found] = (await ask("GET", "api/candidates"))["candidates"]
        assert found["sessions"] >= 5 and found["sources"] >= 5


async def test_what_is_corrected_again_and_again_becomes_a_rule_by_a_persons_word(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    file = folder / "CONVENTIONS.md"
    file.write_text("# Loom\n\nBe kind.\n")
    projects = {"loom": {"folder": str(folder)}}
    async with fake_provider() as provider, running(provider, tmp_path / "home", projects=projects) as proxy:
        ask = asking(proxy)
        for number, (library, text) in enumerate(zip(LIBRARIES, CORRECTIONS, strict=True)):
            asked, done = f"Add {library} to the project please.", f"I ran npm install {library}."
            await proxy.chat(asked, done, text, session=f"s{number}")
        await proxy.learned()
        await consolidated(ask, {})
        [found] = (await ask("GET", "api/candidates"))["candidates"]
        assert "corrections in" in found["why"] and found["sessions"] >= 5 and "pnpm" in found["text"]
        would = await ask("POST", f"api/candidates/{found['id']}/approve", {})
        assert would["files"][0]["file"] == str(file) and f"+- {found['text']}" in would["files"][0]["diff"]
        assert "pnpm" not in file.read_text()
        await ask("POST", f"api/candidates/{found['id']}/approve", {"confirm": would["confirm"]})
        assert (
            file.read_text().startswith("# Loom\n\nBe kind.\n\n<!-- palimpsest") and found["text"] in file.read_text()
        )
        await proxy.chat("Please set up the linter.", session="another")
        first = orjson.loads(provider.last.body)["messages"][0]["content"]
        assert f"- {found['text']}" in first and first.count("pnpm") == 1, "it stands on the page, once"
        await consolidated(ask, {"since": "2020-01-01"})
        assert (await ask("GET", "api/candidates"))["candidates"] == [], "it is not put forward again"


async def test_what_is_said_again_counts_as_often_when_it_is_learned_at_once(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        for number, text in enumerate(CORRECTIONS):
            await proxy.chat("Add lodash please.", "I ran npm install lodash.", text, session=f"s{number}")
        await proxy.learned()
        facts = (await asking(proxy)("GET", "api/facts?text=pnpm"))["facts"]
        assert sum(each["access"] for each in facts) == len(CORRECTIONS)
