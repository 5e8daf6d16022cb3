"""MEMORY.md: the page of a user and a project, made from the facts and read by whoever likes.

It lies in a folder of files: one for each stream, and MEMORY.md with a person's own words, which stand on the page as
they are. What a person changes in a stream's file is taken back as their own word (see
:mod:`memory.services.page.edits`) before the file is made anew, whenever the facts or the files have changed.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from memory.context.diversity import nearest
from memory.context.page import Page, frame_page, page
from memory.context.page_diff import edited
from memory.fact import Fact, Stream
from memory.lru import LruDict
from memory.member import Asker
from memory.ports import Journal, PublishFailed, StoreError
from memory.scope import Layer, Scope, place_of, scope_of
from memory.services.context_sources import FrozenPage
from memory.services.page.edits import AppliedEdits, PageEditor
from memory.services.page.folder import FolderContents, NoPageFolder, PageFolder, read
from memory.settings import PageSettings

log = logging.getLogger(__name__)

CONSIDERED = 200
"""Facts that are weighed for a page at most."""

FRESH_SECONDS = 0.05
"""How long a request waits for a page that is out of date to be made anew: who begins a session right behind another
one has what was learnt in that."""

MAX_CACHED_PAGES = 256
"""Pages that are kept, of those who asked last; the others are made again when they are asked for."""

NO_FILES = (
    "the page has no files where several servers share a journal (memory.postgresql.replicas): say what it should say "
    "in a session, or with `palimpsest remember`"
)

WITH_OWN_WORDS = "pages-with-own-words"
"""Under this name are the owners of the pages on which a person has written: a folder's name does not tell its own."""

State = tuple[tuple[int, int], ...]

_ANYBODY = Asker()
"""Who runs the server."""


@dataclass(slots=True)
class _CachedPage:
    """A page that was made, until its facts or its files change. ``erasures`` are those that there had been when its
    making began; ``faults`` are lines that could not be taken; ``blocked`` says which folders lie in its files' way."""

    scope: Scope
    folder: PageFolder
    page: Page
    frozen: FrozenPage
    text: str
    state: State
    erasures: int
    faults: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    stale: bool = False


