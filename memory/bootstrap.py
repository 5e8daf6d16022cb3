"""The one place that chooses stores and models and joins the parts of memory."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory.day.learn import Learner
from memory.day.note import Notes
from memory.day.pages import PageFiles
from memory.day.prepare import Preparation
from memory.day.recall import Recall
from memory.day.sessions import LiveSessions
from memory.learning.redact import redact
from memory.models.choose import choose_embedder
from memory.ports import Embedder, Guard
from memory.session import Mode
from memory.settings import MemorySettings
from memory.stores.generations import Generations
from memory.stores.journal import SqliteJournal


@dataclass(slots=True)
class Memory:
    """Memory's parts, joined. ``paused`` is what ``palimpsest pause`` sets; it lasts until ``resume``."""

    settings: MemorySettings
    home: Path
    journal: SqliteJournal
    generations: Generations
    embedder: Embedder
    sessions: LiveSessions
    preparation: Preparation
    notes: Notes
    learner: Learner
    recall: Recall
    pages: PageFiles

    @property
    def paused(self) -> bool:
        """Whether a person has switched memory off for now."""
        return _pause_file(self.home).exists()

    def pause(self) -> None:
        """Learn nothing and add nothing new until :meth:`resume`; survives a restart."""
        _pause_file(self.home).touch(mode=0o600)

    def resume(self) -> None:
        """Take part again."""
        _pause_file(self.home).unlink(missing_ok=True)

    async def close(self) -> None:
        """Write what waits, then let go of the files."""
        await self.notes.write_kept()
        await self.learner.stop()
        await self.recall.index.close()
        await self.journal.close()


async def open_memory(settings: MemorySettings, home: Path, guard: Guard) -> Memory | None:
    """Open the stores below ``home`` and start learning. None where memory is switched off in the settings.

    Raises:
        StoreError: when the journal cannot be opened. A broken index is rebuilt instead.
    """
    if settings.mode is Mode.OFF:
        return None
    raise NotImplementedError


def _pause_file(home: Path) -> Path:
    return home / "paused"
