"""The rules by which is learned are read when they are needed, and read whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest

from memory.bootstrap import open_memory
from memory.fact import FactDraft, Origin, Stream
from memory.parts import Memory
from memory.services.lessons import rules
from memory.settings import MemorySettings, ProjectFolder
from tests.memory.features.approvals.test_decisions import ADA, SHARED
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import AT

CODE = """
import asyncio, sys
from memory.services.lessons import rules
assert not rules.whole() and "memory.learning.extract" not in sys.modules
asyncio.run(rules.at_hand())
assert rules.whole() and "memory.learning.extract" in sys.modules
"""


def test_they_are_read_when_somebody_asks_for_them() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def edits_the_page(memory: Memory, folder: Path) -> None:
    await memory.commands.remember("We use yarn.", ADA)
    await memory.pages.page(ADA)
    file, text = (await memory.pages.files(ADA))[Stream.PROJECTS]
    file.write_text(text.replace("We use yarn", "We use pnpm") + "- The marina opens at 8.\n")
    assert "marina" in await memory.pages.text(ADA)


async def imports_notes(memory: Memory, folder: Path) -> None:
    assert (await memory.importer.notes("- The marina opens at 8.", ADA, AT)).facts == 1


@pytest.mark.parametrize("does", [edits_the_page, imports_notes])
async def test_what_a_person_writes_waits_for_them_beside_the_loop(
    does: Callable[[Memory, Path], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = await open_memory(MemorySettings(), tmp_path, unguarded, {SHARED: ProjectFolder(folder=tmp_path)})
    assert memory is not None
    await memory.cache_warmer.stop()
    read, asked, made = False, 0, rules.drafts

    async def at_hand(rest: object = None) -> None:
        nonlocal read
        read = True

    def drafts(text: str, origin: Origin, now: datetime) -> list[FactDraft]:
        nonlocal read, asked
        assert read
        read, asked = False, asked + 1
        return made(text, origin, now)

    monkeypatch.setattr(rules, "at_hand", at_hand)
    monkeypatch.setattr(rules, "drafts", drafts)
    await does(memory, tmp_path)
    assert asked
    await memory.close()
