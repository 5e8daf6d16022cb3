"""The one place that chooses stores and models and joins the parts of memory."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from memory.candidate import CandidateKind
from memory.day.approval.approving import Approving
from memory.day.approval.conventions import Conventions, places
from memory.day.approval.retiring import Retirements
from memory.day.approval.skills import Skills
from memory.day.learn import Learner
from memory.day.lessons.graphing import Graphing
from memory.day.lessons.indexing import terms_of
from memory.day.mending import Mending
from memory.day.moving.exporting import Exporting
from memory.day.moving.importing import Importing
from memory.day.moving.replaying import Replaying
from memory.day.moving.research import ResearchRecords
from memory.day.moving.syncing import Syncing
from memory.day.note import Notes
from memory.day.page.edits import PageEdits
from memory.day.page.files import PageFiles
from memory.day.pause import Pause
from memory.day.person.commands import Commands
from memory.day.person.quarantine import Quarantine
from memory.day.person.revising import Revising
from memory.day.prepare import Preparation
from memory.day.recall import Recall
from memory.day.reindexing import Reindexing
from memory.day.research.findings import Findings
from memory.day.research.folders import AllowedFolders
from memory.day.research.library import Library
from memory.day.research.researching import Researching
from memory.day.research.shelves import Shelves
from memory.day.retaining import Retaining
from memory.day.sessions.finding import LiveSessions
from memory.day.sessions.offering import Offering
from memory.day.sessions.spawned import Spawned
from memory.day.tiers import in_short
from memory.day.tiers.content import Contents
from memory.day.tiers.tiering import Lowering, Reword, Tiering
from memory.day.tools import Tools
from memory.day.warming import Warming
from memory.day.window.counting import Counting
from memory.day.window.fitting import Fitting
from memory.day.window.load import Loads
from memory.day.window.paging import Paging
from memory.day.window.reported import Reported
from memory.day.window.shedding import Shedding
from memory.day.worker import Following
from memory.fact import Fact
from memory.features import features
from memory.hooks.chain import Features
from memory.hooks.feature import Core
from memory.learning.redact import redact
from memory.models.choose import choose_embedder
from memory.models.tokens import Tokens
from memory.models.windows import Windows, open_windows
from memory.night import Child, Improve, Nights, as_planned
from memory.ports import Embedder, Generation, Guard, LanguageModel, StoreError
from memory.scope import Scope
from memory.session import Mode
from memory.settings import MemorySettings, ModelSettings, ProjectFolder
from memory.stores.disk import DiskRoom
from memory.stores.generations import Folders, Generations, Server
from memory.stores.index_edge import EdgeIndex
from memory.stores.journal import SqliteJournal
from memory.stores.lasting_files import LastingFolders
from memory.stores.lost_journal import set_aside

log = logging.getLogger(__name__)


SHORT = 1000
"""Characters below which a text is likely to be redacted again: memories stand in many receipts."""


@dataclass(slots=True)
class Memory:
    """Memory's parts, joined. ``pause`` is what ``palimpsest pause`` and ``resume`` set."""

    settings: MemorySettings
    home: Path
    journal: SqliteJournal
    generations: Generations
    generation: Generation
    sessions: LiveSessions
    preparation: Preparation
    notes: Notes
    learner: Learner
    recall: Recall
    pages: PageFiles
    commands: Commands
    quarantine: Quarantine
    revising: Revising
    tools: Tools
    offering: Offering
    reindexing: Reindexing
    mending: Mending
    tiering: Tiering
    warming: Warming
    counting: Counting
    reported: Reported
    windows: Windows
    nights: Nights
    exporting: Exporting
    importing: Importing
    syncing: Syncing
    replaying: Replaying
    features: Features
    graphing: Graphing
    approving: Approving
    spawned: Spawned
    findings: Findings
    library: Library
    researching: Researching
    retaining: Retaining
    pause: Pause

    @property
    def following(self) -> tuple[Following, ...]:
        """The workers that follow the journal."""
        return self.learner, self.tiering, self.researching

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors now."""
        return self.recall.embedder

    async def close(self) -> None:
        """Write what waits, then let go of the files."""
        await self.warming.stop()
        await self.features.stop()
        await self.retaining.stop()
        await self.mending.stop()
        await self.nights.stop()
        await self.preparation.settle()
        await self.notes.stop()
        await self.researching.stop()
        await self.learner.stop()
        await self.graphing.stop()
        await self.recall.weighing.settle()
        await self.tiering.stop()
        await self.counting.settle()
        await self.reported.settle()
        await self.pages.settle()
        try:
            await self.recall.index.close()
        except StoreError as error:
            # An index that cannot be written any more is found out and made again at the next start.
            log.warning("%s", error)
        finally:
            await self.journal.close()


def local_now() -> datetime:
    """The moment, in this machine's time zone."""
    return datetime.now().astimezone()


