"""Nights: begin one, ask how far it is, list them, look at one, take one back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from aiohttp import web

from memory.bootstrap import Memory
from memory.candidate import Candidate, Proposal
from memory.consolidation.diff import ChangeAction, FactChange, SummaryLine
from memory.consolidation.plan_codec import PlannedNight
from memory.fact import Fact, Sensitivity, State
from memory.night import NightOutcome
from memory.services.person.commands import NotFound
from memory.services.reindexing import ReindexInProgress
from memory.stores.nights import Night, NightChange, NotUndone
from proxy.api.params import body_of, checked_text, memory_of, owners_of, query_limit
from proxy.api.responses import answer
from proxy.api.serializers import HIDDEN
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.fail_open import fail_open

routes = web.RouteTableDef()

WITHIN = 4 * 3600
"""Seconds that a night may take."""


@routes.post("/api/consolidate")
async def consolidate(request: web.Request) -> web.Response:
    """``{"dry_run": true, "since": "2026-03-01"}``, both optional: begin a night, of everybody, as the schedule does,
    where the query names nobody and nothing. Answers at once; ask GET after it."""
    body = await body_of(request, {"dry_run": bool, "since": str})
    since = _moment(checked_text(body["since"], "since")) if "since" in body else None
    nights = memory_of(request).night_runner
    owners = await owners_of(request) if request.query.keys() & {"user", "org", "project"} else None
    if nights.running:
        raise ReindexInProgress("a night is going on already: wait until it is done")
    edge = request.app[EDGE]
    night = nights.run(owners, since=since, dry=body.get("dry_run", False))
    edge.run_in_background(
        fail_open(
            night, default=None, timeout_seconds=WITHIN, operation="consolidating", degradations=edge.degradations
        )
    )
    return answer({"began": True}, 202)


@routes.get("/api/consolidate")
async def progress(request: web.Request) -> web.Response:
    """The night that is running with its progress, or the last one since the start with what it changed, as far
    as it is the asker's."""
    memory, owners = memory_of(request), await owners_of(request)
    nights = memory.night_runner
    running, outcome = nights.running, nights.outcome
    if outcome is None:
        return answer({"running": running, "night": None})
    # Thousands of changes are not told again and again to who waits for the end.
    outcome_json = await asyncio.to_thread(_outcome, outcome, owners, not running)
    for each in outcome_json["nights"]:
        # What was put forward anew is known by the id that it had.
        if each["number"]:
            each["candidates"] = _candidates(await memory.journal.night_candidates(each["number"]))
    return answer({"running": running, "night": outcome_json})


@routes.get("/api/nights")
async def listed(request: web.Request) -> web.Response:
    """``?limit=100``: the nights that changed something, the newest first."""
    limit = query_limit(request, 100)
    found = await memory_of(request).journal.nights(await owners_of(request), limit)
    return answer({"nights": [asdict(night) for night in found]})


@routes.get("/api/nights/{number}")
async def night(request: web.Request) -> web.Response:
    """What a night changed, line by line."""
    return answer(await night_json(memory_of(request), await night_of(request)))


@routes.post("/api/nights/{number}/undo")
async def undo(request: web.Request) -> web.Response:
    """Take a night back."""
    await body_of(request, {})
    held = await night_of(request)
    memory = memory_of(request)
    try:
        await memory.night_runner.undo(held.number)
    except NotUndone as error:
        raise Refusal(409, str(error)) from None
    return answer({"undone": held.number})


async def night_of(request: web.Request) -> Night:
    """The night whose number stands in the path, among those of the asker.

    Raises:
        Refusal: 422, when that is no number.
        NotFound: when there is no such night.
    """
    number = request.match_info["number"]
    if not (number.isascii() and number.isdigit() and len(number) < 16):
        raise Refusal(422, f"{number[:40]!r} is no number of a night")
    found = await memory_of(request).journal.nights(await owners_of(request), limit=1_000_000)
    held = next((each for each in found if each.number == int(number)), None)
    if held is None:
        raise NotFound(f"there is no night {number}")
    return held


async def night_json(memory: Memory, held: Night) -> dict[str, Any]:
    """A night as it was, line by line."""
    changes, lines, candidates = await memory.journal.night_changes(held.number)
    facts = {fact.id: fact for fact in await memory.journal.facts([each.memory for each in changes])}
    return asdict(held) | {
        "counted": held.changes,
        "changes": _written([each for each in changes if each.action != ChangeAction.PLAIN], facts),
        "plain": held.changes.get(ChangeAction.PLAIN, 0),
        "lines": [_line(line) for line in lines],
        "candidates": _candidates(candidates),
    }


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone() if at.tzinfo is None else at
    except (ValueError, OverflowError):
        raise Refusal(422, f"since is {text[:40]!r}; write a day as 2026-03-01") from None


def _outcome(outcome: NightOutcome, owners: Sequence[str], changes: bool) -> dict[str, Any]:
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


def _candidates(put_forward: Iterable[Proposal | Candidate]) -> list[dict[str, Any]]:
    return [asdict(each) | {"why": each.why} for each in put_forward]


def _planned(number: int, planned: PlannedNight) -> dict[str, Any]:
    diff = planned.diff
    return {
        "number": number,
        "owner": diff.owner,
        "looked": planned.looked,
        "changes": [_change(change) for change in diff.changes],
        "plain": len(diff.plain),
        "lines": [_line(line) for line in diff.lines],
        "candidates": _candidates(diff.candidates),
        "thrown": [asdict(each) for each in diff.thrown],
    }


def _change(change: FactChange) -> dict[str, Any]:
    """A planned change with what it makes of each fact."""
    facts = [touch.after for touch in change.touched if touch.after is not None]
    new_ids = {touch.after.id for touch in change.touched if touch.after is not None and touch.before is None}
    return {
        "action": change.action,
        "why": change.why,
        "facts": [_fact(fact, fact.state, fact.id in new_ids) for fact in facts],
    }


def _written(changes: Sequence[NightChange], facts: Mapping[str, Fact]) -> list[dict[str, Any]]:
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


def _changes_json(together: Iterable[NightChange], facts: Mapping[str, Fact]) -> Iterable[dict[str, Any]]:
    for each in together:
        fact = facts.get(each.memory)
        if fact is not None:
            became = State(each.fields["state"][1]) if "state" in each.fields else State.ACTIVE
            yield _fact(fact, became, each.made) | {"fields": each.fields}
        else:
            yield {"id": each.memory, "text": "", "state": "gone", "made": each.made, "fields": each.fields}


def _fact(fact: Fact, state: State, is_new: bool) -> dict[str, Any]:
    text = HIDDEN if fact.sensitivity is Sensitivity.RESTRICTED else fact.text
    return {"id": fact.id, "text": text, "state": state, "made": is_new}


def _line(line: SummaryLine) -> dict[str, Any]:
    return asdict(line)
