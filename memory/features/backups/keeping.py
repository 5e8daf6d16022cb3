"""Backups made when they are due, and made anew without what was forgotten."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from memory.fact import Fact, Passage
from memory.ports import Forgotten
from memory.stores.backups.backup import take
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
