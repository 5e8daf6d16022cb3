"""How work is done in each project: sequences, what is run after what, what put errors right, how sessions ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from memory.behaviour import KnownObservation
from memory.candidate import CandidateKind
from memory.fact import Fact, Sensitivity, State
from memory.features.behaviour.observing import BehaviourObserver, WatchedJournal
from memory.learning.behaviour.habits import Habits
from memory.scope import scope_of

SORTS = ("fix", "corrected")
"""Observations that are told one by one."""


async def report(
    observing: BehaviourObserver, journal: WatchedJournal, owners: Sequence[str], limit: int
) -> list[dict[str, Any]]:
    """Of each project among these owners so many of each sort, the best supported and the newest first."""
    found = [await _project(observing, journal, owner, limit) for owner in owners if scope_of(owner)]
    return [each for each in found if each["steps"] or each["fixes"] or each["corrections"]]


async def _project(observing: BehaviourObserver, journal: WatchedJournal, owner: str, limit: int) -> dict[str, Any]:
    mined = await observing.habits(owner)
    known = [each for each in await journal.observations(owner) if each.sort in SORTS]
    facts = {fact.id: fact for fact in await journal.facts([each.memory for each in known], [owner])}
    return _mined(mined, limit) | {
        "owner": owner,
        "fixes": _observed("fix", known, facts, limit),
        "corrections": _observed("corrected", known, facts, limit),
        "skills": await _skills(journal, owner),
    }


async def _skills(journal: WatchedJournal, owner: str) -> list[dict[str, Any]]:
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


def _mined(mined: Habits, limit: int) -> dict[str, Any]:
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
