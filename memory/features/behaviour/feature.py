"""How work is done, behind the hooks: it is watched with each exchange, told on demand, and forgotten.

How work is done in each project: sequences, what is run after what, what put errors right, how sessions ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict

import orjson

from memory.behaviour import KnownObservation
from memory.candidate import CandidateKind, CandidateState
from memory.fact import Fact, Origin, Passage, Sensitivity, State
from memory.features.behaviour.observing import BehaviourObserver, WatchedJournal
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureLesson, FeatureRoute
from memory.hooks.route_request import Fields, RouteRequest
from memory.learning.behaviour.habits import Habits
from memory.learning.behaviour.observation_facts import marks, within
from memory.ports import Journaled
from memory.scope import scope_of

SORTS = ("fix", "corrected")
"""Observations that are told one by one."""


class SequenceJson(TypedDict):
    """Steps that are done one after the other; ``kept`` is the share of cases in which the last was done too."""

    steps: tuple[str, ...]
    sessions: int
    times: int
    kept: float


class TriggerJson(TypedDict):
    """What is done after something else within one turn: so many times of so many occasions."""

    when: str
    then: str
    sessions: int
    times: int
    occasions: int


class ConventionJson(TypedDict):
    """A rule about how edits are made, and how many of them keep it."""

    rule: str
    sessions: int
    times: int
    edits: int


class SkillJson(TypedDict):
    """What was put forward as a skill; ``turned``: the habit that bore it out is none any more."""

    id: str
    name: str
    state: CandidateState
    why: str
    turned: bool


class MinedHabits(TypedDict):
    """What some sessions show of how work is done, and how they ended."""

    sessions: int
    steps: int
    sequences: list[SequenceJson]
    triggers: list[TriggerJson]
    conventions: list[ConventionJson]
    ended: dict[str, int]


class ObservedFact(TypedDict):
    """What was seen: its fact, in how many sessions, and when last."""

    id: str
    text: str
    sessions: int
    at: datetime


class FixDetail(TypedDict):
    """What failed, with which error, what was done between, and what worked."""

    failed: str
    error: str
    between: list[str]
    worked: str


class CorrectionDetail(TypedDict):
    """What was done wrong, and what the person said to that."""

    wrong: str
    right: str


class ObservedHabits(TypedDict):
    """The fixes, corrections and skills of an owner's project."""

    owner: str
    fixes: list[Annotated[dict[str, Any], Fields("Fix", ObservedFact, FixDetail)]]
    corrections: list[Annotated[dict[str, Any], Fields("Correction", ObservedFact, CorrectionDetail)]]
    skills: list[SkillJson]


ProjectHabits = Annotated[dict[str, Any], Fields("ProjectHabits", MinedHabits, ObservedHabits)]


async def report(
    observing: BehaviourObserver, journal: WatchedJournal, owners: Sequence[str], limit: int
) -> list[ProjectHabits]:
    """Of each project among these owners so many of each sort, the best supported and the newest first."""
    found = [await _project(observing, journal, owner, limit) for owner in owners if scope_of(owner)]
    return [each for each in found if each["steps"] or each["fixes"] or each["corrections"]]


async def _project(observing: BehaviourObserver, journal: WatchedJournal, owner: str, limit: int) -> ProjectHabits:
    mined = await observing.habits(owner)
    known = [each for each in await journal.observations(owner) if each.sort in SORTS]
    facts = {fact.id: fact for fact in await journal.facts([each.memory for each in known], [owner])}
    return {
        **_mined(mined, limit),
        "owner": owner,
        "fixes": _observed("fix", known, facts, limit),
        "corrections": _observed("corrected", known, facts, limit),
        "skills": await _skills(journal, owner),
    }


async def _skills(journal: WatchedJournal, owner: str) -> list[SkillJson]:
    """What was put forward as a skill; ``turned``: the habit that bore it out is none any more."""
    held = [each for each in await journal.candidates([owner]) if each.kind is CandidateKind.SKILL]
    observed = {each.memory for each in await journal.observations(owner)} if held else set()
    return [
        {
            "id": each.id,
            "name": each.title,
            "state": each.state,
            "why": each.why,
            "turned": observed.isdisjoint(each.evidence),
        }
        for each in held
    ]


def _mined(mined: Habits, limit: int) -> MinedHabits:
    return {
        "sessions": mined.sessions,
        "steps": mined.steps,
        "sequences": [
            {"steps": each.shapes, "sessions": each.sessions, "times": each.times, "kept": each.kept}
            for each in mined.sequences[:limit]
        ],
        "triggers": [
            {
                "when": each.when,
                "then": each.shape,
                "sessions": each.sessions,
                "times": each.times,
                "occasions": each.occasions,
            }
            for each in mined.triggers[:limit]
        ],
        "conventions": [
            {
                "rule": f"{each.question} {each.answer}",
                "sessions": each.sessions,
                "times": each.times,
                "edits": each.edits,
            }
            for each in mined.conventions[:limit]
        ],
        "ended": Counter(each.outcome for each in mined.ended),
    }


def _observed(
    sort: str, known: Sequence[KnownObservation], facts: Mapping[str, Fact], limit: int
) -> list[dict[str, Any]]:
    """The observations of a sort whose facts take part in recall, those that the most sessions bear out first."""
    held = [(facts[each.memory], each) for each in known if each.sort == sort and each.memory in facts]
    shown = [
        (fact, each)
        for fact, each in held
        if fact.state is State.ACTIVE and fact.sensitivity is not Sensitivity.RESTRICTED
    ]
    shown.sort(key=lambda pair: (pair[0].sessions, pair[0].used_at or pair[0].recorded_at, pair[0].id), reverse=True)
    return [
        {
            "id": fact.id,
            "text": fact.text,
            "sessions": fact.sessions,
            "at": fact.used_at or fact.recorded_at,
            **orjson.loads(each.detail),
        }
        for fact, each in shown[:limit]
    ]


class HabitsList(TypedDict):
    """How work is done in each project."""

    projects: list[ProjectHabits]


class BehaviourFeature(Feature):
    """The feature."""

    name = "behaviour"

    def __init__(self, core: Core) -> None:
        self._journal: WatchedJournal = core.journal
        self.observing = BehaviourObserver(core.journal, core.new_id, core.settings.learning)

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        return await self.observing.observe(exchange)

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        """The store deletes observations with their facts. That none is made again, whatever words it would be told
        in, nor the half of a habit, is for what is buried here."""
        seen = {each.memory: each for owner in owners for each in await self._journal.observations(owner)}

        def texts(memory: Fact | Passage) -> Iterable[str]:
            known = seen.get(memory.id)
            halves = within(memory.text) if memory.origin is Origin.BEHAVIOUR else []
            return (*halves, *(marks(known) if known is not None else ()))

        return FeatureErasure(texts)

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (FeatureRoute("GET", "habits", cls.habits, limit=5),)

    async def habits(self, question: RouteRequest) -> HabitsList:
        """``?project=NAME&limit=5``."""
        return {"projects": await report(self.observing, self._journal, question.owners, question.limit)}


FEATURE = BehaviourFeature
