"""A home with something on every page: memories, a candidate, research, a night, a session that was shed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fake_provider import FakeProvider
from tests.memory.features.nights.test_routes import SAME, consolidated
from tests.memory.features.subagents.errands import play, researched
from tests.proxy.api.asking import asking
from tests.proxy.api.test_sheds import turn
from tests.proxy.test_what_becomes_a_rule import CORRECTIONS, LIBRARIES
from tests.running import Running

SMALL = {"memory.windows": {"gpt-4o-mini": 6000}, "memory.shedding.reserve": 500}
SAID = (
    "We decided to use PostgreSQL 16 for the ledger, because the reports need window functions.",
    "I prefer short answers without a summary at the end.",
    "In this project tests stand beside the code, never in a folder of their own.",
    "The staging cluster is called heron, and only Rosa may restart it.",
)


def projects(folder: Path) -> dict[str, Any]:
    """The settings of a project that has a folder for its rules."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"loom": {"folder": str(folder)}}


async def fill(proxy: Running, provider: FakeProvider) -> None:
    """Put it there, as clients and a person would."""
    ask = asking(proxy)
    await play(proxy, provider)
    await researched(proxy)
    provider.answer = None
    for number, text in enumerate(SAID):
        await proxy.chat(text, session=f"t{number}")
    await proxy.learned()
    for number, (library, text) in enumerate(zip(LIBRARIES, CORRECTIONS, strict=True)):
        asked, done = f"Add {library} to the project please.", f"I ran npm install {library}."
        await proxy.chat(asked, done, text, session=f"s{number}")
        await proxy.learned()
    for text in SAME:
        await ask("POST", "api/remember", {"text": text}, status=201)
    await consolidated(ask, {})
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at the files of the ledger, and its database."}]
    for number in range(14):
        messages += turn(number)
        headers = {"x_session_id": "long", "x_palimpsest_project": "loom"}
        await proxy.post("/v1/chat/completions", {"model": "gpt-4o-mini", "messages": messages}, **headers)
        await proxy.learned()
        assert proxy.edge.memory is not None
        await proxy.edge.memory.tier_worker.catch_up()
    await proxy.chat("Which database did we decide on for the ledger?", session="asks")
    await proxy.learned()
