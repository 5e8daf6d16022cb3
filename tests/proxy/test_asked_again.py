"""Who asks again in a new session gets what was learnt meanwhile, and the first session stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

from aiohttp import web

from tests.fake_provider import fake_provider
from tests.running import running

ASKED = "Which port does the heron gauge listen on?"
TOLD = "The heron gauge listens on port 7021, remember that."


async def test_the_same_words_in_a_new_session_get_what_was_learnt_meanwhile(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:

        async def say(*texts: str, session: str) -> str:
            await proxy.chat(*texts, session=session)
            return provider.last.body.decode()

        provider.reply = "OK."
        first = await say(ASKED, session="before")
        provider.reply = "Yes."
        assert "7021" not in first
        await say(TOLD, session="meanwhile")
        await proxy.learned()
        assert "7021" in await say(ASKED, session="after")
        # What the first one sent stands at the head of all that it sends from then on.
        for name in ("before, resumed under another name", "before"):
            again = await say(ASKED, "OK.", "Look it up, please.", session=name)
            assert json.loads(again)["messages"][0] == json.loads(first)["messages"][0], name


async def test_a_retry_before_the_reply_was_whole_is_sent_as_it_was(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:

        async def refuse(request: web.Request) -> web.StreamResponse:
            return web.json_response({"error": {"message": "busy"}}, status=500)

        provider.answer = refuse
        await proxy.post(
            "/v1/chat/completions",
            {"model": "m", "messages": [{"role": "user", "content": ASKED}]},
            x_session_id="one",
            x_palimpsest_project="loom",
        )
        first = provider.last.body
        provider.answer = None
        await proxy.chat(TOLD, session="meanwhile")
        await proxy.learned()
        await proxy.chat(ASKED, session="one")
        assert provider.last.body == first
