"""Memory: list and search what is remembered, by project, kind, origin and state; add to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from aiohttp import web

from memory.fact import Fact, FactKind, Origin, State
from memory.hooks.route_request import choice
from memory.provenance import quarantined
from memory.scope import OWN_PROJECT, place_of
from proxy.api import responses
from proxy.api.params import taught
from proxy.errors import Refusal
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

EACH = 50
"""Memories on one page."""

ASIDE = "quarantine"
"""The name of the state of what is in quarantine."""

LOOKED = 200
"""Memories that a search gives, where some are left out afterwards."""


async def memories(visit: PageVisit) -> web.StreamResponse:
    """``?q=…&project=…&kind=…&origin=…&state=…&from=50``."""
    text, everything = visit.query("q"), await visit.everything()
    chosen = {"q": text, "project": visit.project, **{name: visit.query(name) for name in ("kind", "origin", "state")}}
    passed = passed_over(visit.query("from"))
    found = await _search_results(visit, text) if text else await _listed(visit, passed)
    return await show(
        visit,
        "memories.html",
        "Memory",
        found=found[:EACH],
        chosen=chosen,
        narrowed=any(value for key, value in chosen.items() if key != "q"),
        projects=projects(everything),
        kinds=list(FactKind),
        origins=list(Origin),
        states=list(State),
        earlier=max(passed - EACH, 0) if passed else None,
        later=passed + EACH if len(found) > EACH and not text else None,
    )


async def remember(visit: PageVisit) -> web.StreamResponse:
    """Write down what somebody says on the page."""
    text = visit.filled("text", required=True)
    held = await visit.memory.commands.remember(text, taught(visit.scope))
    return visit.sent_to(f"memory/{held.id}", "Remembered. It is found from now on.")


def projects(owners: Sequence[str]) -> list[str]:
    """The projects among some owners by their names, without those of a single session."""
    places = (place_of(owner) for owner in owners)
    named = {place[0].project for place in places if place is not None and place[0].project}
    return sorted((name for name in named if not name.startswith(OWN_PROJECT)), key=str.casefold)


async def _listed(visit: PageVisit, passed: int) -> list[dict[str, Any]]:
    state = _state(visit)
    found = await visit.memory.journal.listed(
        await _meant_owners(visit),
        frozenset(State) if state is None else {state},
        _kinds(visit),
        _origins(visit),
        limit=EACH + 1,
        passed=passed,
    )
    return [responses.memory(fact, visit.now) for fact in found]


async def _search_results(visit: PageVisit, text: str) -> list[dict[str, Any]]:
    """What belongs to a text, best first, with the parts of its score. What holds no more is found by its words."""
    state, kinds, origins = _state(visit), _kinds(visit), _origins(visit)
    owners, commands = await _meant_owners(visit), visit.memory.commands
    if state is not State.ACTIVE:
        states = frozenset(State) if state is None else frozenset({state})
        facts = await commands.facts(owners, text, kinds=frozenset(kinds), states=states, limit=LOOKED)
        kept = (fact for fact in facts if fact.origin in origins)
        return [responses.memory(fact, visit.now) for fact in islice(kept, EACH)]
    narrowed = bool(visit.query("kind") or visit.query("origin"))
    found = (
        each
        for each in await commands.search(text, owners, LOOKED if narrowed else EACH)
        if each.memory.origin in origins
        and (each.memory.kind in kinds if isinstance(each.memory, Fact) else not visit.query("kind"))
    )
    return [
        responses.memory(each.memory, visit.now) | {"score": each.score, "why": dict(each.why)}
        for each in islice(found, EACH)
    ]


async def _meant_owners(visit: PageVisit) -> tuple[str, ...]:
    """Whose memories are meant, of those in quarantine where that is asked for."""
    owners = await visit.owners()
    return quarantined(owners) if visit.query("state") == ASIDE else owners


def _state(visit: PageVisit) -> State | None:
    """Those that are meant: what holds, unless another state is named; None for all."""
    value = visit.query("state")
    return None if value in ("all", ASIDE) else choice(value, "state", State) if value else State.ACTIVE


def _kinds(visit: PageVisit) -> frozenset[FactKind]:
    value = visit.query("kind")
    return frozenset({choice(value, "kind", FactKind)}) if value else frozenset(FactKind)


def _origins(visit: PageVisit) -> frozenset[Origin]:
    value = visit.query("origin")
    return frozenset({choice(value, "origin", Origin)}) if value else frozenset(Origin)


def passed_over(text: str) -> int:
    """How many come before the first that is shown, by ``?from=``."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise Refusal(422, "from is a number")
    return int(text)
