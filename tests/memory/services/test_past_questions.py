"""What was superseded comes into a request when it asks about the past, and only then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fake_provider import fake_provider
from tests.running import running


async def test_a_question_about_the_past_recalls_what_held_then_and_says_that_it_does_no_longer(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("We decided to use PostgreSQL for the billing service.")
        await proxy.learned()
        await proxy.chat("We switched the billing service from PostgreSQL to SQLite.", session="s2")
        await proxy.learned()
        await proxy.chat("What did we decide to use for the billing service before the switch?", session="s3")
        then = provider.last.body
        assert b"decided to use PostgreSQL for the billing service. (no longer so since 20" in then
        await proxy.chat("What did we decide to use for the billing service?", session="s4")
        now = provider.last.body
        assert b"decided to use PostgreSQL" not in now
        assert b"from PostgreSQL to SQLite" in now


async def test_what_holds_until_a_day_leaves_recall_when_that_is_over(tmp_path: Path) -> None:
    moments = [datetime(2026, 11, 20, 12, tzinfo=UTC)]
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, memory__page__enabled=False, now=lambda: moments[-1]) as proxy,
    ):
        await proxy.chat("The freezer in the garage is on loan to Petra until November 27.")
        await proxy.learned()
        await proxy.chat("Who has the freezer on loan?", session="s2")
        assert b"on loan to Petra" in provider.last.body
        moments.append(moments[-1] + timedelta(days=30))
        await proxy.chat("Who has the freezer on loan?", session="s3")
        assert b"on loan to Petra" not in provider.last.body
        await proxy.chat("Who had the freezer on loan until November 27?", session="s4")
        assert b"on loan to Petra" in provider.last.body


async def test_what_is_denied_is_shown_with_what_it_denies_under_a_heading(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("The release manager is Bo.")
        await proxy.learned()
        await proxy.chat("The release manager is not Bo.", session="s2")
        await proxy.learned()
        await proxy.chat("Who is the release manager?", session="s3")
        shown = provider.last.body
        assert b"Unsettled" in shown and b"is Bo." in shown and b"is not Bo." in shown
