"""A night puts old, unread memories in short; what is used is whole again, and an undo puts everything back."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.fact import Passage
from memory.features.nights.runner import NightRunner
from tests import rooms
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

TALK = (
    "We went to the lake with the whole family on Sunday, as we do. The water was cold, the children swam all the "
    "same, and in the evening Ida lost her silver ring on the pier, where nobody has found it since."
)


async def passages(proxy: Running) -> list[Passage]:
    assert proxy.edge.memory is not None
    found = await proxy.edge.memory.journal.find_passages(["up:/local/loom"], "lake")
    assert all(isinstance(each, Passage) for each in found)
    return found


def later(nights: NightRunner, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the nights, so many days on."""
    monkeypatch.setattr(nights, "_now", lambda: datetime.now().astimezone() + timedelta(days=days))


async def test_a_night_puts_it_in_short_and_an_undo_puts_it_back_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(TALK)
        await proxy.learned()
        before = await memory.exporter.records("passage", "up:/local/loom", ["up:/local/loom"])
        later(rooms.nights(memory).runner, 30, monkeypatch)
        await rooms.nights(memory).runner.run()
        assert [each.preview for each in await passages(proxy)] == [0]
        later(rooms.nights(memory).runner, 400, monkeypatch)
        await rooms.nights(memory).runner.run()
        [short] = await passages(proxy)
        assert short.text == TALK
        assert short.brief == "We went to the lake with the whole family on Sunday, as we do. […]"
        found = await asking(proxy)("GET", "api/search?text=silver+ring&project=loom")
        assert found["results"][0]["text"] == TALK
        nights = await rooms.nights(memory).store.nights(["up:/local/loom"])
        assert nights[0].changes == {"compact": 1}
        await rooms.nights(memory).runner.undo(nights[0].number)
        assert await memory.exporter.records("passage", "up:/local/loom", ["up:/local/loom"]) == before


async def test_what_was_shown_stays_whole_and_what_is_used_becomes_whole_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(TALK)
        await proxy.learned()
        later(rooms.nights(memory).runner, 400, monkeypatch)
        await rooms.nights(memory).runner.run()
        assert (await passages(proxy))[0].preview > 0
        provider.reply = "On the pier: her silver ring was lost there."
        await proxy.chat("Where did Ida lose it, after we went to the lake?", session="s2")
        await proxy.learned()
        assert (await passages(proxy))[0].preview == 0
        later(rooms.nights(memory).runner, 800, monkeypatch)
        await rooms.nights(memory).runner.run()
        assert (await passages(proxy))[0].preview == 0
