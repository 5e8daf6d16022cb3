"""What a person takes back is not so any more, and nothing else is touched by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.fact import State
from tests.fake_provider import fake_provider
from tests.running import running

SETTLED = "We decided to use Zulip for the alarms of the weather station."
OWNERS = ["up:/local/loom", "u:/local"]
REPLY = "Zulip it is. The alarms go to the stream `gauges`."


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("I take that back. Zulip costs too much, the alarms stay with the pager.", False),
        ("scrap that decision, Zulip closes its free plan", False),
        ("Don't forget what I said about the alarms: Zulip for the weather station.", True),
        ("Why did you ignore what I told you? Zulip for the alarms of the weather station!", True),
        ("scrap that plan and read the gauges again", True),
        ("Now take the readings of Zulip back to an hour, please.", True),
        ("I've changed my mind, paint the buttons green.", True),
    ],
)
async def test_a_decision_that_is_taken_back_in_its_conversation_ends(tmp_path: Path, said: str, holds: bool) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(SETTLED)
        await proxy.learned()
        await proxy.chat(SETTLED, REPLY, said)
        await proxy.learned()
        found = await memory.journal.find_facts(OWNERS, "weather station")
        assert {fact.state for fact in found} == {State.ACTIVE if holds else State.SUPERSEDED}


async def test_what_another_conversation_settled_is_not_taken_back(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(SETTLED)
        await proxy.chat("I take that back, Zulip costs too much for a toy.", session="s2")
        await proxy.learned()
        found = await memory.journal.find_facts(OWNERS, "weather station")
        assert {fact.state for fact in found} == {State.ACTIVE}


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("Forget what I said about Zulip for the alarms, they go to the pager now.", False),
        ("vergiss, was ich über Zulip und die alarms der weather station gesagt habe, es bleibt der Pager", False),
        ("Forget what I said about the gauges, they are read by hand now.", True),
    ],
)
async def test_what_is_named_is_taken_back_in_another_conversation(tmp_path: Path, said: str, holds: bool) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(SETTLED)
        await proxy.learned()
        await proxy.chat(said, session="s2")
        await proxy.learned()
        found = await memory.journal.find_facts(OWNERS, "weather station")
        before = [fact for fact in found if fact.text.startswith("We decided")]
        assert {fact.state for fact in before} == {State.ACTIVE if holds else State.SUPERSEDED}
        [instead] = await memory.journal.find_facts(OWNERS, said.split()[-2])
        assert instead.state is State.ACTIVE


async def test_it_is_taken_back_once_and_no_other_in_its_place(tmp_path: Path) -> None:
    beside = "We decided to send the alarms of the harbour station to Zulip as well."
    back = "I take that back. Zulip is too expensive for the alarms of the weather station."
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(SETTLED)
        await proxy.chat(SETTLED, REPLY, beside)
        for session in ("s1", "s2", "s3"):
            await proxy.chat(SETTLED, REPLY, beside, "Noted.", back, session=session)
            await proxy.learned()
        [weather] = await memory.journal.find_facts(OWNERS, "Zulip for the alarms of the weather")
        [harbour] = await memory.journal.find_facts(OWNERS, "harbour station")
        assert (weather.state, harbour.state) == (State.SUPERSEDED, State.ACTIVE)
