"""Which journal a home has: a file of SQLite's, or a database of a team's PostgreSQL."""

from __future__ import annotations

import uuid
from functools import lru_cache, partial
from pathlib import Path

from memory.learning.redact import redact
from memory.policy import Policies
from memory.ports import StoreError
from memory.scope import Scope
from memory.services.lessons.indexing import terms_of
from memory.settings import NumberKind
from memory.stores.journal import SqliteJournal, SqlJournal
from memory.stores.messages import Redact, no_others

SHORT = 1000
"""Characters below which a text is likely to be redacted again: memories stand in many receipts."""


def open_journal(
    home: Path,
    flush: bool = False,
    database: str | None = None,
    replica: str = "",
    own_index: bool = True,
    direct_url: str | None = None,
    policies: Policies | None = None,
    unresponsive_seconds: float = 10.0,
    may_work: bool = True,
) -> SqlJournal:
    """The journal of a home folder, or in a PostgreSQL ``database``, of which this may be one ``replica``'s; with
    ``flush`` it outlives a power cut too; ``policies`` know what else is redacted of whom;
    ``unresponsive_seconds`` and ``may_work`` as in :class:`memory.stores.postgresql.database.PostgresDatabase`.

    Raises:
        StoreError: when it cannot be opened.
    """
    redact_of = partial(_redactor_of, policies) if policies is not None else no_others
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
            redact_of=redact_of,
            may_work=may_work,
            unresponsive_seconds=unresponsive_seconds,
        )
    return SqliteJournal(
        home / "journal.db",
        _redacted,
        terms=terms_of,
        synchronous="FULL" if flush else "NORMAL",
        redact_of=redact_of,
    )


def replica_name(home: Path) -> str:
    """How a replica is called, that its index is known again: by a name in its folder."""
    file = home / "replica"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(f"{uuid.uuid4()}\n", encoding="ascii")
    return file.read_text(encoding="ascii").strip()


def forget_redacted() -> None:
    """Forget what texts were redacted to: other settings take out other things."""
    _redacted_short.cache_clear()
    _redactor_with.cache_clear()


def _redacted(text: str) -> str:
    return _redacted_short(text) if len(text) < SHORT else redact(text).text


def _redactor_of(policies: Policies, org: str | None) -> Redact | None:
    """What takes an organisation's numbers out of its people's texts as well."""
    numbers = policies.of(Scope(org)).redact
    return _redactor_with(numbers) if numbers else None


@lru_cache(maxsize=8)
def _redactor_with(numbers: frozenset[NumberKind]) -> Redact:
    short = lru_cache(maxsize=2048)(lambda text: redact(text, numbers).text)
    return lambda text: short(text) if len(text) < SHORT else redact(text, numbers).text


@lru_cache(maxsize=2048)
def _redacted_short(text: str) -> str:
    return redact(text).text
