"""Questions about a day, about what is open and about somebody, before a running proxy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fake_provider import fake_provider
from tests.memory.features.nights.test_routes import consolidated
from tests.proxy.api.asking import asking
from tests.running import running


async def test_a_day_is_told_from_its_buffer_and_from_its_summary(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("Please find out why the nightly importer stalls so often.", session="s1")
        await proxy.learned()
        await proxy.chat("What did we do today?", session="s2")
        assert b"nightly importer stalls" in provider.last.body
        await proxy.chat("What did we do yesterday?", session="s3")
        assert b"nightly importer" not in provider.last.body


async def test_what_is_open_elsewhere_is_told_when_it_is_asked_for_alone(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("Please find out why the nightly importer stalls so often.", session="s1")
        await proxy.learned()
        await proxy.chat("Where did we leave off?", session="s2")
        assert b"nightly importer stalls" in provider.last.body
        await proxy.chat("Write a haiku on the sea.", session="s3")
        assert b"importer" not in provider.last.body


async def test_somebody_is_told_of_by_what_is_filed_under_the_name(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("By the way, yesterday we all saw how Petra left for Graz with her dog.", session="s1")
        await proxy.learned()
        assert proxy.edge.memory is not None
        await proxy.edge.memory.entity_graph.catch_up()
        await proxy.chat("What do you know about Petra?", session="s2")
        assert b"left for Graz" in provider.last.body
        await proxy.chat("What do you know about Otto?", session="s3")
        assert b"Graz" not in provider.last.body


async def test_who_is_only_talked_of_comes_with_a_profile_once_a_session(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat(
            "My colleague Petra owns the importer. She prefers calls to mails. The sky is blue.", session="s1"
        )
        await proxy.learned()
        assert proxy.edge.memory is not None
        await proxy.edge.memory.entity_graph.catch_up()
        await proxy.chat("Can you draft a note to Petra about the outage of last night?", session="s2")
        assert b"She prefers calls to mails." in provider.last.body and b"sky" not in provider.last.body
        await proxy.chat("Can you draft a note to Otto about the outage of last night?", session="s3")
        assert b"prefers calls" not in provider.last.body


async def test_what_was_left_before_a_holiday_and_a_day_without_a_night_are_told(tmp_path: Path) -> None:
    moments = [datetime(2026, 11, 6, 12, tzinfo=UTC)]
    quiet = {"memory__page__enabled": False, "memory__night__enabled": False}
    async with fake_provider() as provider, running(provider, tmp_path, now=lambda: moments[-1], **quiet) as proxy:
        await proxy.chat("Please find out why the nightly importer stalls so often.", session="s1")
        await proxy.learned()
        moments.append(moments[-1] + timedelta(days=9))
        await proxy.chat("Where did we leave off?", session="s2")
        assert b"nightly importer stalls" in provider.last.body
        await proxy.chat("What did we do on November 6?", session="s3")
        assert b"nightly importer stalls" in provider.last.body
        await proxy.chat("What did we do on November 7?", session="s4")
        assert b"nightly importer stalls" not in provider.last.body


async def test_the_days_of_a_night_that_was_taken_back_are_put_in_short_again_when_asked_for(tmp_path: Path) -> None:
    moments = [datetime(2026, 11, 6, 12, tzinfo=UTC)]
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, now=lambda: moments[-1], memory__night__enabled=False) as proxy,
    ):
        ask = asking(proxy)
        await proxy.chat("Please find out why the nightly importer stalls so often.", session="s1")
        await proxy.learned()
        moments.append(moments[-1] + timedelta(days=3))
        [night] = (await consolidated(ask, {}))["nights"]
        assert night["lines"]
        await ask("POST", f"api/nights/{night['number']}/undo", {})
        assert (await consolidated(ask, {}))["nights"] == [], "what a person took back does not come back by itself"
        assert (await consolidated(ask, {"since": "2026-11-07"}))["nights"] == []
        [again] = (await consolidated(ask, {"since": "2026-11-01"}))["nights"]
        assert again["lines"] == night["lines"]
        assert (await consolidated(ask, {"since": "2026-11-01"}))["nights"] == []
