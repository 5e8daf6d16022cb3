"""Memories grow strong by being used, and hardly by being shown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.fact import Fact, Stability
from memory.features.history.feature import HistoryFeature
from memory.scope import Layer
from memory.services.lessons.reinforcement import Reinforcer
from memory.session import ShownMemory
from tests.fake_provider import fake_provider
from tests.running import Running, running

SAID = "We decided that the billing service listens on port 8443."
ASKED = "Which port does the billing service listen on?"


async def only_fact(proxy: Running) -> Fact:
    assert proxy.edge.memory is not None
    [fact] = await proxy.edge.memory.commands.facts(["up:/local/loom", "u:/local"])
    return fact


async def test_a_recalled_fact_that_the_reply_uses_grows_stronger_and_one_that_is_only_shown_does_not(
    tmp_path: Path,
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat(SAID)
        await proxy.learned()
        await proxy.chat(ASKED, session="s2")
        await proxy.learned()
        assert b"8443" in provider.last.body
        shown = await only_fact(proxy)
        assert (shown.access, shown.sessions, shown.used_at) == (1, 1, None)
        provider.reply = "It listens on 8443."
        await proxy.chat(ASKED, session="s3")
        await proxy.learned()
        used = await only_fact(proxy)
        assert (used.access, used.sessions) == (2, 2)
        assert used.used_at is not None
        # The same in the same session, which has heard it now, is an echo.
        await proxy.chat(ASKED, "It listens on 8443.", ASKED, session="s3")
        await proxy.learned()
        assert (await only_fact(proxy)).access == 2


async def test_what_stands_on_the_page_is_used_like_what_is_recalled(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__recall__enabled=False) as proxy:
        await proxy.chat("I prefer answers in French, please always do that.")
        await proxy.learned()
        provider.reply = "Voilà, in French."
        await proxy.chat("Explain monads.", session="s2")
        await proxy.learned()
        assert b"<memory-page>" in provider.last.body
        assert (await only_fact(proxy)).sessions == 2


async def test_who_wants_to_know_hears_once_of_each_recalled_memory_whether_it_was_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, ShownMemory, bool]] = []
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        telling = Reinforcer(memory.journal, lambda owner, shown, was: heard.append((owner, shown, was)))
        monkeypatch.setattr(memory.learner, "_reinforcing", telling)
        await proxy.chat(SAID)
        await proxy.learned()
        await proxy.chat(ASKED, session="s2")
        provider.reply = "It listens on 8443."
        await proxy.chat("On which port is billing listening?", session="s3")
        await proxy.learned()
    fact = [(owner, was) for owner, shown, was in heard if "decided" in shown.text]
    assert fact == [("u:/local", False), ("u:/local", True)]
    assert all("coverage" in shown.why for _, shown, _ in heard)


async def test_said_in_a_second_and_a_third_session_it_is_verified_and_then_stable(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__recall__enabled=False,
                                                    memory__page__enabled=False) as proxy:  # fmt: skip
        stabilities = []
        for session in ("s1", "s2", "s2b", "s3"):
            await proxy.chat(
                f"Hello from {session}.", "Hi.", "Always indent with tabs.", session=session.removesuffix("b")
            )
            await proxy.learned()
            stabilities.append((await only_fact(proxy)).stability)
        assert stabilities == [Stability.DRAFT, Stability.VERIFIED, Stability.VERIFIED, Stability.STABLE]
        assert (await only_fact(proxy)).sessions == 3


async def test_the_curve_of_a_fact_shows_its_real_uses(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(SAID)
        await proxy.learned()
        provider.reply = "It listens on 8443."
        await proxy.chat(ASKED, session="s2")
        await proxy.learned()
        fact = await only_fact(proxy)
        curve = await memory.features.of(HistoryFeature).lives.strength(fact.id, [fact.owner], datetime.now(UTC), 50)
        assert len(curve.uses) == 1
        assert max(curve.strengths) > fact.confidence
        assert fact.layer is Layer.USER_PROJECT
