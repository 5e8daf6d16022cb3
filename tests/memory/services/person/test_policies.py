"""What a policy does not let be kept comes in by no other door: a note, an import, an update, an edited page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from memory.bootstrap import open_memory
from memory.fact import Category, Stream
from memory.features.memory_tools.feature import MemoryToolsFeature
from memory.parts import Memory
from memory.policy import NotKept
from memory.scope import Layer, Scope
from memory.services.tool_calls import ToolCaller
from memory.settings import MemorySettings, PolicySettings
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import fact

ADA = Scope("acme", "ada", "loom")
PLAIN = "The billing service runs on PostgreSQL 16."
SECRET = "Top secret: the merger with Globex closes on Friday."
PERSON = "My wife Grace is allergic to peanuts."


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    policy = PolicySettings(personal=False, restricted=False)
    opened = await open_memory(MemorySettings(policies={"acme": policy}), tmp_path, unguarded)
    assert opened is not None
    yield opened
    await opened.close()


async def texts(memory: Memory) -> str:
    return "\n".join(each.text for each in await memory.commands.facts(await memory.commands.everything_of(ADA)))


async def test_a_models_note_is_refused_in_words(memory: Memory) -> None:
    tools, asker = memory.features.of(MemoryToolsFeature).tools, ToolCaller(ADA, "s1")
    note = {"action": "add", "text": SECRET}
    told = await tools.answer("memory_note", orjson.dumps(note).decode(), asker)
    assert "memory.policies.acme.restricted" in told.text
    await tools.answer("memory_note", orjson.dumps({"action": "add", "text": PLAIN}).decode(), asker)
    assert await texts(memory) == PLAIN


async def test_a_fact_is_not_updated_to_what_may_not_be_kept(memory: Memory) -> None:
    held = await memory.commands.remember(PLAIN, ADA)
    with pytest.raises(NotKept, match="restricted"):
        await memory.fact_reviser.update(held.id, SECRET, ADA.owners())
    with pytest.raises(NotKept, match="about people"):
        await memory.commands.remember(PERSON, ADA)
    assert await texts(memory) == PLAIN


async def test_an_import_says_what_it_left_out(memory: Memory) -> None:
    taken = await memory.importer.notes(f"- {PLAIN}\n- {SECRET}\n- {PERSON}\n", ADA, datetime.now(UTC))
    assert taken.facts == 1 and [place for place, _ in taken.faults] == [2, 3]
    assert all("memory.policies.acme" in why for _, why in taken.faults)
    assert await texts(memory) == PLAIN


async def test_what_is_written_past_all_that_is_left_out_too(memory: Memory) -> None:
    owner = ADA.owner(Layer.USER_PROJECT) or ""
    person = fact(PERSON, owner=owner, category=Category.PEOPLE)
    await memory.learner.remember([person, fact(PLAIN, owner=owner)])
    assert await texts(memory) == PLAIN


async def test_a_line_on_the_page_is_not_remembered(memory: Memory) -> None:
    await memory.commands.write_page(ADA, None, {Stream.PROJECTS: f"- {PLAIN}\n- {SECRET}\n"})
    assert await texts(memory) == PLAIN
