"""Backups made when they are due, and made anew without what was forgotten."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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

    def state(self) -> BackupState:
        """What is known of backups."""
        return read_state(self._home)

    def note(self, verified: datetime, faults: Collection[str]) -> None:
        """Write down what a look at the journal has found."""
        self._change(lambda state: {"verified": verified, "faults": tuple(faults)})

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

    def begin_rewriting(self) -> bool:
        """Write down that backups may hold what is gone, until :meth:`forget` has gone through them; whether there are
        any to go through."""
        state = self.state()
        places = known_places(self._home, state)
        held = [str(each) for each in places if (any(each.iterdir()) if each.is_dir() else str(each) in state.places)]
        if held:
            self._change(lambda state: {"rewriting": tuple(held)})
        return bool(held)

    def cut_short(self) -> None:
        """Going through the backups has ended before it was done: they may hold what was to be taken out."""
        if self.state().rewriting:
            self._change(lambda state: {"stale": _with(state.stale, state.rewriting), "rewriting": ()})

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
        self._change(lambda state: {"stale": _with(state.stale, map(str, unreached)), "rewriting": ()})
        return unreached

    def _change(self, changed: Callable[[BackupState], Mapping[str, Any]]) -> None:
        with self._changing:
            state = self.state()
            write_state(self._home, msgspec.structs.replace(state, **changed(state)))


def _with(places: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*places, *more}))
