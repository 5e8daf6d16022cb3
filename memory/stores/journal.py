"""The journal in SQLite: :class:`memory.ports.Journal`, put together from its parts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from memory.lru import LruDict
from memory.ports import Counts, Lesson, SharedEvents
from memory.stores.agreement import Agreements
from memory.stores.audit import AuditLog
from memory.stores.base import JournalPart, ask_many
from memory.stores.behaviour import BehaviourStore
from memory.stores.candidates import Candidates
from memory.stores.checkouts import CheckoutStore
from memory.stores.client_keys import ClientKeyStore
from memory.stores.connection import Connection
from memory.stores.database import Database, Synchronous, Watch
from memory.stores.engine import Engine, RowSecurity
from memory.stores.errors import StoreFault
from memory.stores.facts import Facts, QueueStates
from memory.stores.forgetting import Terms, no_terms
from memory.stores.forgotten_persons import ForgottenPersons
from memory.stores.gate import LoopGate
from memory.stores.graph import EntityGraph
from memory.stores.history_cache import OpenedMessages, RecentHistories
from memory.stores.listing import ListingStore, RecentActivityStore, SummaryStore
from memory.stores.members import MemberStore
from memory.stores.memory_cache import ChangedMemories, KnownMemories
from memory.stores.memory_uses import LineageStore
from memory.stores.messages import Redact, Redactor, RedactorsByOrg, no_others
from memory.stores.outbox import Outbox
from memory.stores.persons import PersonStore
from memory.stores.pins import PinStore
from memory.stores.provenance import Provenance
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import RecentCommits
from memory.stores.research import Researches
from memory.stores.retention import MemoryRetention
from memory.stores.rows import check_columns, stamp
from memory.stores.sessions import LatestTurnStore, RunningTaints, Sessions
from memory.stores.set_aside import SetAsideStore
from memory.stores.spill import Spill
from memory.stores.sums import PEOPLE, QuotaUseStore, Sums
from memory.stores.transfer import TransferStore

P = TypeVar("P", bound="FeaturePart")

CURSORS_SECONDS = 1.0
"""How long who follows the journal may take to write how far it has come; else it goes over that once more."""

COUNTED = ("outbox", "graph_due", "research", "spawns", "tombstones", "checkouts")
"""The tables of which it is known whether anything has come into them."""


class FeaturePart(JournalPart):
    """A part of the journal that a feature brings, opened by :meth:`SqliteJournal.part`."""

    _terms: Terms
    _key: bytes


class SqlJournal(
    Sessions,
    Agreements,
    SetAsideStore,
    LatestTurnStore,
    Sums,
    ListingStore,
    PinStore,
    Facts,
    RecentActivityStore,
    Outbox,
    TransferStore,
    LineageStore,
    SummaryStore,
    Candidates,
    BehaviourStore,
    CheckoutStore,
    Researches,
    MemoryRetention,
    EntityGraph,
    PersonStore,
    Provenance,
    AuditLog,
    ClientKeyStore,
    MemberStore,
    QuotaUseStore,
):
    """The durable truth. What it cannot take yet is kept in the folder ``aside`` in the engine's folder.

    Args:
        start: opens the engine for one who is told of changes, and gives, with it, the key of keyed hashes.
        redact: takes the secrets out of a text; everything passes through it before it is stored.
        terms: the terms of a fact or a passage as they were counted when it was learned, so that ``forget`` can
            count them back.
        flush: whether what is kept aside is to outlive a power cut.
        redact_of: the redactors of organisations that take out more.

    Raises:
        StoreFault: when it cannot be opened.
    """

    def __init__(
        self,
        start: Callable[[Watch], tuple[Engine, bytes]],
        redact: Redact,
        terms: Terms,
        flush: bool,
        redact_of: RedactorsByOrg = no_others,
    ) -> None:
        self._redact = Redactor(redact, redact_of)
        self._terms = terms
        self._recent = RecentHistories()
        self._opened = OpenedMessages()
        self._taints = RunningTaints()
        self._numbers = deque()
        self._beginning = []
        self._empty = {}
        self._taken = set()
        self._handed = None
        self._gate = LoopGate()
        self._nothing = {}
        self._drafts = {}
        self._asking = set()
        self._summed = LruDict(PEOPLE)
        self._known = KnownMemories()
        self.changed = ChangedMemories()
        """The facts and passages that writes have changed, for one who follows them."""
        self._newly = RecentCommits()
        self.told = SharedEvents()
        self._db, self._key = start(
            Watch(
                ("facts", "passages"),
                self._have_changed,
                counted=COUNTED,
                on_owners=self._have_new_facts,
                on_erase=self._has_erased,
                on_miss=self._may_have_missed,
                on_growth=self._have_grown,
                on_work=self._has_turn,
            )
        )
        if self._db.shared:
            self._newly = RecentCommits(shared=True)
        self._redact.key = self._key
        self._forgotten_persons = ForgottenPersons(self._key, self._db.shared)
        self._spill = Spill(self._db.folder / "aside", flush=flush)

    def part(self, kind: type[P]) -> P:
        """A feature's own part of the journal, in the same file."""
        part = kind()
        part._db, part._redact, part._terms, part._key = self._db, self._redact, self._terms, self._key
        part._forgotten_persons = self._forgotten_persons
        return part

    def _taught(self, lesson: Lesson, came: QueueStates, named: bool) -> None:
        if named:
            self._has_filed(came.due, came.due_behind)
        self._hand_over(lesson, came.outbox, came.outbox_behind)

    def _have_changed(self, ids: Sequence[str]) -> None:
        self._known.drop(ids)
        self.changed.add(ids)

    def _have_new_facts(self, owners: frozenset[str]) -> None:
        self.told.changed(owners)

    def _have_grown(self, tables: frozenset[str]) -> None:
        self.told.grown(tables)

    def _has_turn(self, works: bool) -> None:
        self.told.work(works)

    def _has_erased(self) -> None:
        self._recent.clear()
        self._newly.clear()
        self._opened.clear()
        self._nothing.clear()
        self.told.erased()

    def _may_have_missed(self) -> None:
        self._known.clear()
        self.changed.add_any()

    @property
    def replica(self) -> str:
        """How this process is called among those that write at the same time; empty where it is alone."""
        return self._db.replica

    def metrics(self) -> Mapping[str, float]:
        """What can be told of the database without asking it."""
        return {
            "journal_answers": float(not self._db.trouble),
            "journal_round_trip_seconds": self._db.round_trip,
        }

    @property
    def replicated(self) -> bool:
        """Whether other processes write at the same time."""
        return self._db.shared

    @property
    def works(self) -> bool:
        """Whether this process does what one alone must do."""
        return self._db.works

    async def work_is_done(self) -> bool:
        """Whether this process, or another one that was heard of lately, does what one alone must do.

        Raises:
            StoreError: when that cannot be asked.
        """
        return await self._db.work_is_done()

    @property
    def row_security(self) -> RowSecurity | None:
        """How far the database itself keeps owners apart; None where it is a file."""
        return self._db.row_security

    async def leave_work(self) -> None:
        """Leave what one alone must do to another process, at once and for good."""
        await self._db.leave_work()

    @property
    def there(self) -> bool:
        """Whether what is written now will be found again."""
        return self._db.there

    @property
    def trouble(self) -> str:
        """Why the journal does not answer or take anything just now, as far as is known without asking; empty where it
        does."""
        return self._db.trouble

    def try_again(self) -> None:
        """Have it found out whether there is still :attr:`trouble`; nobody waits for that."""
        self._db.try_again()

    def key(self) -> bytes:
        return self._key

    async def meta(self, name: str) -> bytes | None:
        def work(connection: Connection) -> bytes | None:
            row = connection.execute(QUERIES["meta_get"], (name,)).fetchone()
            return row["value"] if row else None

        return await self._db.read(work)

    async def set_meta(self, name: str, value: bytes) -> None:
        await self._db.write(lambda connection: connection.execute(QUERIES["meta_set"], (name, value)), anywhere=True)

    async def first_meta(self, name: str, value: bytes) -> bytes:
        """What stands under a name; ``value`` from now on where nothing does."""

        def work(connection: Connection) -> bytes:
            row = connection.execute(QUERIES["meta_get"], (name,)).fetchone()
            if row is not None:
                return bytes(row["value"])
            connection.execute(QUERIES["meta_set"], (name, value))
            return value

        return await self._db.write(work, anywhere=True)

    async def tombstone(self, hashes: Sequence[bytes], at: datetime) -> None:
        rows = [(key, stamp(at)) for key in hashes]
        await self._db.write(lambda connection: connection.executemany(QUERIES["tombstone_add"], rows))

    async def lift_tombstone(self, hash: bytes) -> None:
        await self._db.write(lambda connection: connection.execute(QUERIES["tombstone_lift"], (hash,)))

    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]:
        def work(connection: Connection) -> frozenset[bytes]:
            if self._db.empty("tombstones", connection):
                return frozenset()
            return frozenset(row["hash"] for row in ask_many(connection, "tombstone_find", hashes))

        return await self._few(work, len(hashes))

    async def counts(self) -> Counts:
        return await self._db.read(lambda connection: Counts(**dict(connection.execute(QUERIES["counts"]).fetchone())))

    async def close(self) -> None:
        with suppress(StoreFault, TimeoutError):
            async with asyncio.timeout(CURSORS_SECONDS):
                await self.write_cursors()
        await self._spill.close()
        await self._db.close()


class SqliteJournal(SqlJournal):
    """The journal in one file, at ``path``; made, with its folder, where it is missing. The others as in
    :class:`memory.stores.database.Database`.

    Raises:
        StoreFault: when the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        redact: Redact,
        *,
        terms: Terms = no_terms,
        synchronous: Synchronous = "NORMAL",
        busy_seconds: float = 2.0,
        redact_of: RedactorsByOrg = no_others,
    ) -> None:
        def start(watch: Watch) -> tuple[Engine, bytes]:
            database = Database(path, synchronous=synchronous, busy_seconds=busy_seconds, watch=watch)
            return database, database.start(begin)

        super().__init__(start, redact, terms, synchronous == "FULL", redact_of)


def begin(connection: Connection) -> bytes:
    """The key of keyed hashes, out of a database that is as it should be."""
    check_columns(connection)
    return bytes(connection.execute(QUERIES["meta_get"], ("key",)).fetchone()[0])
