"""Backups, behind the hooks.

Backups made when they are due, and made anew without what was forgotten.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypedDict

import msgspec

from memory.fact import Fact, Passage
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureRoute
from memory.hooks.route_request import RouteRequest
from memory.ports import Forgotten
from memory.services.background_task import BackgroundTask, LoneThread
from memory.stores.backups.backup import JOURNAL, backups_in, take
from memory.stores.backups.places import (
    BackupState,
    holding,
    known_places,
    last_in,
    own_place,
    prune,
    read_state,
    write_state,
)
from memory.stores.backups.sealing import sealed_in
from memory.stores.backups.upgrading import faults_of, indexed_of

SCHEDULED: Final = "on schedule"
ANEW: Final = "anew, after something was forgotten"


class BackupKeeper:
    """Manages the folders of backups. All of it waits for the disk, and runs in a thread."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._changing = threading.Lock()
        self._waiting: tuple[Forgotten, ...] = ()

    def state(self) -> BackupState:
        """What is known of backups."""
        return read_state(self._home)

    def note(self, verified: datetime, faults: Collection[str]) -> None:
        """Write down what a look at the journal has found."""
        with self._changing:
            self._write({"verified": verified, "faults": tuple(faults)})

    def overdue(self, now: datetime) -> timedelta | None:
        """For how long a backup is due by now; None where none is."""
        state = self.state()
        if state.every is None:
            return None
        last = last_in(self.place(state))
        since = now - last[1].at if last is not None else timedelta()
        if last is None or since < timedelta():
            return timedelta()  # a backup by a clock that had run ahead holds nothing up
        late = since - timedelta(seconds=state.every)
        return late if late >= timedelta() else None

    def run_schedule(self, now: datetime) -> Path | None:
        """Make a backup where one is due, and remove those of them that are too many; where it lies."""
        if self.overdue(now) is None:
            return None
        state = self.state()
        backup = take(self._home, self.place(state), now.astimezone(UTC), SCHEDULED, state.keys)
        prune(self.place(state), SCHEDULED, state.keep)
        return backup

    def place(self, state: BackupState) -> Path:
        """Where those go that are made on schedule."""
        return Path(state.place) if state.place else own_place(self._home)

    @property
    def waiting(self) -> tuple[Forgotten, ...]:
        """What is gone, while backups are still to be gone through for it."""
        return self._waiting

    def begin_rewriting(self, gone: Forgotten) -> bool:
        """Write down that backups may hold what is gone, which waits until :meth:`forget` has gone through them;
        whether there are any to go through."""
        state = self.state()
        places = known_places(self._home, state)
        held = [str(each) for each in places if (any(each.iterdir()) if each.is_dir() else str(each) in state.places)]
        if not held:
            return False
        with self._changing:
            self._write({"rewriting": _with(self.state().rewriting, held)})
            self._waiting += (gone,)
        return True

    def cut_short(self, gone: Sequence[Forgotten] = ()) -> None:
        """Going through the backups has ended before it was done for what is ``gone``: they may hold it."""
        with self._changing:
            if rewriting := self.state().rewriting:
                self._settle(gone, rewriting)

    def forget(self, gone: Sequence[Forgotten], now: datetime) -> list[Path]:
        """Make a new backup in each folder in which one holds something that is gone, and remove those; the folders
        that cannot be reached or looked through, whose backups may hold it still."""
        memories: list[Fact | Passage] = []
        for each in gone:
            memories += [*each.facts, *each.passages]
        ids = {id for each in gone for id in each.ids}
        digests = {memory.source for memory in memories if memory.source}
        texts = {memory.text for memory in memories}
        state, unreached = self.state(), list[Path]()
        for place in known_places(self._home, state):
            if not place.is_dir() or any(sealed_in(place)):
                unreached += [place] if place.is_dir() or str(place) in state.places else []
            hold = list(holding(place, ids, digests, texts))
            if hold:
                take(self._home, place, now.astimezone(UTC), ANEW, state.keys)
            for folder in hold:
                with suppress(FileNotFoundError):  # somebody else has removed it
                    shutil.rmtree(folder)
        with self._changing:
            self._settle(gone, map(str, unreached))
        return unreached

    def _settle(self, gone: Sequence[Forgotten], suspect: Iterable[str]) -> None:
        """Write down that it is over for what is ``gone``: backups are being rewritten while something else waits."""
        left = tuple(each for each in self._waiting if not any(each is one for one in gone))
        state = self.state()
        self._write({"stale": _with(state.stale, suspect), "rewriting": state.rewriting if left else ()})
        self._waiting = left

    def _write(self, changed: Mapping[str, Any]) -> None:
        """To be called while ``_changing`` is held."""
        write_state(self._home, msgspec.structs.replace(self.state(), **changed))