async def open_memory(
    settings: MemorySettings,
    home: Path,
    guard: Guard,
    projects: Mapping[str, ProjectFolder] | None = None,
    now: Callable[[], datetime] = local_now,
) -> Memory | None:
    """Open the stores below ``home`` and start learning. None where memory is switched off in the settings.
    ``projects`` are the folders, by the owner of a project, that what is approved may be written into; ``now`` is the
    clock by which memory lives.

    Raises:
        StoreError: when the journal or the index cannot be opened. A damaged index is made anew instead.
        OSError: when what was made from a journal that is gone cannot be set aside.
    """
    if settings.mode is Mode.OFF:
        return None
    if aside := await asyncio.to_thread(set_aside, home, now().date()):
        log.warning(
            "%s is not there, though memories were made from it: it is begun anew, and what stood on the pages lies in "
            "%s. If there is a backup of the journal, stop, and put it back",
            home / "journal.db",
            aside,
        )
    loading = asyncio.create_task(asyncio.to_thread(choose_embedder, settings.embedder, home / "models"))
    journal = await asyncio.to_thread(open_journal, home, settings.journal.synchronous == "full")
    try:
        embedder, windows = await asyncio.gather(loading, open_windows(settings))
        server = settings.qdrant
        generations = Generations(
            journal,
            Server(server.url, server.api_key)
            if server.url
            else Folders(home / "index", settings.recall.points_at_hand),
        )
        index, generation = await generations.open_current(embedder)
    except BaseException:
        await journal.close()
        raise

    pause = Pause(home / "paused")

    def paused() -> bool:
        return pause.on

    def kept() -> tuple[Path, str] | None:
        return (recall.index.kept_in, recall.embedder.name) if isinstance(recall.index, EdgeIndex) else None

    def journaled() -> None:
        learner.wake()
        tiering.wake()
        researching.wake()

    def asked(scope: Scope) -> None:
        warming.asked(scope)

    sessions = LiveSessions(journal, new_id, settings.measure.holdout)

    def has_changed(owners: frozenset[str]) -> None:
        pages.changed(owners)
        learner.wake()

    core = Core(settings, journal, new_id, now, home, lambda: recall.index, guard, has_changed)
    chain = Features((each(core) for each in features()), guard, settings.checkouts.wait_ms / 1000)
    recall = Recall(settings.recall, journal, index, embedder, asked, chain.marks)
    device = settings.page.device or platform.node() or "here"

    async def near(owner: str, text: str, more: Iterable[Fact] = (), /) -> list[tuple[Fact, float, float]]:
        return await learner.neighbours(owner, text, more)

    edits = PageEdits(journal, near, guard, new_id, now, device, lambda: learner.resting())
    pages = PageFiles(settings.page, journal, home / "pages", now, edits, device, lambda: learner.wake())
    warming = Warming(journal, recall, pages if settings.page.enabled else None, guard, now, recall.busy)
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
    )
    tokens = Tokens()
    model = _model(settings.model, journal, now)
    reworded = _reworded(model, tokens) if model and settings.model.overviews else None
    tiering = Tiering(journal, Lowering(in_short.tiers, in_short.arguments, tokens.near), guard, recall.busy, reworded)
    spawned = Spawned()
    folders = AllowedFolders(settings.research.folders)
    shelves = Shelves(journal, recall)
    findings = Findings(settings.research, journal, shelves, folders)
    researching = Researching(journal, learner, spawned, in_short.tiers, folders, guard, now, recall.busy, chain)
    records = ResearchRecords(journal, researching)
    counting = Counting(tokens, guard, windows.of)
    reported = Reported(counting, journal, windows, guard)
    await reported.open()
    loads = Loads(counting, reported, windows)
    fitting = Fitting(
        loads,
        Shedding(settings.shedding, journal, loads, reported, windows),
        Paging(settings.shedding),
        reported,
        pages.page,
        guard,
    )
    room = DiskRoom(home, settings.journal.min_free_mib * 2**20)
    notes = Notes(journal, guard, journaled, sessions.found, room, sessions.commit, sessions.unwritten)
    await notes.open()
    graphing = Graphing(journal, guard, recall.busy)
    reading = {"learned": settings.learning.enabled, "tiered": True, "researched": settings.research.enabled}
    works = [work for work, enabled in reading.items() if enabled]
    retaining = Retaining(settings.journal.keep_days, journal, works, guard, now, recall.busy)
    learner.start()
    graphing.start()
    retaining.start()
    chain.start()
    reindexing = Reindexing(journal, generations, recall, learner)
    mending = Mending(journal, generations, reindexing, recall, guard)
    mending.start()
    tiering.start()
    if settings.research.enabled:
        researching.start()
    warming.start()
    (home / "pages").mkdir(mode=0o700, exist_ok=True)
    files = LastingFolders()
    conventions = Conventions(journal, files, places(projects or {}, home / "pages"), new_id, now)
    skills = Skills(files, projects or {})
    approving = Approving(
        journal,
        files,
        {
            CandidateKind.KNOWLEDGE: conventions,
            CandidateKind.LINE: conventions,
            CandidateKind.PROPOSED: conventions,
            CandidateKind.SKILL: skills,
            CandidateKind.RETIREMENT: Retirements(journal, skills),
        },
        conventions,
        skills,
        learner,
        pages,
        new_id,
        now,
    )
    commands = Commands(journal, recall, learner, pages, sessions, notes, approving, chain, new_id, now)
    content = Contents(journal).content
    nights = Nights(
        settings.night,
        journal,
        Child(home / "journal.db", settings.night, kept, journal.changed.take),
        learner,
        pages,
        guard,
        now,
        paused,
        _improved(model, journal, settings.model) if model else as_planned,
        chain,
    )
    if settings.mode is Mode.ON:
        nights.start()
    tools = Tools(settings.tools.tokens, journal, recall, commands, learner, content, new_id, now)
    importing = Importing(journal, learner, pages, records, chain, now)
    return Memory(
        settings=settings,
        home=home,
        journal=journal,
        generations=generations,
        generation=generation,
        sessions=sessions,
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
            findings,
            spawned,
            chain,
            journal.memories,
        ),
        notes=notes,
        learner=learner,
        recall=recall,
        pages=pages,
        commands=commands,
        quarantine=Quarantine(journal, learner, pages),
        revising=Revising(journal, commands, learner, new_id, now, journal.followers),
        tools=tools,
        offering=Offering(sessions, settings.tools.offer),
        reindexing=reindexing,
        mending=mending,
        tiering=tiering,
        warming=warming,
        counting=counting,
        reported=reported,
        windows=windows,
        nights=nights,
        exporting=Exporting(journal, pages, records, chain),
        importing=importing,
        syncing=Syncing(journal, learner, importing),
        replaying=Replaying(journal, journaled, room),
        features=chain,
        graphing=graphing,
        approving=approving,
        spawned=spawned,
        findings=findings,
        library=Library(settings.research, journal, shelves, folders, now),
        researching=researching,
        retaining=retaining,
        pause=pause,
    )


