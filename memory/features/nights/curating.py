"""Have a model, where one is configured, go over what the rules planned for a night.

What it cannot do, or may not do any more today, stands as the rules made it: a night never fails for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from memory.fact import Fact
from memory.features.nights.consolidation.curation import (
    CURATING,
    CURATING_SHAPE,
    RULES,
    WORDING,
    WORDING_SHAPE,
    chosen,
    curated,
    material,
    sources_of,
    worded,
)
from memory.features.nights.consolidation.diff import FactChange, PlannedNight, applied
from memory.ports import LanguageModel, NoAnswer

log = logging.getLogger(__name__)

FRESH = 200
"""Facts of an owner that a night goes over at most."""


class FactStore(Protocol):
    """What it needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id."""

    async def facts_of(self, owners: Sequence[str], limit: int = 1000) -> list[Fact]:
        """The active facts of some owners, newest first."""


class NightCurator:
    """Asks."""

    def __init__(
        self, model: LanguageModel, store: FactStore, gist: bool, curation: bool, new_id: Callable[[], str]
    ) -> None:
        self._model = model
        self._store = store
        self._gist = gist
        self._curation = curation
        self._new_id = new_id

    async def improved(self, planned: PlannedNight) -> PlannedNight:
        """The night as a model would have it, as far as it may."""
        changes = list(planned.diff.changes)
        try:
            if self._gist:
                changes = [await self._worded(change) for change in changes]
            if self._curation and planned.looked:
                changes += await self._curated(planned, changes)
        except NoAnswer as error:
            log.warning("the rules' night stands where the model gave no answer: %s", error)
        return replace(planned, diff=replace(planned.diff, changes=tuple(changes)))

    async def _worded(self, change: FactChange) -> FactChange:
        rewritten = change.touched[0].after
        known = {fact.id: fact for fact in await self._store.facts(rewritten.derived_from)} if rewritten else {}
        sources = sources_of(change, known)
        if not sources:
            return change
        return worded(change, sources, await self._model.ask(WORDING, material(sources), WORDING_SHAPE))

    async def _curated(self, planned: PlannedNight, changes: Sequence[FactChange]) -> list[FactChange]:
        fresh = await self._store.facts_of([planned.diff.owner], min(planned.looked, FRESH))
        after = applied({fact.id: fact for fact in fresh}, changes)
        more: list[FactChange] = []
        for category, shown in chosen([after[fact.id] for fact in fresh if fact.id in after]).items():
            answer = await self._model.ask(CURATING + RULES[category], material(shown), CURATING_SHAPE)
            more += curated(shown, answer, planned.at, self._new_id)
        return more
