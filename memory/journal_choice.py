"""Which journal a home has: a file of SQLite's, or a database of a team's PostgreSQL."""

from __future__ import annotations

import uuid
from functools import lru_cache
from pathlib import Path

from memory.learning.redact import redact
from memory.ports import StoreError
from memory.services.lessons.indexing import terms_of
from memory.stores.journal import SqliteJournal, SqlJournal

SHORT = 1000
"""Characters below which a text is likely to be redacted again: memories stand in many receipts."""


def open_journal(
    home: Path,
    flush: bool = False,
    database: str | None = None,
    replica: str = "",
    own_index: bool = True,
    direct_url: str | None = None,
) -> SqlJournal:
    """The journal of a home folder, or in a PostgreSQL ``database``, of which this may be one ``replica``'s; with
    ``flush`` it outlives a power cut too.

    Raises:
        StoreError: when it cannot be opened.
    """
    if database is not None:
        # Imported only then: it needs an extra.
        try:
            from memory.stores.postgresql.journal import PostgresJournal
        except ImportError as error:
            raise StoreError(
                f"memory.postgresql.url needs an extra: pip install 'palimpsest-proxy[team]' ({error})"
            ) from error
        return PostgresJournal(
            database,
            home,
            _redacted,
            terms=terms_of,
            flush=flush,
            replica=replica,
            own_index=own_index,
            direct_url=direct_url,
        )
    return SqliteJournal(home / "journal.db", _redacted, terms=terms_of, synchronous="FULL" if flush else "NORMAL")


def replica_name(home: Path) -> str:
    """How a replica is called, that its index is known again: by a name in its folder."""
    file = home / "replica"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(f"{uuid.uuid4()}\n", encoding="ascii")
    return file.read_text(encoding="ascii").strip()


def _redacted(text: str) -> str:
    return redacted_short(text) if len(text) < SHORT else redact(text).text


@lru_cache(maxsize=4096)
def redacted_short(text: str) -> str:
    return redact(text).text
