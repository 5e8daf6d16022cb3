"""From name to name, before a running proxy; and the legs of recall weighed by what was used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory.context.rank import WEIGHTS
from memory.ports import Tally
from memory.services.search.leg_weights import LegWeights
from tests.fake_provider import fake_provider
from tests.running import running


async def test_what_shares_only_a_name_with_what_is_asked_about_is_found(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("We decided that Petra owns the Heron cluster from now on.")
        await proxy.chat("By the way, yesterday we all saw how Petra left for Graz with her dog.", session="s2")
        await proxy.learned()
        assert proxy.edge.memory is not None
        await proxy.edge.memory.entity_graph.catch_up()
        await proxy.chat("Who was it that we decided owns the Heron cluster?", session="s3")
        assert b"left for Graz" in provider.last.body


class FakeTallies:
    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Tally]] = {}
        self.writes = 0

    async def tallies(self, owner: str) -> dict[str, Tally]:
        return dict(self.kept.get(owner, {}))

    async def tally(self, owner: str, tallies: Mapping[str, Tally]) -> None:
        self.kept[owner] = dict(tallies)
        self.writes += 1


async def test_use_is_recorded_for_the_user_and_weighs_the_next_request_of_theirs() -> None:
    journal = FakeTallies()
    weighing = LegWeights(journal)
    owners = ["up:/ann/boat", "u:/ann"]
    assert await weighing.weights(owners, "Where?") is WEIGHTS
    await weighing.record_all("u:/ann", [({"coverage": 1.0}, True), ({"cosine": 1.0}, False)])
    assert journal.writes == 1
    assert journal.kept["u:/ann"]["coverage"].used > 0 and journal.kept["u:/ann"]["cosine"].unused > 0
    again = await weighing.weights(owners, "Where?")
    assert again != WEIGHTS
    assert again == await LegWeights(journal).weights(owners, "Where?")
    assert await weighing.weights(["up:/bob/boat", "u:/bob"], "Where?") is WEIGHTS
    assert await weighing.weights([], "Where?") is WEIGHTS


async def test_what_no_leg_brought_records_nothing() -> None:
    journal = FakeTallies()
    await LegWeights(journal).record_all("u:/ann", [({"same error": 1.0}, True)])
    assert journal.writes == 0


async def test_what_a_reply_used_of_what_was_recalled_is_counted(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        await proxy.chat("We decided that the billing service listens on port 8443.")
        await proxy.learned()
        provider.reply = "It listens on 8443."
        await proxy.chat("Which port does the billing service listen on?", session="s2")
        await proxy.learned()
        memory = proxy.edge.memory
        assert memory is not None
        await memory.recall.weighing.settle()
        counted = await memory.journal.tallies("u:/local")
        assert counted["coverage"].used > 0 and counted["coverage"].unused == 0
