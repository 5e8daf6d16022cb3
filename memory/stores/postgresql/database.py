"""One PostgreSQL database: a thread that writes, a few that read, and an async face.

Of what is stored it knows only which tables hold something of a person.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar, cast
from weakref import WeakSet

import psycopg

from memory.stores.connection import Connection, Work
from memory.stores.database import LATER_SECONDS, Watch, nothing_to_hear
from memory.stores.engine import RowSecurity
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.migrations import FromTheFuture
from memory.stores.personal_rows import PERSONAL
from memory.stores.postgresql.attending import Listener
from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.faults import postgres_fault, where_of
from memory.stores.postgresql.lease import HEARD_LATELY, claim_index, indexes_of
from memory.stores.postgresql.pulse import Pulse
from memory.stores.postgresql.row_security import ALL, BYPASSES, PROTECTED, UNPROTECTED, named
from memory.stores.postgresql.schema import HALF_MOVED, half_moved, migrate
from memory.stores.postgresql.writer import PostgresWriter
from memory.visibility import visible

log = logging.getLogger(__name__)

T = TypeVar("T")

FINISH_SECONDS = 3.0
"""How long what is under way may take once it is to be closed: a database that hangs would be waited for for ever."""

SCRUBBED: Final = tuple(rows.table for rows in PERSONAL)
"""Where what was deleted is dead until it is vacuumed: all that holds something of a person, also only whose it is."""


class PostgresDatabase:
    """A database of a PostgreSQL server.

    Args:
        url: where it is, as libpq takes it.
        folder: where what belongs to it lies on this machine.
        busy_seconds: how long another process that writes is waited for.
        readers: how many reads may run side by side.
        watch: who wants to hear of changes.
        replica: whether other servers may write at the same time, and how this one is called then; empty where not.
        own_index: whether the replica has an index of its own.
        direct_url: the same database on the server itself, where ``url`` leads to a pooler.
        may_work: whether a replica takes the work that one alone must do, when it is free.
        unresponsive_seconds: without any answer for so long the database counts as hanging, and nobody waits for it.

    Raises:
        StoreFault: when it cannot be reached, or is from a newer version.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        busy_seconds: float = 2.0,
        readers: int = 4,
        watch: Watch | None = None,
        replica: str = "",
        own_index: bool = True,
        direct_url: str | None = None,
        may_work: bool = True,
        unresponsive_seconds: float = 10.0,
    ) -> None:
        self.folder = folder
        self.url = url
        self._where = where_of(url)
        self._replica = replica
        self._own_index = own_index
        self._local = threading.local()
        self._reading: list[PostgresConnection] = []
        self._closed = False
        self._changes = ChangeReader(watch)
        self._empty: dict[str, int] = {}
        self._open: WeakSet[PostgresConnection] = WeakSet()
        self._is_cut = False
        self._catching_up: asyncio.TimerHandle | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            connection = PostgresConnection(url)
            try:
                if half_moved(connection):
                    raise StoreFault(HALF_MOVED.format(where=self._where), StoreFaultKind.LOCKED)
                migrate(connection)
                self._row_security = not connection.run(BYPASSES).fetchone()[0]
            finally:
                connection.close()
            self._writer = PostgresWriter(
                self._where,
                lambda: self._connected(url, pipelined=True),
                self._changes,
                busy_seconds,
                replica,
                may_work,
            )
        except FromTheFuture as error:
            raise StoreFault(f"{self._where} belongs to a newer version: {error}") from error
        except psycopg.Error as error:
            raise postgres_fault(error, self._where) from None
        if not self._row_security:
            log.warning("the user of %s passes row-level security by: a role of its own would not", self._where)
        self._pool = ThreadPoolExecutor(readers, thread_name_prefix="journal-reader")
        self._direct = direct_url or url
        self._listener: Listener | None = None
        self._pulse = Pulse(lambda: self._connected(url), unresponsive_seconds)

    def start(self, first: Work[T]) -> T:
        """Start to take writes, after ``first``, which is run here and now and gives what is read once."""
        try:
            result = self._writer.start(first)
        except psycopg.Error as error:
            raise postgres_fault(error, self._where) from None
        if self._replica:
            self._listener = Listener(lambda: self._connected(self._direct), self._changes)
        self._pulse.start()
        return result

    @property
    def trouble(self) -> str:
        """See :class:`memory.stores.engine.Engine`."""
        if not self._pulse.left:
            return f"{self._where} does not answer"
        return f"{self._where} cannot be reached" if self._pulse.away else self._writer.trouble

    def try_again(self) -> None:
        """See :class:`memory.stores.engine.Engine`. That is done all the time."""

    @property
    def there(self) -> bool:
        """A server does not lose its database while it is open."""
        return True

    @property
    def round_trip(self) -> float:
        """See :class:`memory.stores.engine.Engine`."""
        return self._pulse.round_trip

    @property
    def replica(self) -> str:
        """See :class:`memory.stores.engine.Engine`."""
        return self._replica

    @property
    def shared(self) -> bool:
        """See :class:`memory.stores.engine.Engine`."""
        return bool(self._replica)

    @property
    def works(self) -> bool:
        """See :class:`memory.stores.engine.Engine`."""
        return self._writer.works

    async def work_is_done(self) -> bool:
        """See :class:`memory.stores.engine.Engine`."""
        return self.works or await self.read(_is_heard)

    @property
    def row_security(self) -> RowSecurity:
        """See :class:`memory.stores.engine.Engine`."""
        return RowSecurity(self._row_security, PROTECTED, tuple(UNPROTECTED))

    async def write(self, work: Work[T], *, anywhere: bool = False) -> T:
        """See :class:`memory.stores.engine.Engine`."""
        self._refuse_if_unreachable()
        return await self._writer.do(work, anywhere=anywhere)

    async def leave_work(self) -> None:
        """See :class:`memory.stores.engine.Engine`."""
        if self._replica:
            self._writer.leave_work()
            await self.write(lambda connection: None, anywhere=True)

    def heed(self, connection: Connection) -> Callable[[], None]:
        """See :class:`memory.stores.engine.Engine`."""
        if not self._replica:
            return nothing_to_hear
        heard = self._changes.ask(connection)
        return lambda: self._changes.tell(heard())

    def own_indexes(self, connection: Connection) -> frozenset[int] | None:
        """See :class:`memory.stores.engine.Engine`."""
        return indexes_of(connection, self._replica) if self._replica and self._own_index else None

    def claim_index(self, connection: Connection, generation: int) -> None:
        """See :class:`memory.stores.engine.Engine`."""
        if self._replica and self._own_index:
            claim_index(connection, generation, self._replica)

    def later(self, work: Work[object]) -> None:
        """See :class:`memory.stores.engine.Engine`."""
        if self._closed:
            return
        self._writer.later(work)
        if self._catching_up is None:
            self._catching_up = asyncio.get_running_loop().call_later(LATER_SECONDS, self._catch_up)

    async def caught_up(self) -> None:
        """See :class:`memory.stores.engine.Engine`."""
        if self._writer.late:
            await self.write(lambda connection: None)

    async def read(self, work: Work[T]) -> T:
        """See :class:`memory.stores.engine.Engine`."""
        self._refuse_if_unreachable()
        reading = self._begin_read(work)
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=self._pulse.left)
                if not reading.done():
                    self._refuse_if_unreachable()
            return reading.result()
        finally:
            # What no thread has begun yet is not begun for nobody.
            reading.cancel()

    async def look(self, work: Work[T]) -> T:
        """See :class:`memory.stores.engine.Engine`. The way to a server is nothing that others wait for."""
        return await self.read(work)

    def state(self, table: str) -> int:
        """See :class:`memory.stores.engine.Engine`."""
        return self._changes.state(table)

    def empty(self, table: str, connection: Connection) -> bool:
        """See :class:`memory.stores.engine.Engine`."""
        state = self._changes.state(table)
        if self._empty.get(table) == state:
            return True
        with cast(PostgresConnection, connection).seeing(ALL):
            if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]:
                return False
        self._empty[table] = state
        return True

    async def scrub(self) -> bool:
        """Take dead rows out of all tables that hold something of a person. That overwrites nothing: what PostgreSQL
        leaves of them in its pages, its log and its backups goes as the server's keepers have it go."""
        self._refuse_if_unreachable()
        vacuum = f"VACUUM {', '.join(SCRUBBED)}"
        await self._begin_read(lambda connection: cast(PostgresConnection, connection).run(vacuum))
        return True

    async def give_back(self, pages: int) -> bool:
        """PostgreSQL sees to that itself."""
        return False

    async def close(self) -> None:
        """See :class:`memory.stores.engine.Engine`."""
        if self._closed:
            return
        self._closed = True
        if self._catching_up is not None:
            self._catching_up.cancel()
        finishing = asyncio.create_task(asyncio.to_thread(self._end_threads))
        await asyncio.wait({finishing}, timeout=min(FINISH_SECONDS, self._pulse.left))
        if not finishing.done():
            log.warning("%s does not answer: what is under way there is given up", self._where)
            self._drop_connections()
        await finishing

    def _end_threads(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._writer.finish()
        self._pool.shutdown()
        self._pulse.close()
        for connection in self._reading:
            with suppress(psycopg.Error):
                connection.close()
        self._reading.clear()

    def _drop_connections(self) -> None:
        """Wait for no answer any more."""
        self._is_cut = True
        for connection in list(self._open):
            connection.cut()

    def _connected(self, url: str, *, reads: bool = False, pipelined: bool = False) -> PostgresConnection:
        """A connection, which :meth:`close` can cut.

        Raises:
            psycopg.Error: when none can be made, or none is to be made any more.
        """
        if self._is_cut:
            raise psycopg.OperationalError(f"{self._where} is being closed")
        connection = PostgresConnection(url, reads=reads, pipelined=pipelined)
        self._open.add(connection)
        if self._is_cut:  # meanwhile
            connection.cut()
        return connection

    def _refuse_if_unreachable(self) -> None:
        """Ask nothing that would not be answered. A server that cannot be reached says so itself."""
        if self._closed:
            raise StoreFault(f"{self._where} is closed", StoreFaultKind.CLOSED)
        if not self._pulse.left:
            raise StoreFault(f"{self._where} does not answer", StoreFaultKind.FAILING)

    def _begin_read(self, work: Work[T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._pool, self._read, work, named(visible()))

    def _catch_up(self) -> None:
        self._catching_up = None
        if self._writer.late and not self._closed:
            self._writer.catch_up()

    def _read(self, work: Work[T], owners: str = ALL) -> T:
        kept: PostgresConnection | None = getattr(self._local, "connection", None)
        try:
            if kept is not None:
                try:
                    with kept.seeing(owners):
                        return _run_to_end(work, kept)
                except psycopg.Error:
                    # A server that was restarted has ended it; a read can be made again.
                    if not kept.broken:
                        raise
                    self._reading.remove(kept)
                    kept.close()
                    self._local.connection = None
            connection = self._connected(self.url, reads=True, pipelined=True)
            self._local.connection = connection
            self._reading.append(connection)
            with connection.seeing(owners):
                return _run_to_end(work, connection)
        except psycopg.Error as error:
            raise postgres_fault(error, self._where) from None


def _is_heard(connection: Connection) -> bool:
    return bool(connection.execute(HEARD_LATELY).fetchone()[0])


def _run_to_end(work: Work[T], connection: PostgresConnection) -> T:
    """Run ``work``; what of it nobody has waited for is waited for here."""
    try:
        result = work(connection)
        connection.sync()
    except BaseException:
        connection.settle()
        raise
    return result
