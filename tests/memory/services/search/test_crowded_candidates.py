"""Questions that were asked in like words crowd out no answer."""

from __future__ import annotations

from pathlib import Path

from tests.fake_provider import fake_provider
from tests.running import running

ASKED = "Which colour has the lamp of the northern jetty when the harbour is shut at {}?"


async def test_an_answer_is_found_behind_many_earlier_questions_of_like_words(tmp_path: Path) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, memory__page__enabled=False, memory__recall__candidates=4) as proxy,
    ):
        await proxy.chat("The lamp of the northern jetty is violet.")
        for hour in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"):
            await proxy.chat(ASKED.format(hour), session=hour)
        await proxy.learned()
        await proxy.chat(ASKED.format("noon"), session="now")
        assert b"is violet" in provider.last.body
