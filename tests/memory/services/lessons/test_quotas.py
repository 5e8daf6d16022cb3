"""Whose quota is full is taught nothing more; nobody else notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memory.scope import Scope
from memory.services.lessons.quotas import Quotas
from memory.settings import QuotaSettings
from proxy.setting_sources import SettingsError
from proxy.settings import load
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import LESSONS
from tests.running import Running, running


class Counted:
    """Memories by the names of their owners."""

    def __init__(self, **texts: int) -> None:
        self.texts = texts
        self.asked = 0

    async def texts_below(self, owners: Sequence[str], beginnings: Sequence[str]) -> int:
        self.asked += 1
        return sum(n for name, n in self.texts.items() if name in owners or name.startswith(tuple(beginnings)))


ADA, BOB, EVE = Scope("acme", "ada", "loom"), Scope("acme", "bob", "loom"), Scope(None, "eve")


async def test_a_persons_quota_and_an_organisations_are_counted_apart() -> None:
    counted = Counted(**{"up:acme/ada/loom": 6, "u:acme/ada": 4, "up:acme/bob/loom": 2, "p:acme/loom": 1, "u:/eve": 9})
    limits = {"acme": QuotaSettings(memories=20, memories_per_user=10), "*": QuotaSettings(memories_per_user=9)}
    quotas = Quotas(limits, counted)
    assert [await quotas.full(scope) for scope in (ADA, BOB, EVE)] == [True, False, True]
    assert quotas.told() == ["nothing more is learnt of 2 people: memory.quotas"]
    counted.texts["p:acme/loom"] = 8
    assert await quotas.full(BOB)
    assert quotas.told() == ["nothing more is learnt of 2 people and 1 organisation: memory.quotas"]
    counted.texts.update({"up:acme/ada/loom": 0, "u:/eve": 0, "p:acme/loom": 0})
    assert not any([await quotas.full(scope) for scope in (ADA, BOB, EVE)])
    assert quotas.told() == []


async def test_where_no_quota_is_set_nothing_is_counted() -> None:
    counted = Counted()
    assert not await Quotas({"acme": QuotaSettings(memories=1)}, counted).full(EVE)
    assert not await Quotas({"*": QuotaSettings()}, counted).full(EVE)
    assert counted.asked == 0


async def say(proxy: Running, text: str, user: str) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    named = {"x_palimpsest_user": user, "x_palimpsest_project": "loom", "x_session_id": text[:20]}
    status, _, headers = await proxy.post("/v1/chat/completions", body, **named)
    assert status == 200
    return str(headers["x-palimpsest-status"])


async def test_learning_stops_for_whom_it_is_full_and_for_nobody_else(tmp_path: Path) -> None:
    quota = {"memory.quotas": {"*": {"memories_per_user": 1}}}
    async with fake_provider() as provider, running(provider, tmp_path, **quota) as proxy:
        ask = asking(proxy)
        await say(proxy, LESSONS[0], "ann")
        await proxy.learned()
        learnt = (await ask("GET", "api/facts?user=ann"))["facts"]
        for lesson in LESSONS[1:]:
            await say(proxy, lesson, "ann")
        await proxy.learned()
        assert learnt and (await ask("GET", "api/facts?user=ann"))["facts"] == learnt
        assert any("nothing more is learnt of 1 person" in why for why in (await ask("GET", "health"))["why"])
        # Another person's is another one, and what is told to remember is kept.
        await say(proxy, LESSONS[0], "bob")
        await proxy.learned()
        assert (await ask("GET", "api/facts?user=bob"))["facts"]
        await ask("POST", "api/remember?user=ann", {"text": "Ann's cat is called Zorro."}, status=201)


def test_an_unknown_key_of_a_quota_is_told() -> None:
    with pytest.raises(SettingsError, match=r"memory\.quotas\.acme\.memory"):
        load(options={"memory.quotas": {"acme": {"memory": 1}}})
