"""The one place that chooses stores and models and joins the parts of memory."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory.clock import local_now
from memory.features import features
from memory.hooks.chain import Features
from memory.hooks.feature import Core
from memory.learning.redact import also_redact
from memory.models.embedder_choice import choose_embedder
from memory.models.tokens import TokenCounter
from memory.models.windows import ModelWindows, open_windows
from memory.parts import Memory, forget_redacted, open_journal, replica_name
from memory.policy import Policies
from memory.ports import Embedder, Generation, Guard, Index, LanguageModel
from memory.scope import Scope
from memory.services.cache_warming import CacheWarmer
from memory.services.context_sources import PriorFindings
from memory.services.index_repair import IndexRepairWorker
from memory.services.journaling import ExchangeJournal
from memory.services.learn import Learner
from memory.services.lessons.entity_graph import EntityGraphWorker
from memory.services.lessons.indexing import IndexWorker
from memory.services.lessons.quotas import Quotas
from memory.services.page.edits import PageEditor
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
from memory.services.replica import Duty, Replica
from memory.services.retention import RetentionWorker
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.sessions.subagent_detection import RecentErrands, SharedErrands
from memory.services.similar_facts import SimilarFactSearch
from memory.services.tiers import in_short
from memory.services.tiers.tiering import Reword, TierMaker, TierWorker
from memory.services.tool_calls import AnswersTools, OffersTools
from memory.services.transfer.exporting import Exporter
from memory.services.transfer.importing import Importer
from memory.services.transfer.replaying import SessionReplayer
from memory.services.transfer.syncing import Syncing
from memory.services.window.counting import RequestCounter
from memory.services.window.fitting import WindowFitter
from memory.services.window.paging import PageIn
from memory.services.window.request_size import RequestSizer
from memory.services.window.shedding import Shedder
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import Mode
from memory.settings import MemorySettings, ModelSettings, ProjectFolder
from memory.stores.disk import DiskRoom
from memory.stores.generations import FolderIndexes, Generations, ServerIndexes
from memory.stores.journal import SqlJournal
from memory.stores.lost_journal import set_aside

log = logging.getLogger(__name__)


async def open_memory(
    settings: MemorySettings,
    home: Path,
    guard: Guard,
    projects: Mapping[str, ProjectFolder] | None = None,
    now: Callable[[], datetime] = local_now,
    may_work: bool = True,
) -> Memory | None:
    """Open the stores below ``home`` and start learning. None where memory is switched off in the settings.
    ``projects`` are the folders, by the owner of a project, that what is approved may be written into; ``now`` is the
    clock by which memory lives; ``may_work`` is whether one of several replicas takes the work of one alone.

    Raises:
        StoreError: when the journal or the index cannot be opened. A damaged index is made anew instead.
        OSError: when what was made from a journal that is gone cannot be set aside.
    """
    if settings.mode is Mode.OFF:
        return None
    also_redact(settings.redact)
    policies = Policies(settings.policies, settings.journal.keep_days)
    forget_redacted()
    journal, generations, generation, index, embedder, windows = await _open_stores(
        settings, home, policies, now, may_work
    )

    pause = Pause(home / "paused", alone=not journal.replicated)

    def paused() -> bool:
        return pause.on

    def journaled() -> None:
        learner.wake()
        tiering.wake()
        for follower in chain.followers:
            follower.wake()

    def asked(scope: Scope) -> None:
        warming.owner_seen(scope)

    sessions = SessionMatcher(journal, new_id, settings.measure.holdout, journal.replicated)

    def has_changed(owners: frozenset[str]) -> None:
        pages.changed(owners)
        learner.wake()

    chain = Features((), guard, settings.checkouts.wait_ms / 1000)
    recall = Recall(settings.recall, journal, index, embedder, asked, chain.marks)
    device = settings.page.device or platform.node() or "here"
    edits = PageEditor(
        journal, SimilarFactSearch(journal, recall), guard, new_id, now, device, lambda: learner.resting(), policies
    )
    pages = PageFiles(
        settings.page, journal, home / "pages", now, edits, device, lambda: learner.wake(), files=not journal.replicated
    )
    warming = CacheWarmer(journal, recall, pages if settings.page.enabled else None, guard, now, recall.busy)
    learner = Learner(
        settings.learning,
        journal,
        recall,
        pages,
        guard,
        chain,
        new_id,
        now,
        recall.busy,
        recall.weighing.heard,
        device,
        quotas := Quotas(settings.quotas, journal),
        policies,
    )
    quota_use = QuotaUse(settings.quotas, journal, quotas, guard, now)
    tokens = TokenCounter()
    model = _model(settings.model, journal, now)
    reworded = _reworded(model, tokens) if model and settings.model.overviews else None
    tiering = TierWorker(
        journal, TierMaker(in_short.tiers, in_short.arguments, tokens.near), guard, recall.busy, reworded
    )
    spawned = RecentErrands()
    counting = RequestCounter(tokens, guard, windows.of)
    reported = UsageCalibration(counting, journal, windows, guard)
    await reported.open()
    loads = RequestSizer(counting, reported, windows)
    fitting = WindowFitter(
        loads,
        Shedder(settings.shedding, journal, loads, reported, windows),
        PageIn(settings.shedding),
        reported,
        pages.page,
        guard,
    )
    room = DiskRoom(home, settings.journal.min_free_mib * 2**20)
    notes = ExchangeJournal(
        journal,
        guard,
        # Replicas hear of exchanges from the journal, whichever of them it was.
        journaled if not journal.replicated else lambda: None,
        sessions.find_or_create,
        room,
        sessions.ledgers.commit,
        sessions.ledgers.unwritten,
        sessions.make_up,
    )
    await notes.open()
    graphing = EntityGraphWorker(journal, guard, recall.busy)
    reading = {"learned": settings.learning.enabled, "tiered": True, "researched": settings.research.enabled}
    works = [work for work, enabled in reading.items() if enabled]
    retaining = RetentionWorker(
        policies, journal, works, guard, now, lambda: learner.resting(), has_changed, recall.busy
    )
    reindexing = Reindexer(journal, generations, recall, learner)
    mending = IndexRepairWorker(journal, generations, reindexing, recall, guard)
    (home / "pages").mkdir(mode=0o700, exist_ok=True)
    commands = Commands(journal, recall, learner, pages, sessions, notes, chain, new_id, now)
    core = Core(
        settings,
        journal,
        new_id,
        now,
        home,
        lambda: recall.index,
        guard,
        has_changed,
        learner,
        pages,
        recall,
        commands,
        sessions,
        projects or {},
        model,
        paused,
        spawned,
        chain,
    )
    chain.open(each(core) for each in features())
    own_index = settings.qdrant.url is None
    held_back = Quarantine(journal, learner, pages, guard, commands.everything_of)
    duties: list[Duty] = [graphing, retaining, tiering, learner, held_back, chain]
    if journal.replicated and not own_index:
        duties.append(mending)
    else:
        mending.start()
    warming.start()
    beside: Replica | None = None
    if journal.replicated:

        async def keep_up() -> None:
            await pages.refresh()  # first: the index may take minutes, and what was forgotten may stand on a page
            if own_index:
                await IndexWorker(journal, recall.index, recall.embedder).catch_up()

        def erased() -> None:
            sessions.live_sessions.forget()
            pages.drop()

        beside = Replica(journal.told, duties, journaled, pages.changed, erased, keep_up, guard)
        beside.start(lambda: journal.works)
    else:
        for duty in duties:
            duty.start()
    importing = Importer(journal, learner, pages, chain, now)
    return Memory(
        settings=settings,
        home=home,
        journal=journal,
        generations=generations,
        generation=generation,
        session_matcher=sessions,
        preparation=Preparation(
            settings,
            sessions,
            recall,
            pages,
            guard,
            new_id,
            paused,
            windows.of,
            fitting,
            chain.port(PriorFindings),
            spawned,
            chain,
            journal.memories,
            SharedErrands(journal, spawned) if journal.replicated else None,
            quota_use,
        ),
        exchange_journal=notes,
        learner=learner,
        recall=recall,
        pages=pages,
        commands=commands,
        quarantine=held_back,
        fact_reviser=FactReviser(journal, commands, learner, new_id, now, journal.followers, chain.confirmed),
        tools=chain.port(AnswersTools),
        tool_offering=chain.port(OffersTools),
        reindexer=reindexing,
        index_repair=mending,
        tier_worker=tiering,
        cache_warmer=warming,
        token_counting=counting,
        usage_calibration=reported,
        windows=windows,
        exporter=Exporter(journal, pages, chain),
        whole_person=WholePerson(journal, learner, notes, pages, chain, sessions.live_sessions.forget, now),
        importer=importing,
        syncing=Syncing(journal, learner, importing),
        session_replayer=SessionReplayer(journal, journaled, room),
        features=chain,
        entity_graph=graphing,
        recent_errands=spawned,
        retention=retaining,
        pause=pause,
        quotas=quotas,
        quota_use=quota_use,
        replica=beside,
    )


class _Stores(NamedTuple):
    journal: SqlJournal
    generations: Generations
    generation: Generation
    current_index: Index
    embedder: Embedder
    windows: ModelWindows


async def _open_stores(
    settings: MemorySettings, home: Path, policies: Policies, now: Callable[[], datetime], may_work: bool
) -> _Stores:
    """The journal and the index, with the embedder and the windows, which are read meanwhile."""
    database = settings.postgresql.url
    if database is None and (aside := await asyncio.to_thread(set_aside, home, now().date())):
        log.warning(
            "%s is not there, though memories were made from it: it is begun anew, and what stood on the pages lies in "
            "%s. If there is a backup of the journal, stop, and put it back",
            home / "journal.db",
            aside,
        )
    loading = asyncio.create_task(asyncio.to_thread(choose_embedder, settings.embedder, home / "models"))
    replica = await asyncio.to_thread(replica_name, home) if settings.postgresql.replicas else ""
    journal = await asyncio.to_thread(
        open_journal,
        home,
        settings.journal.synchronous == "full",
        database,
        replica,
        settings.qdrant.url is None,
        settings.postgresql.direct_url,
        policies,
        settings.postgresql.unresponsive_ms / 1000,
        may_work,
    )
    try:
        embedder, windows = await asyncio.gather(loading, open_windows(settings))
        server = settings.qdrant
        generations = Generations(
            journal,
            ServerIndexes(server.url, server.api_key, server.replication)
            if server.url
            else FolderIndexes(home / "index", settings.recall.points_at_hand),
        )
        index, generation = await generations.open_current(embedder)
    except BaseException:
        await journal.close()
        raise
    return _Stores(journal, generations, generation, index, embedder, windows)


def new_id() -> str:
    """A random UUID, which is what Qdrant takes as an id."""
    return str(uuid.uuid4())


def _model(settings: ModelSettings, journal: SqlJournal, now: Callable[[], datetime]) -> LanguageModel | None:
    """The model for background work; None where rules do all of it."""
    if settings.name is None:
        return None
    # Here and below: most installations have no model for this, and need not import what asks one.
    from memory.models.language import LitellmLanguage

    key = os.environ.get(settings.key_from) if settings.key_from else None
    return LitellmLanguage(settings.name, settings.url, key, settings.daily_tokens, journal, now)


def _reworded(model: LanguageModel, tokens: TokenCounter) -> Reword:
    from memory.services.tiers.rewording import OverviewWriter

    return OverviewWriter(model, tokens.near).reworded
