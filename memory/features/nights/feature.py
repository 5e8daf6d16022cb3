"""Consolidation at night, behind the hooks: begin one, ask how far it is, list them, look at one, take one back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypedDict

from memory.fact import Fact
from memory.features.nights.report import NightJson, NightOutcomeJson, candidates_json, night_json, outcome_json
from memory.features.nights.runner import Improve, NightRunner, PlannerProcess, as_planned
from memory.features.nights.store import Night, NightStore
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import Answer, RouteRefused, RouteRequest, checked_text
from memory.services.person.id_lookup import NotFound
from memory.session import Mode
from memory.stores.index_edge import EdgeIndex

EVERY = 1_000_000


class FactJournal(Protocol):
    """What this needs of the journal beside its own part of it."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id."""


class NightBegun(TypedDict):
    """A night was begun."""

    began: bool


class NightProgress(TypedDict):
    """Whether a night is running, and that night or the last one; None where there was none since the start."""

    running: bool
    night: NightOutcomeJson | None


class NightsList(TypedDict):
    """The nights that changed something, the newest first."""

    nights: list[Night]


class NightUndone(TypedDict):
    """The night that was taken back."""

    undone: int


class Nights(Feature):
    """The feature."""

    name = "nights"

    def __init__(self, core: Core) -> None:
        self._enabled = core.settings.mode is Mode.ON
        self._journal: FactJournal = core.journal
        self.store: NightStore = core.journal.part(NightStore)

        def vector_folder() -> tuple[Path, str] | None:
            index = core.index()
            return (index.snapshot_folder, core.recall.embedder.name) if isinstance(index, EdgeIndex) else None

        night = core.settings.night
        self.runner = NightRunner(
            night,
            self.store,
            PlannerProcess(
                core.settings.postgresql.url or core.home / "journal.db",
                night,
                vector_folder,
                core.journal.changed.take,
            ),
            core.learner,
            core.pages,
            core.guard,
            core.now,
            core.paused,
            _improved(core),
            core.features.night if core.features is not None else None,
        )

    def start(self) -> None:
        if self._enabled:
            self.runner.start()

    async def stop(self) -> None:
        await self.runner.stop()

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (
            FeatureRoute("POST", "consolidate", cls.consolidate, 0, {"dry_run": bool, "since": str}),
            FeatureRoute("GET", "consolidate", cls.progress, 0),
            FeatureRoute("GET", "nights", cls.listed, 100),
            FeatureRoute("GET", "nights/{number}", cls.night_told, 0),
            FeatureRoute("POST", "nights/{number}/undo", cls.undo, 0, {}),
        )

    async def consolidate(self, question: RouteRequest) -> Answer[NightBegun]:
        """``{"dry_run": true, "since": "2026-03-01"}``, both optional: begin a night, of everybody, as the schedule
        does, where the query names nobody and nothing. Answers at once; ask GET after it."""
        body = question.body
        since = _moment(checked_text(body["since"], "since")) if "since" in body else None
        owners = question.owners if question.named else None
        return Answer({"began": True}, 202, self.runner.begin(owners, since=since, dry=body.get("dry_run", False)))

    async def progress(self, question: RouteRequest) -> NightProgress:
        """The night that is running with its progress, or the last one since the start with what it changed, as far
        as it is the asker's."""
        running, outcome = self.runner.running, self.runner.outcome
        if outcome is None:
            return {"running": running, "night": None}
        # Thousands of changes are not told again and again to who waits for the end.
        told = await asyncio.to_thread(outcome_json, outcome, question.owners, not running)
        for each in told["nights"]:
            # What was put forward anew is known by the id that it had.
            if each["number"]:
                each["candidates"] = candidates_json(await self.store.night_candidates(each["number"]))
        return {"running": running, "night": told}

    async def listed(self, question: RouteRequest) -> NightsList:
        """``?limit=100``: the nights that changed something, the newest first."""
        found = await self.store.nights(question.owners, question.limit)
        return {"nights": found}

    async def night_told(self, question: RouteRequest) -> NightJson:
        """What a night changed, line by line."""
        held = await self._night_of_path(question)
        changes, lines, candidates = await self.store.night_changes(held.number)
        facts = {fact.id: fact for fact in await self._journal.facts([each.memory for each in changes])}
        return night_json(held, changes, lines, candidates, facts)

    async def undo(self, question: RouteRequest) -> NightUndone:
        """Take a night back."""
        held = await self._night_of_path(question)
        await self.runner.undo(held.number)
        return {"undone": held.number}

    async def _night_of_path(self, question: RouteRequest) -> Night:
        """The night whose number stands in the path, among those of the asker."""
        number = question.names["number"]
        if not (number.isascii() and number.isdigit() and len(number) < 16):
            raise RouteRefused(f"{number[:40]!r} is no number of a night", 422)
        found = await self.store.nights(question.owners, EVERY)
        held = next((each for each in found if each.number == int(number)), None)
        if held is None:
            raise NotFound(f"there is no night {number}")
        return held


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone() if at.tzinfo is None else at
    except (ValueError, OverflowError):
        raise RouteRefused(f"since is {text[:40]!r}; write a day as 2026-03-01", 422) from None


def _improved(core: Core) -> Improve:
    if core.model is None:
        return as_planned
    # Most installations have no model for this, and need not import what asks one.
    from memory.features.nights.curating import NightCurator

    settings = core.settings.model
    return NightCurator(core.model, core.journal, settings.gist, settings.curation, core.new_id).improved


FEATURE = Nights
