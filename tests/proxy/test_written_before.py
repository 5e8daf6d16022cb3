"""What was decided about a request is in the journal before the provider has the request: a process that is killed in
between makes the same prefix again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
from aiohttp import web

from tests.fake_provider import FakeProvider, fake_provider
from tests.running import running
from tests.sparse_files import copy_tree

QUESTION = "Which database did we choose for the billing service?"


async def test_what_is_added_stands_in_the_journal_when_the_provider_is_asked(tmp_path: Path) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"

    async def copies(request: web.Request) -> web.StreamResponse:
        """What a kill at this moment would leave behind."""
        copy_tree(home, killed, "*.sock", "instance*")
        return web.json_response({"error": {"message": "gone"}}, status=500)

    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            await proxy.chat("We decided to use PostgreSQL 16 for the billing service.", session="s0")
            await proxy.learned()
            provider.answer = copies
            body = {"model": "m", "messages": [{"role": "user", "content": QUESTION}]}
            headers = {"x_session_id": "s1", "x_palimpsest_project": "loom"}
            status, _, _ = await proxy.post("/v1/chat/completions", body, **headers)
            assert status == 500
            before = forwarded(provider)
            assert "PostgreSQL" in before
        with closing(sqlite3.connect(killed / "journal.db")) as journal:
            texts = [row[0] for row in journal.execute("SELECT text FROM ledger")]
        assert any("PostgreSQL" in text for text in texts), texts
        provider.answer = None
        async with running(provider, killed, memory__recall__enabled=False, memory__page__enabled=False) as proxy:
            await proxy.chat(QUESTION, session="s1")
            assert forwarded(provider) == before, "decided once, whatever would be decided now"


def forwarded(provider: FakeProvider) -> str:
    [message] = orjson.loads(provider.last.body)["messages"]
    return str(message["content"])
