"""Nights as JSON tells them: planned, or as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from memory.candidate import Candidate, Proposal
from memory.fact import Fact, Sensitivity, State
from memory.features.nights.consolidation.diff import ChangeAction, DiscardedPass, FactChange, PlannedNight
from memory.features.nights.runner import NightOutcome
from memory.features.nights.store import Night, NightChange
from memory.hooks.route_request import HIDDEN, Fields
from memory.ports import SummaryLine


class ChangedFact(TypedDict):
    """What a night made of a fact, and whether it is a new one (``made``); of each of its ``fields`` that changed what
    it was and what it became. ``state`` is ``gone`` for what is forgotten since."""

    id: str
    text: str
    state: str
    made: bool
    fields: NotRequired[Mapping[str, Sequence[Any]]]


class NightChangeJson(TypedDict):
    """One thing that a night did, why, and with which facts."""

    action: str
    why: str
    facts: list[ChangedFact]


class PutForwardWhy(TypedDict):
    """Why something is put forward, in words."""

    why: str


ProposalJson = Annotated[dict[str, Any], Fields("Proposal", Proposal | Candidate, PutForwardWhy)]


class NightTold(TypedDict):
    """A night as it was: how often it did what (``counted``), its changes, how many wordings were only made plain, its
    lines of summary, and what it put forward."""

    counted: Mapping[str, int]
    changes: list[NightChangeJson]
    plain: int
    lines: list[SummaryLine]
    candidates: list[ProposalJson]


NightJson = Annotated[dict[str, Any], Fields("NightWhole", Night, NightTold)]


class PlannedNightJson(TypedDict):
    """What a night does with the memories of an owner; ``number`` is 0 while it is not written. ``thrown`` are passes
    that would have taken too much."""

    number: int
    owner: str
    looked: int
    changes: list[NightChangeJson]
    plain: int
    lines: list[SummaryLine]
    candidates: list[ProposalJson]
    thrown: list[DiscardedPass]


class NightOutcomeJson(TypedDict):
    """How far a night is, and what it changed of the asker's; ``others`` counts those of everybody else."""

    began: datetime
    looked: int
    finished: bool
    fault: str
    nights: list[PlannedNightJson]
    others: int


def night_json(
    held: Night,
    changes: Sequence[NightChange],
    lines: Iterable[SummaryLine],
    candidates: Iterable[Candidate],
    facts: Mapping[str, Fact],
) -> NightJson:
    return asdict(held) | {
        "counted": held.changes,
        "changes": _written_changes([each for each in changes if each.action != ChangeAction.PLAIN], facts),
        "plain": held.changes.get(ChangeAction.PLAIN, 0),
        "lines": list(lines),
        "candidates": candidates_json(candidates),
    }


def outcome_json(outcome: NightOutcome, owners: Sequence[str], changes: bool) -> NightOutcomeJson:
    """What is the asker's own, with the ``changes`` or without; of everybody else only how many nights there were."""
    own = [(number, each) for number, each in outcome.nights if each.diff.owner in owners]
    return {
        "began": outcome.began,
        "looked": outcome.looked,
        "finished": outcome.finished,
        "fault": outcome.fault,
        "nights": [_planned(number, each) for number, each in own] if changes else [],
        "others": len(outcome.nights) - len(own),
    }


def candidates_json(put_forward: Iterable[Proposal | Candidate]) -> list[ProposalJson]:
    return [asdict(each) | {"why": each.why} for each in put_forward]


def _planned(number: int, planned: PlannedNight) -> PlannedNightJson:
    diff = planned.diff
    return {
        "number": number,
        "owner": diff.owner,
        "looked": planned.looked,
        "changes": [_change_with_results(change) for change in diff.changes],
        "plain": len(diff.plain),
        "lines": list(diff.lines),
        "candidates": candidates_json(diff.candidates),
        "thrown": list(diff.thrown),
    }


def _change_with_results(change: FactChange) -> NightChangeJson:
    facts = [touch.after for touch in change.touched if touch.after is not None]
    new_ids = {touch.after.id for touch in change.touched if touch.after is not None and touch.before is None}
    return {
        "action": change.action,
        "why": change.why,
        "facts": [_fact(fact, fact.state, fact.id in new_ids) for fact in facts],
    }


def _written_changes(changes: Sequence[NightChange], facts: Mapping[str, Fact]) -> list[NightChangeJson]:
    """The changes that were written, those of one place together, with the facts as they are now."""
    places: dict[int, list[NightChange]] = {}
    for each in changes:
        places.setdefault(each.place, []).append(each)
    return [
        {
            "action": together[0].action,
            "why": together[0].why,
            "facts": list(_changes_json(together, facts)),
        }
        for together in places.values()
    ]


def _changes_json(together: Iterable[NightChange], facts: Mapping[str, Fact]) -> Iterable[ChangedFact]:
    for each in together:
        fact = facts.get(each.memory)
        if fact is not None:
            became = State(each.fields["state"][1]) if "state" in each.fields else State.ACTIVE
            yield {**_fact(fact, became, each.made), "fields": each.fields}
        else:
            yield {"id": each.memory, "text": "", "state": "gone", "made": each.made, "fields": each.fields}


def _fact(fact: Fact, state: State, is_new: bool) -> ChangedFact:
    text = HIDDEN if fact.sensitivity is Sensitivity.RESTRICTED else fact.text
    return {"id": fact.id, "text": text, "state": state, "made": is_new}