class PageFiles:
    """Makes, writes and reads pages. ``learned`` is told when edits have taught something. Without ``files`` a page is
    only made: where each of several machines would have files of its own, none of them would be the person's."""

    _files = True

    def __init__(
        self,
        settings: PageSettings,
        journal: Journal,
        folder: Path,
        now: Callable[[], datetime],
        edits: PageEditor,
        device: str,
        learned: Callable[[], None] = lambda: None,
        files: bool = True,
    ) -> None:
        self._files = files
        self._settings = settings
        self._journal = journal
        self._folder = folder
        self._now = now
        self._edits = edits
        self._device = device
        self._learned = learned
        self._making: dict[tuple[str, ...], asyncio.Task[_CachedPage]] = {}
        self._cache: LruDict[tuple[str, ...], _CachedPage] = LruDict(MAX_CACHED_PAGES)
        self._changes: Counter[str] = Counter()
        self._noting = asyncio.Lock()
        self._erasures = 0

    def path(self, scope: Scope) -> Path:
        """Where the person's own words on the page of a scope lie; the streams' files are beside it."""
        return self._of(scope).own

    def changed(self, owners: frozenset[str]) -> None:
        """Facts of these owners have changed: their pages are out of date until :meth:`refresh`."""
        if not self._making:
            self._changes.clear()  # only who makes a page compares them
        self._changes.update(owners)
        for key, cached in self._cache.items():
            if not owners.isdisjoint(key):
                cached.stale = True

    def drop(self) -> None:
        """Something was forgotten elsewhere: no page is given that may hold it."""
        self._erased()

    async def refresh(self) -> None:
        """Make those pages anew that are out of date; the worker's task, so that hardly a request waits for it. What is
        being made now is waited for: what has changed meanwhile, or was forgotten, may stand on it. One that cannot be
        made keeps no other from being made; its fault is raised in the end."""
        if making := list(self._making.values()):
            await asyncio.wait(making)
        fault: Exception | None = None
        for cached in list(self._cache.values()):
            if cached.stale or self._is_edited(cached):
                try:
                    await self._build(cached.scope)
                except (OSError, StoreError) as error:
                    fault = fault or error
        if fault is not None:
            raise fault

    async def page(self, scope: Scope) -> FrozenPage:
        """The page, framed for a request: as it is now, or as it was made last where making it anew takes long. What
        was forgotten before it is given does not stand on it."""
        cached = await self._page(scope)
        if cached.stale:
            cached = await self._page_at_once(scope, cached)
        return (await self._without_erased(scope, cached)).frozen

    async def _page_at_once(self, scope: Scope, cached: _CachedPage) -> _CachedPage:
        """A page made anew, if that can be had at once."""
        making = self._begin(scope)
        await asyncio.wait([making], timeout=FRESH_SECONDS)
        if not making.done() or making.cancelled():
            return cached
        if (fault := making.exception()) is not None:
            log.warning("the page could not be made anew, the last one is given: %s", fault)
            return cached
        return making.result()

    async def _without_erased(self, scope: Scope, cached: _CachedPage) -> _CachedPage:
        """A page whose making began when all that is forgotten by now was. Who joins what is being made already may
        get one of before."""
        while cached.erasures != self._erasures:
            cached = await self._build(scope)
        return cached

    async def settle(self) -> None:
        """Wait until no page is being made: some are made though nobody waits for them any more."""
        while self._making:
            await asyncio.wait(list(self._making.values()))

    async def text(self, scope: Scope) -> str:
        """The page as it is now: the person's own words, then what is made from memory."""
        cached = await self._page(scope)
        if cached.stale or scope.owners() in self._making:
            cached = await self._build(scope)
        if cached.stale:
            cached = await self._build(scope)
        return (await self._without_erased(scope, cached)).text

    async def take_edits(self, scope: Scope) -> None:
        """Take into memory what a person has changed in a page's files since they were made."""
        if (await asyncio.to_thread(self._of(scope).read)).streams:
            await self._page(scope)

    async def take_all_edits(self, owners: Iterable[str]) -> None:
        """The same of the pages of some owners, for what is to be given out of them. A page that cannot be read or made
        anew keeps nothing else from that; the log tells of it."""
        for each in filter(None, map(scope_of, owners)):
            try:
                await self.take_edits(each)
            except (OSError, StoreError) as error:
                log.warning("not all that was changed on a page is given out: %s", error)

    async def own(self, scope: Scope) -> str:
        """What a person has written in words of their own."""
        return (await asyncio.to_thread(self._of(scope).read)).own

    async def with_own_words(self) -> list[str]:
        """The owners of all pages on which words of a person's own were seen, in the order in which they were."""
        stored = await self._journal.meta(WITH_OWN_WORDS)
        return list(orjson.loads(stored)) if stored else []

    async def all_own(self, owners: Iterable[str]) -> dict[str, str]:
        """What a person has written in words of their own on the pages of these owners, where they have."""
        pages = [(owner, scope) for owner in sorted(owners) if (scope := scope_of(owner)) is not None]
        return {owner: text for owner, scope in pages if (text := await self.own(scope))}

    async def own_lines(self, owners: Collection[str]) -> list[tuple[Path, int, str]]:
        """The lines of some owners' own words, each with its file and its number, from 1."""
        known = [scope for owner in await self.with_own_words() if owner in owners and (scope := scope_of(owner))]
        lines: list[tuple[Path, int, str]] = []
        for scope in known:
            file = self._of(scope).own
            text = await asyncio.to_thread(read, file)
            lines += [(file, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        return lines

    async def files(self, scope: Scope) -> dict[Stream, tuple[Path, str]]:
        """The file of each stream, and what it says now."""
        await self.text(scope)
        folder = self._of(scope)
        content = await asyncio.to_thread(folder.read)
        return {stream: (folder.file(stream), content.streams.get(stream, "")) for stream in Stream}

    def faults(self, scope: Scope) -> tuple[str, ...]:
        """What of the last edits could not be taken, each with file and line, and what lies in the files' way."""
        cached = self._cache.get(scope.owners())
        return (*cached.blocked, *cached.faults) if cached else ()

    async def write(
        self,
        scope: Scope,
        own: str | None,
        streams: Mapping[Stream, str] | None = None,
        asker: Asker = _ANYBODY,
    ) -> None:
        """Put ``own`` in the place of a person's own words, and write streams' files as a person would.

        Raises:
            PublishFailed: when a folder lies where one of the files would, or there are no files.
            EditRefused: when lines change what the asker may not change.
        """
        if not self._files:
            raise PublishFailed(NO_FILES)
        folder = self._of(scope)
        if blocked := _obstruction_warnings(await asyncio.to_thread(folder.in_the_way)):
            raise PublishFailed("; ".join(blocked))
        checked: FolderContents | None = None
        checking = not all(map(asker.changes, scope.owners()))

        def work() -> bool:
            content = folder.read()
            if checking and (checked is None or checked.made != content.made):
                return False
            for stream, text in (streams or {}).items():
                if text.strip() or stream in content.streams:
                    folder.put(stream, text)
            if own is not None:
                folder.write_own(own.strip())
            return True

        while True:
            await self._page(scope)
            # What is being made has read the files already, and would write over what is put there now.
            while (making := self._making.get(scope.owners())) is not None and not making.done():
                await asyncio.wait([making])
            if checking:
                checked = await asyncio.to_thread(folder.read)
                await self._check(scope, folder, checked, streams or {}, asker)
            # What was made anew since it was checked is to be checked again.
            if await asyncio.to_thread(work):
                break
        await self._build(scope)

    async def _check(
        self, scope: Scope, folder: PageFolder, content: FolderContents, streams: Mapping[Stream, str], asker: Asker
    ) -> None:
        for stream, text in streams.items():
            changes = edited(content.made.get(stream, ()), text, await self._texts(scope, content))
            if not changes.nothing:
                await self._edits.check(scope, folder.file(stream).name, changes, asker)

    async def unmake(self, owners: Collection[str] | None = None) -> None:
        """Take what was made out of every folder on which something may stand that has been forgotten: those of the
        users whose it was, else of all. Each is made again when it is next asked for; what a person wrote stays."""
        self._erased()
        places = [place_of(owner) for owner in owners or ()]
        people = [place[0] for place in places if place and place[0].user]
        # Those of organisations lay where others' of their name do, once.
        users = {name for person in people for name in (_person_folder(person), _folder_name(person.user))}
        # What several people share may stand on the page of each.
        shared = not places or any(place is None or place[0].user is None for place in places)
        await asyncio.to_thread(self._unmake, {"*"} if shared else users)

    async def erase(self, person: Scope) -> list[str]:
        """Delete all pages of a person, their own words and what was kept beside them included; the folder, where there
        was one."""
        self._erased()
        async with self._noting:
            known = await self.with_own_words()
            left = [owner for owner in known if not _is_of(owner, person)]
            if left != known:
                await self._journal.set_meta(WITH_OWN_WORDS, orjson.dumps(left))
        folder = self._folder / _person_folder(person)
        if not self._files or not await asyncio.to_thread(folder.is_dir):
            return []
        await asyncio.to_thread(shutil.rmtree, folder)
        return [str(folder)]

    def _unmake(self, users: Collection[str]) -> None:
        for path in {file.parent for user in users for file in self._folder.glob(f"{user}/*/*.md")}:
            PageFolder(path, self._device).unmake()

    def _of(self, scope: Scope) -> PageFolder:
        if not self._files:
            return NoPageFolder(self._folder, self._device)
        return PageFolder(self._folder / _person_folder(scope) / _folder_name(scope.project), self._device)

    def _is_edited(self, cached: _CachedPage) -> bool:
        """Whether a file was changed by somebody else. While it is being made anew they change, and what there is will
        do until then."""
        return cached.scope.owners() not in self._making and cached.state != cached.folder.state()

    async def _build(self, scope: Scope) -> _CachedPage:
        """Make a page, once for all who ask. Who gives up waiting does not end the work: the next one has its page."""
        return await asyncio.shield(self._begin(scope))

    def _begin(self, scope: Scope) -> asyncio.Task[_CachedPage]:
        """What makes a page: begun now, or where it is being made already, that."""
        owners = scope.owners()
        making = self._making.get(owners)
        if making is not None and not making.done():
            return making
        begun = asyncio.create_task(self._make(scope))
        self._making[owners] = begun

        def ended(made: asyncio.Task[_CachedPage]) -> None:
            if self._making.get(owners) is made:
                del self._making[owners]
            if not made.cancelled():
                made.exception()  # who gave up waiting does not hear of it

        begun.add_done_callback(ended)
        return begun

    def _erased(self) -> None:
        """Something was forgotten: what was made, and what is being made, may hold it."""
        self._erasures += 1
        self._cache.clear()
        for owners in self._making:
            self._changes.update(owners)

    async def _make(self, scope: Scope) -> _CachedPage:
        before = self._cache.get(scope.owners())
        changes, erasures = self._changes_of(scope), self._erasures
        folder = self._of(scope)
        content = await asyncio.to_thread(folder.read)
        blocked = _obstruction_warnings(await asyncio.to_thread(folder.in_the_way))
        for obstacle in blocked if before is None or before.blocked != blocked else ():
            log.warning("%s", obstacle)
        taken = AppliedEdits() if blocked else await self._taken(scope, folder, content)
        own = "\n".join([content.own, *taken.kept]).strip()
        if own:
            await self._note(scope)
        facts = await self._edits.on_page(await self._journal.page_facts(scope.owners(), CONSIDERED))
        standing = frozenset(id for lines in content.made.values() for id, _ in lines)
        budget = max(self._settings.tokens - len(own.encode()) // 4, 0)
        page = await asyncio.to_thread(
            _without_overruled, facts, budget, self._now(), standing, self._settings.filled_tokens
        )
        if not blocked:
            await asyncio.to_thread(folder.write, own, page.streams)
        whole = "\n\n".join(part for part in (own, page.text.strip()) if part)
        state = await asyncio.to_thread(folder.state)
        # What has changed meanwhile may not stand on it.
        stale = changes != self._changes_of(scope)
        faults = tuple(taken.faults) or (before.faults if before and taken.nothing else ())
        frozen = FrozenPage(frame_page(whole), page.memories)
        text = f"{whole}\n" if whole else ""
        made = _CachedPage(scope, folder, page, frozen, text, state, erasures, faults, blocked, stale)
        return self._cache.put(scope.owners(), made)

    async def _note(self, scope: Scope) -> None:
        owner = scope.owner(Layer.USER_PROJECT)
        async with self._noting:  # two pages that are made at once are both noted
            known = await self.with_own_words()
            if owner and owner not in known:
                await self._journal.set_meta(WITH_OWN_WORDS, orjson.dumps([*known, owner]))

    async def _page(self, scope: Scope) -> _CachedPage:
        cached = self._cache.get(scope.owners())
        if cached is None or self._is_edited(cached):
            return await self._build(scope)
        self._cache.move_to_end(scope.owners())
        return cached

    def _changes_of(self, scope: Scope) -> int:
        return sum(self._changes[owner] for owner in scope.owners())

    async def _texts(self, scope: Scope, content: FolderContents) -> dict[str, str]:
        """What the facts say, by their ids, whose lines were written last."""
        names = [id for lines in content.made.values() for id, _ in lines]
        return {fact.id: fact.text for fact in await self._journal.facts(names, scope.owners())}

    async def _taken(self, scope: Scope, folder: PageFolder, content: FolderContents) -> AppliedEdits:
        """What a person has changed in the streams' files since they were made, taken back into memory."""
        taken = AppliedEdits()
        if not content.streams:
            return taken
        texts = await self._texts(scope, content)
        for stream, text in content.streams.items():
            changes = edited(content.made.get(stream, ()), text, texts)
            if not changes.nothing:
                await self._edits.read(scope, stream, folder.file(stream).name, changes, taken)
                if changes.accident:
                    await asyncio.to_thread(folder.save_copy, stream, text)
        await self._edits.write(taken)
        for fault in taken.faults:
            log.warning("an edit of the page in %s: %s", folder.path, fault)
        if taken.facts:
            self._learned()
        return taken


def _obstruction_warnings(folders: Sequence[Path]) -> tuple[str, ...]:
    return tuple(
        f"{each} is a folder, where a file of the page would lie: move it away; until then the files beside it are "
        "neither written nor taken back"
        for each in folders
    )


def _is_of(owner: str, person: Scope) -> bool:
    scope = scope_of(owner)
    return scope is not None and (scope.org, scope.user) == (person.org, person.user)


def _without_overruled(
    facts: Sequence[Fact], budget: int, now: datetime, standing: frozenset[str], filled: int
) -> Page:
    """The page of some facts without those that lose to one of a nearer layer."""
    lost = nearest(facts)
    return page([fact for fact in facts if fact.id not in lost], budget, now, standing=standing, filled_tokens=filled)


def _person_folder(scope: Scope) -> str:
    """The folder's name for a person: two organisations may have one of the same name. What stands between both names
    stands in neither."""
    return _folder_name(scope.user if scope.org is None else f"{scope.org}\0{scope.user}")


def _folder_name(name: str | None) -> str:
    """A folder's name for a user or project: readable, and never two for one."""
    name = name or "_"
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[-60:]
    if plain == name:
        return plain
    return f"{plain or 'x'}-{hashlib.blake2b(name.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