def _with(places: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*places, *more}))


log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 60.0
WITHIN_SECONDS: Final = 3600.0
REWRITE_SECONDS: Final = 2.0
"""For how long a forget waits until no backup holds any more what is gone; what takes longer is done behind it."""
TRIES: Final = 3
LATE: Final = timedelta(hours=2)
"""How long after it was due a missing backup is told: the machine may have slept."""


class BackupsJournal(Protocol):
    """What this needs of the journal."""

    async def waiting(self, generation: int | None = None) -> int:
        """How much the index has still to take in."""


class BackupJson(TypedDict):
    """A backup: its folder, when, why and by which release it was made, what it holds; and when it was last looked
    through, with how many faults, None where it never was."""

    folder: str
    at: datetime
    reason: str
    release: str
    counts: dict[str, int]
    looked_at: datetime | None
    faults: int | None


class BackupsList(TypedDict):
    """The backups; how often one is made, to which ``place``, and how many of them are kept; when the journal was last
    ``verified``, and what is wrong with it."""

    backups: list[BackupJson]
    every_seconds: float | None
    place: str
    keep: int
    verified: datetime | None
    faults: list[str]


class IndexFaults(TypedDict):
    """A sentence for each thing that is wrong with the index."""

    faults: list[str]


class Backups(Feature):
    """The feature."""

    name = "backups"

    def __init__(self, core: Core) -> None:
        self._core = core
        self._journal: BackupsJournal = core.journal
        self._keeping = BackupKeeper(core.home)
        self._beside = BackgroundTask()
        self._rewriting = BackgroundTask()
        self._making = asyncio.Lock()
        self._looking: LoneThread[BackupsList] = LoneThread("backups")

    def start(self) -> None:
        if self._is_server_database:
            return
        self._keeping.cut_short()
        self._beside.begin(self._run())

    async def stop(self) -> None:
        await self._beside.stop()
        await self._rewriting.ended()

    @property
    def _is_server_database(self) -> bool:
        """Whether the journal is a server's, whose keepers see to its backups."""
        return self._core.settings.postgresql.url is not None

    async def night(self, at: datetime) -> None:
        if self._is_server_database:
            return
        faults = await asyncio.to_thread(faults_of, self._core.home / JOURNAL)
        faults += await self.index_faults()
        for fault in faults:
            log.warning("the journal does not hold together: %s", fault)
        await asyncio.to_thread(self._keeping.note, at, faults)

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        return FeatureErasure(then=self._rewrite_without, files=self._told)

    async def health(self) -> Sequence[str]:
        state = await asyncio.to_thread(self._keeping.state)
        why = [f"the journal does not hold together: {fault} (palimpsest verify)" for fault in state.faults]
        overdue = await asyncio.to_thread(self._keeping.overdue, self._core.now())
        if overdue is not None and overdue > LATE:
            why.append(f"no backup was made when it was due: see the log, and {self._keeping.place(state)}")
        why += [
            f"something was forgotten while {place} could not be reached, or its encrypted backups not be opened: they "
            "may hold it still. Delete those made before, then `palimpsest backup` there"
            for place in state.stale
        ]
        why += [
            f"something was forgotten, and the backups in {place} that hold it are being made anew without it"
            for place in state.rewriting
        ]
        return why

    def metrics(self) -> Mapping[str, float]:
        state = self._keeping.state()
        return {
            "faults": float(len(state.faults)),
            "verified_at": state.verified.timestamp() if state.verified else 0.0,
        }

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return FeatureRoute("GET", "backups", cls.status), FeatureRoute("GET", "backups/index", cls.index)

    async def status(self, question: RouteRequest) -> BackupsList:
        """Where backups lie, when each was last looked through and how many faults that found, how often one is made,
        and what the last look at the journal found."""
        return await self._looking.run(self._status)

    def _status(self) -> BackupsList:
        state = self._keeping.state()
        places = known_places(self._core.home, state)
        return {
            "backups": [
                {
                    "folder": str(folder),
                    "at": of.at,
                    "reason": of.reason,
                    "release": of.release,
                    "counts": of.counts,
                    "looked_at": look.at if (look := state.looks.get(str(folder))) else None,
                    "faults": look.faults if look else None,
                }
                for place in places
                for folder, of in backups_in(place)
            ],
            "every_seconds": state.every,
            "place": str(self._keeping.place(state)),
            "keep": state.keep,
            "verified": state.verified,
            "faults": list(state.faults),
        }

    async def index(self, question: RouteRequest) -> IndexFaults:
        """Whether the index holds as many memories as the journal says."""
        return {"faults": await self.index_faults()}

    async def index_faults(self) -> list[str]:
        """A sentence where the index holds more or fewer memories than the journal says it should."""
        if self._is_server_database or await self._journal.waiting():
            return []  # it is being filled: what is missing is known
        should, most = await asyncio.to_thread(indexed_of, self._core.home / JOURNAL)
        holds = await self._core.index().count()
        if should <= holds <= most or await self._journal.waiting():
            return []
        return [f"the index holds {holds} memories, and the journal has {should} for it: palimpsest reindex"]

    async def _rewrite_without(self, gone: Forgotten) -> None:
        if not await asyncio.to_thread(self._keeping.begin_rewriting, gone):
            return
        self._begin_rewriting()
        with suppress(TimeoutError):
            async with asyncio.timeout(REWRITE_SECONDS):
                await self._rewriting.ended()

    def _begin_rewriting(self) -> None:
        if self._keeping.waiting and not self._rewriting.running:
            self._rewriting.begin(self._rewrite())

    async def _rewrite(self) -> None:
        while gone := self._keeping.waiting:
            for _ in range(TRIES):
                _, why = await self._core.guard(
                    self._rewrite_once(gone),
                    default=None,
                    timeout_seconds=WITHIN_SECONDS,
                    operation="making backups anew without what was forgotten",
                )
                if not why:
                    break
            else:
                await asyncio.to_thread(self._keeping.cut_short, gone)

    async def _rewrite_once(self, gone: Sequence[Forgotten]) -> None:
        async with self._making:
            unreached = await asyncio.to_thread(self._keeping.forget, gone, self._core.now())
        for place in unreached:
            log.warning("%s cannot be reached or opened: its backups may hold what was forgotten", place)

    async def _told(self, gone: Forgotten) -> tuple[list[str], list[str]]:
        still = "the backups that hold it are being made anew without it: health says so until they are"
        return [], [still] if self._rewriting.running else []

    async def _run(self) -> None:
        while True:
            self._begin_rewriting()  # who forgot may have given up before it began
            await self._core.guard(
                self._keep_schedule(), default=None, timeout_seconds=WITHIN_SECONDS, operation="making a backup"
            )
            await asyncio.sleep(LOOK_SECONDS)

    async def _keep_schedule(self) -> None:
        async with self._making:
            backup = await asyncio.to_thread(self._keeping.run_schedule, self._core.now())
        if backup is not None:
            log.info("a backup lies in %s", backup)


FEATURE = Backups
