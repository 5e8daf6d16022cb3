"""Memory's parts, joined, as the edge is handed them; and which journal a home has: SQLite's file, or PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from memory.hooks.chain import Features
from memory.hooks.feature import Follower
from memory.learning.redact import redact
from memory.models.windows import ModelWindows
from memory.policy import Policies
from memory.ports import Embedder, Generation, StoreError
from memory.scope import Scope
from memory.services.cache_warming import CacheWarmer
from memory.services.index_repair import IndexRepairWorker
from memory.services.journaling import ExchangeJournal
from memory.services.learn import Learner
from memory.services.lessons.entity_graph import EntityGraphWorker
from memory.services.lessons.indexing import terms_of
from memory.services.lessons.quotas import Quotas
from memory.services.page.files import PageFiles
from memory.services.pause import Pause
from memory.services.person.commands import Commands
from memory.services.person.fact_revision import FactReviser
from memory.services.person.quarantine import Quarantine
from memory.services.person.whole_person import WholePerson
from memory.services.prepare import Preparation
from memory.services.quota_use import QuotaUse
from memory.services.recall import Recall
from memory.services.reindexing import Reindexer
from memory.services.replica import Replica
from memory.services.retention import RetentionWorker
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.sessions.subagent_detection import RecentErrands
from memory.services.tiers.tiering import TierWorker
from memory.services.tool_calls import AnswersTools, OffersTools
from memory.services.transfer.exporting import Exporter
from memory.services.transfer.importing import Importer
from memory.services.transfer.replaying import SessionReplayer
from memory.services.transfer.syncing import Syncing
from memory.services.window.counting import RequestCounter
from memory.services.window.usage_calibration import UsageCalibration
from memory.settings import MemorySettings, NumberKind
from memory.stores.generations import Generations
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


log = logging.getLogger(__name__)

STOP_SECONDS = 4.0
"""How long what waits may take to be written when memory is closed: a store that hangs would be waited for for ever."""


@dataclass(slots=True)
class Memory:
    """Memory's parts, joined. ``pause`` is what ``palimpsest pause`` and ``resume`` set."""

    settings: MemorySettings
    home: Path
    journal: SqlJournal
    generations: Generations
    generation: Generation
    session_matcher: SessionMatcher
    preparation: Preparation
    exchange_journal: ExchangeJournal
    learner: Learner
    recall: Recall
    pages: PageFiles
    commands: Commands
    quarantine: Quarantine
    fact_reviser: FactReviser
    tools: AnswersTools
    tool_offering: OffersTools
    reindexer: Reindexer
    index_repair: IndexRepairWorker
    tier_worker: TierWorker
    cache_warmer: CacheWarmer
    token_counting: RequestCounter
    usage_calibration: UsageCalibration
    windows: ModelWindows
    exporter: Exporter
    whole_person: WholePerson
    importer: Importer
    syncing: Syncing
    session_replayer: SessionReplayer
    features: Features
    entity_graph: EntityGraphWorker
    recent_errands: RecentErrands
    retention: RetentionWorker
    pause: Pause
    quotas: Quotas
    quota_use: QuotaUse
    replica: Replica | None = None

    @property
    def works(self) -> bool:
        """Whether what one alone must do is done here."""
        return self.replica is None or self.replica.working

    def metrics(self) -> Mapping[str, float]:
        """All numbers for ``/palimpsest/metrics``, by name."""
        own = {"works": float(self.works), "journal_waiting": float(self.exchange_journal.pending)}
        return own | dict(self.journal.metrics()) | dict(self.features.metrics())

    @property
    def followers(self) -> tuple[Follower, ...]:
        """The workers that follow the journal."""
        return self.learner, self.tier_worker, *self.features.followers

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors now."""
        return self.recall.embedder

    async def leave_work(self) -> None:
        """Leave what one alone must do to another replica at once, where there are several; requests go on."""
        if self.replica is not None:
            try:
                await self.replica.leave_work()
            finally:
                # What a duty that takes too long to stop would write behind this is refused.
                await self.journal.leave_work()

    async def close(self) -> None:
        """Write what waits, for :data:`STOP_SECONDS` at most, then let go of the files."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._stop()
        except TimeoutError:
            log.warning("not all work came to its end: what was acknowledged is on the disk and is gone on with")
        try:
            await self.recall.index.close()
        except StoreError as error:
            # An index that cannot be written any more is found out and made again at the next start.
            log.warning("%s", error)
        finally:
            await self.journal.close()

    async def _stop(self) -> None:
        """Write what waits, and end all work."""
        if self.replica is not None:
            await self.replica.stop()
        await self.cache_warmer.stop()
        await self.features.stop()
        await self.retention.stop()
        await self.index_repair.stop()
        await self.preparation.settle()
        await self.exchange_journal.stop()
        await self.quarantine.stop()
        await self.learner.stop()
        await self.entity_graph.stop()
        await self.recall.weighing.settle()
        await self.tier_worker.stop()
        await self.token_counting.settle()
        await self.usage_calibration.settle()
        await self.pages.settle()
        # What was said goes before what was counted.
        await self.quota_use.settle()