def open_journal(home: Path, flush: bool = False) -> SqliteJournal:
    """The journal of a home folder; with ``flush`` it outlives a power cut too.

    Raises:
        StoreError: when it cannot be opened.
    """
    return SqliteJournal(home / "journal.db", _redacted, terms=terms_of, synchronous="FULL" if flush else "NORMAL")


def new_id() -> str:
    """A random UUID, which is what Qdrant takes as an id."""
    return str(uuid.uuid4())


def _redacted(text: str) -> str:
    return _redacted_short(text) if len(text) < SHORT else redact(text).text


@lru_cache(maxsize=4096)
def _redacted_short(text: str) -> str:
    return redact(text).text


def _model(settings: ModelSettings, journal: SqliteJournal, now: Callable[[], datetime]) -> LanguageModel | None:
    """The model for background work; None where rules do all of it."""
    if settings.name is None:
        return None
    # Here and below: most installations have no model for this, and need not import what asks one.
    from memory.models.language import LitellmLanguage

    key = os.environ.get(settings.key_from) if settings.key_from else None
    return LitellmLanguage(settings.name, settings.url, key, settings.daily_tokens, journal, now)


def _reworded(model: LanguageModel, tokens: Tokens) -> Reword:
    from memory.day.assisted.rewording import Rewording

    return Rewording(model, tokens.near).reworded


def _improved(model: LanguageModel, journal: SqliteJournal, settings: ModelSettings) -> Improve:
    from memory.day.assisted.curating import Curating

    return Curating(model, journal, settings.gist, settings.curation, new_id).improved
