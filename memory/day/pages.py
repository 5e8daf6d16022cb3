"""MEMORY.md: one file for each user and project, written from the facts and read by whoever likes.

A person may edit it. What stands outside our marks is theirs: it is never written over, and it is part of the page.
What stands between the marks is made again whenever the facts have changed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory.context.nearest import nearest
from memory.context.page import Page, frame_page, page
from memory.day.given import FrozenPage
from memory.fact import Fact
from memory.ports import Journal
from memory.scope import Scope
from memory.settings import PageSettings

BEGIN = "<!-- palimpsest: what follows is made from memory; write above this line and it stays -->"
END = "<!-- palimpsest: end -->"

CONSIDERED = 200
"""Facts that are weighed for a page at most."""

_MADE = re.compile(re.escape(BEGIN) + r".*?(?:" + re.escape(END) + r"\n?|\Z)", re.DOTALL)


@dataclass(slots=True)
class _Kept:
    """A page that was made, until its facts or its file change."""

    scope: Scope
    page: Page
    frozen: FrozenPage
    modified: float
    stale: bool = False


class PageFiles:
    """The shell that makes, writes and reads pages."""

    def __init__(self, settings: PageSettings, journal: Journal, folder: Path, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._journal = journal
        self._folder = folder
        self._now = now
        self._making: dict[tuple[str, ...], asyncio.Task[_Kept]] = {}
        self._kept: dict[tuple[str, ...], _Kept] = {}

    def path(self, scope: Scope) -> Path:
        """Where the page of a scope lies."""
        return self._folder / _name(scope.user) / _name(scope.project) / "MEMORY.md"

    def changed(self, owners: frozenset[str]) -> None:
        """Facts of these owners have changed: their pages are out of date until :meth:`refresh`."""
        for key, kept in self._kept.items():
            if not owners.isdisjoint(key):
                kept.stale = True

    async def refresh(self) -> None:
        """Make those pages anew that are out of date; the worker's task, so that no request waits for it."""
        for kept in list(self._kept.values()):
            if kept.stale:
                await self._made(kept.scope)

    async def page(self, scope: Scope) -> FrozenPage:
        """The page, framed for a request: as it was made last, or anew where it was never made or edited since."""
        kept = self._kept.get(scope.owners())
        # While it is being made anew its file changes; the one that there is will do until then.
        edited = (
            kept is not None and scope.owners() not in self._making and kept.modified != _modified(self.path(scope))
        )
        if kept is None or edited:
            kept = await self._made(scope)
        return kept.frozen

    async def settle(self) -> None:
        """Wait until no page is being made: some are made though nobody waits for them any more."""
        while self._making:
            await asyncio.wait(list(self._making.values()))

    async def _made(self, scope: Scope) -> _Kept:
        """Make a page, once for all who ask. Who gives up waiting does not end the work: the next one has its page."""
        owners = scope.owners()
        making = self._making.get(owners)
        if making is None:
            making = asyncio.create_task(self._make(scope))
            self._making[owners] = making
            making.add_done_callback(lambda _: self._making.pop(owners, None))
        return await asyncio.shield(making)

    async def text(self, scope: Scope) -> str:
        """The page's file as it is now."""
        await self.refresh()
        await self.page(scope)
        return await asyncio.to_thread(_read, self.path(scope))

    async def own(self, scope: Scope) -> str:
        """What a person has written on the page."""
        return _MADE.sub("", await asyncio.to_thread(_read, self.path(scope))).strip()

    async def write(self, scope: Scope, own: str) -> None:
        """Put ``own`` in the place of what a person had written; what is made from memory stands below it."""
        self._kept.pop(scope.owners(), None)
        await asyncio.to_thread(_write, self.path(scope), _MADE.sub("", own).strip(), "")
        await self.page(scope)

    async def unmake(self) -> None:
        """Take what was made out of every file, for something has been forgotten. Each is made again when it is
        next asked for; what a person wrote stays."""
        self._kept.clear()
        await asyncio.to_thread(_unmake, self._folder)

    async def _make(self, scope: Scope) -> _Kept:
        before = self._kept.get(scope.owners())
        if before is not None:
            before.stale = False
        facts = await self._journal.page_facts(scope.owners(), CONSIDERED)
        file = self.path(scope)
        own = _MADE.sub("", await asyncio.to_thread(_read, file)).strip()
        budget = self._settings.tokens - len(own.encode()) // 4
        made = await asyncio.to_thread(_heeded, facts, max(budget, 0), self._now())
        if made.text or own:
            await asyncio.to_thread(_write, file, own, made.text)
        whole = "\n\n".join(part for part in (own, made.text.strip()) if part)
        modified = await asyncio.to_thread(_modified, file)
        # What has changed meanwhile may not stand on it.
        stale = before is not None and before.stale
        kept = _Kept(scope, made, FrozenPage(frame_page(whole), made.memories), modified, stale)
        self._kept[scope.owners()] = kept
        return kept


def _heeded(facts: Sequence[Fact], budget: int, now: datetime) -> Page:
    """The page of some facts without those that lose to one of a nearer layer."""
    lost = nearest(facts)
    return page([fact for fact in facts if fact.id not in lost], budget, now)


def _name(name: str | None) -> str:
    """A folder's name for a user or project: readable, and never two for one."""
    name = name or "_"
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[-60:]
    if plain == name:
        return plain
    return f"{plain or 'x'}-{hashlib.blake2b(name.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _write(file: Path, own: str, made: str) -> None:
    """Replace the file in one step, so that a reader never sees half of it."""
    text = f"{own}\n\n" * bool(own) + f"{BEGIN}\n{made.rstrip()}\n{END}\n"
    if _read(file) == text:
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(beside, file)


def _unmake(folder: Path) -> None:
    for file in folder.glob("*/*/MEMORY.md"):
        own = _MADE.sub("", _read(file)).strip()
        if own:
            _write(file, own, "")
        else:
            file.unlink(missing_ok=True)
