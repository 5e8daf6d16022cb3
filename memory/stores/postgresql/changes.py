"""What has changed in the database since this process looked, by whichever process: its caches are told.

Whoever writes finds what others have written when it takes its turn; in quiet times it is looked for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from memory.stores.connection import Connection, Cursor
from memory.stores.database import Watch
from memory.stores.postgresql.connection import PostgresConnection

log = logging.getLogger(__name__)

KEPT = "1 hour"
"""How long changes are kept for processes that have not looked."""
MISSED_SECONDS = 3000.0
"""Who has not looked for so long may have missed some."""
OWNER = "owner"
"""The sort of a change that names an owner."""
ERASED = "erased"
"""The sort of a change by which something is gone, or emptied, that is not told by itself."""

# The database's time, by which changes go: a machine that was suspended does not count its own.
_NOW = "extract(epoch FROM clock_timestamp())::float8"


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed up to a ``number``: tables into which rows have come, rows that are others now, or gone, and the
    owners whose facts those are; ``erased`` says that more may be gone, or emptied, than these, ``missed``
    that anything may be others. ``at`` is the database's time of the look, in seconds."""

    number: int
    at: float
    grown: frozenset[str]
    ids: tuple[str, ...]
    owners: frozenset[str]
    erased: bool
    missed: bool


class ChangeReader:
    """How far this process has looked, and whom it tells. Safe to use from several threads."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._lock = threading.Lock()
        self._states = dict.fromkeys(watch.counted if watch is not None else (), 0)
        self._number = 0
        self._looked = 0.0

    def begin(self, connection: PostgresConnection) -> None:
        """From here on: nothing of what was before is in memory."""
        self._number, self._looked = connection.execute(
            f"SELECT coalesce(max(number), 0), {_NOW} FROM changes"
        ).fetchone()

    def state(self, table: str) -> int:
        """A number that is another one whenever rows have come into a counted table since, or changed in it."""
        return self._states[table]

    def ask(self, connection: Connection) -> Callable[[], Changes]:
        """Ask what has changed since, the connection's own transaction included; what is given waits for the answer.
        Nothing is taken as heard of until it is told: a transaction that is rolled back is none."""
        asked = connection.execute(
            f"SELECT number, sort, memory, {_NOW} FROM (SELECT 1) AS one LEFT JOIN changes ON number > ? "
            "ORDER BY number",
            (self._number,),
        )
        return partial(self._answer, asked, self._looked)

    def _answer(self, asked: Cursor, before: float) -> Changes:
        found = asked.fetchall()
        at = found[0][3]
        rows = [(number, sort, memory) for number, sort, memory, _ in found if number is not None]
        missed = at - before > MISSED_SECONDS
        return Changes(
            rows[-1][0] if rows else self._number,
            at,
            frozenset(sort for _, sort, memory in rows if not memory and sort != ERASED),
            tuple(memory for _, sort, memory in rows if memory and sort != OWNER),
            frozenset(memory for _, sort, memory in rows if sort == OWNER),
            missed or any(sort == ERASED for _, sort, _ in rows),
            missed,
        )

    def unheard(self) -> Changes:
        """Where something is committed and it is not known what: anything may be others. What it was is asked for
        again."""
        return Changes(self._number, self._looked, frozenset(), (), frozenset(), erased=True, missed=True)

    def tell(self, changes: Changes) -> None:
        """These are committed. An error of one who is told is logged, and the others are told."""
        with self._lock:
            self._looked = max(self._looked, changes.at)
            if changes.number <= self._number and not changes.erased:
                return
            self._number = max(self._number, changes.number)
            for table in self._states if changes.missed else changes.grown.intersection(self._states):
                self._states[table] += 1
            if self._watch is None:
                return
            if changes.missed:
                _told(self._watch.on_miss)
            if changes.ids:
                _told(self._watch.on_change, changes.ids)
            if changes.owners:
                _told(self._watch.on_owners, changes.owners)
            if changes.erased:
                _told(self._watch.on_erase)
            if changes.grown:
                _told(self._watch.on_growth, changes.grown)

    def works(self, works: bool) -> None:
        """It is this process's turn to do what one alone must do, or no more."""
        if self._watch is not None:
            _told(self._watch.on_work, works)

    @staticmethod
    def trim(connection: PostgresConnection) -> None:
        """Let go of changes that everybody has heard of, and of the turns of processes that are gone."""
        connection.run(f"DELETE FROM changes WHERE at < now() - interval '{KEPT}'")
        connection.run(f"DELETE FROM turns WHERE at < now() - interval '{KEPT}'")


def _told(callback: Callable[..., None], *what: object) -> None:
    try:
        callback(*what)
    except Exception:
        log.exception("a change of the database could not be taken in")
