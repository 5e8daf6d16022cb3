"""The journal in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from memory.stores.database import Watch
from memory.stores.engine import Engine
from memory.stores.forgetting import Terms, no_terms
from memory.stores.journal import SqlJournal, begin
from memory.stores.messages import Redact, RedactorsByOrg, no_others
from memory.stores.postgresql.database import PostgresDatabase


class PostgresJournal(SqlJournal):
    """The journal in the database at ``url``; ``folder`` is where on this machine is kept what it cannot take yet.
    ``replica``, ``own_index``, ``direct_url``, ``may_work`` and ``unresponsive_seconds`` as in
    :class:`memory.stores.postgresql.database.PostgresDatabase`.

    Raises:
        StoreFault: when the database cannot be reached.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        redact: Redact,
        *,
        terms: Terms = no_terms,
        flush: bool = False,
        busy_seconds: float = 2.0,
        replica: str = "",
        own_index: bool = True,
        direct_url: str | None = None,
        redact_of: RedactorsByOrg = no_others,
        may_work: bool = True,
        unresponsive_seconds: float = 10.0,
    ) -> None:
        def start(watch: Watch) -> tuple[Engine, bytes]:
            database = PostgresDatabase(
                url,
                folder,
                busy_seconds=busy_seconds,
                watch=watch,
                replica=replica,
                own_index=own_index,
                direct_url=direct_url,
                may_work=may_work,
                unresponsive_seconds=unresponsive_seconds,
            )
            return database, database.start(begin)

        super().__init__(start, redact, terms, flush, redact_of)
