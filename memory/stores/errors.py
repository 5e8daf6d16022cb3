"""What can be wrong with a store, told in a sentence that a person can act on."""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from memory.ports import StoreError


class StoreFaultKind(StrEnum):
    """What kind of trouble a store is in. ``FULL``, ``FAILING`` (a quota is used up, a network disk is away) and
    ``LOCKED`` pass by themselves; the others need a person."""

    FULL = "full"
    FAILING = "failing"
    LOCKED = "locked"
    CORRUPT = "corrupt"
    DENIED = "denied"
    CLOSED = "closed"
    OTHER = "other"


class StoreFault(StoreError):
    """A store could not do what was asked, and what kind of trouble that is. The cause is in ``__cause__``,
    where its text may be shown."""

    def __init__(self, message: str, fault: StoreFaultKind = StoreFaultKind.OTHER) -> None:
        super().__init__(message)
        self.fault = fault

    @property
    def passing(self) -> bool:
        """Whether trying again later can help without anyone doing anything to the files."""
        return self.fault in (StoreFaultKind.FULL, StoreFaultKind.FAILING, StoreFaultKind.LOCKED)


class Overtaken(StoreFault):
    """Another process was first: what was to be written builds on what stands no more."""


class PersonForgottenError(StoreFault):
    """Whose it is was forgotten since it was asked."""


class ResultsLost(StoreFault):
    """A write is done, and what came of one of its statements was lost on its way."""

    may_be_done = True


MEND = (
    "`palimpsest restore` puts the newest backup back, and `palimpsest restore --salvage` takes what can still be read"
)

_FAULTS: dict[int, tuple[StoreFaultKind, str]] = {
    sqlite3.SQLITE_FULL: (StoreFaultKind.FULL, "the disk is full: {path} could not grow"),
    sqlite3.SQLITE_BUSY: (StoreFaultKind.LOCKED, "another process holds {path} locked"),
    sqlite3.SQLITE_LOCKED: (StoreFaultKind.LOCKED, "another connection holds a table of {path} locked"),
    sqlite3.SQLITE_CORRUPT: (StoreFaultKind.CORRUPT, "{path} is damaged: stop the server, then {mend}"),
    sqlite3.SQLITE_NOTADB: (StoreFaultKind.CORRUPT, "{path} is no SQLite database: stop the server, then {mend}"),
    sqlite3.SQLITE_READONLY: (StoreFaultKind.DENIED, "{path} may not be written: check its owner and its mode"),
    sqlite3.SQLITE_PERM: (StoreFaultKind.DENIED, "{path} may not be opened: check its owner and its mode"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreFaultKind.DENIED,
        "{path} could not be opened: check that its folder exists and is yours",
    ),
    sqlite3.SQLITE_IOERR: (StoreFaultKind.FAILING, "reading or writing {path} failed: check the disk"),
}


def sqlite_fault(error: sqlite3.Error, path: object) -> StoreFault:
    """A fault for what SQLite reported, by its primary result code (https://www.sqlite.org/rescode.html)."""
    code = getattr(error, "sqlite_errorcode", None)
    fault, sentence = _FAULTS.get((code or 0) & 0xFF, (StoreFaultKind.OTHER, "{path} did not take a statement"))
    return StoreFault(f"{sentence.format(path=path, mend=MEND)} ({error})", fault)
