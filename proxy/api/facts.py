"""Facts: list them, look at one, pin it, delete it, and write down a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

from aiohttp import web

from memory.fact import Fact, FactKind, Origin, State
from memory.hooks.route_request import Fields, checked_text, choice
from memory.parts import Memory
from memory.provenance import MemorySource, quarantined
from memory.services.person.fact_decisions import FactDecision, FactDecisionKind
from proxy.api import responses
from proxy.api.forget import Forgetting, forgotten_json
from proxy.api.params import (
    body_of,
    id_of,
    memory_of,
    owners_of,
    query_choices,
    query_limit,
    query_text,
    scope_of,
    taught,
)
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


class FactsFound(TypedDict):
    """Facts, the newest first."""

    facts: list[responses.MemoryJson]


class DraftsFound(TypedDict):
    """Drafts that wait for a person, and those that were put off, the newest first."""

    drafts: list[responses.MemoryJson]
    deferred: list[responses.MemoryJson]


class FactDecided(TypedDict):
    """A fact as it stands, and what was decided of it last: ``confirmed``, ``dismissed`` as of the moment, ``refuted``
    as wrong, or ``unlearned`` as learnt by mistake."""

    memory: responses.MemoryJson
    decision: FactDecisionKind
    at: datetime


class FactsDecided(TypedDict):
    """Decisions about facts that can be taken back, the newest first."""

    decisions: list[FactDecided]


Becomes = Literal["held", "kept", "ended", "contradicted"]


class FactChange(TypedDict):
    """What becomes of a fact: it is ``held`` from then on, is ``kept``, is ``ended``, or is ``contradicted`` by one
    that holds, too."""

    memory: responses.MemoryJson
    becomes: Becomes


class WouldConfirm(TypedDict):
    """What a confirmation would change, the fact itself first."""

    changes: list[FactChange]


class CameFrom(TypedDict):
    """Where a memory came from."""

    came_from: MemorySource


SourcedMemory = Annotated[dict[str, Any], Fields("SourcedMemory", responses.MemoryJson, CameFrom)]


@routes.get("/api/facts")
async def facts(request: web.Request) -> Json[FactsFound]:
    """``?text=…&kind=…&state=active&origin=…&limit=100``: facts, the newest first."""
    text = query_text(request, "text")
    states = query_choices(request, "state", State) if "state" in request.query else frozenset({State.ACTIVE})
    kinds, origins = query_choices(request, "kind", FactKind), query_choices(request, "origin", Origin)
    limit, owners = query_limit(request, 100), await owners_of(request)
    commands = memory_of(request).commands
    found = await commands.facts(owners, text, kinds=kinds, states=states, origins=origins, limit=limit)
    now = datetime.now().astimezone()
    return answer({"facts": [responses.memory(fact, now) for fact in found]})


@routes.get("/api/drafts")
async def drafts(request: web.Request) -> Json[DraftsFound]:
    """What was read with doubt, ``?limit=100``, and is shown to no model before somebody says that it holds."""
    waiting, deferred = await drafts_of(memory_of(request), await owners_of(request), query_limit(request, 100))
    now = datetime.now().astimezone()
    return answer(
        {
            "drafts": [responses.memory(fact, now) for fact in waiting],
            "deferred": [responses.memory(fact, now) for fact in deferred],
        }
    )


async def drafts_of(memory: Memory, owners: Sequence[str], limit: int) -> tuple[list[Fact], list[Fact]]:
    """The drafts of some owners that wait, ``limit`` at most, and those that were put off; the newest first."""
    ids = await memory.fact_reviser.deferred()
    put_off = await memory.journal.facts(sorted(ids), owners)
    deferred = [fact for fact in put_off if fact.state is State.DRAFT]
    drafts = await memory.journal.listed(owners, {State.DRAFT}, limit=limit + len(deferred))
    newest = sorted(deferred, key=lambda fact: fact.recorded_at, reverse=True)
    return [fact for fact in drafts if fact.id not in ids][:limit], newest


@routes.get("/api/decisions")
async def decisions(request: web.Request) -> Json[FactsDecided]:
    """What was decided of facts and can be taken back, ``?limit=100``."""
    found = await memory_of(request).fact_reviser.decisions(await owners_of(request), query_limit(request, 100))
    return answer({"decisions": decisions_of(found, datetime.now().astimezone())})


def decisions_of(found: Iterable[tuple[Fact, FactDecision]], now: datetime) -> list[FactDecided]:
    """Facts, and what was decided of them."""
    return [{"memory": responses.memory(fact, now), "decision": each.kind, "at": each.at} for fact, each in found]


@routes.get("/api/facts/{id}")
async def fact(request: web.Request) -> Json[SourcedMemory]:
    """One fact or passage with everything known of it, by its id or the beginning of it."""
    mine = await owners_of(request)
    held = await memory_of(request).commands.memory(id_of(request), (*mine, *quarantined(mine)))
    came = await memory_of(request).quarantine.source_of(held)
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True) | {"came_from": came})


@routes.patch("/api/facts/{id}")
async def pin(request: web.Request) -> Json[responses.MemoryJson]:
    """``{"pinned": true}``: pin or unpin a fact."""
    body = await body_of(request, {"pinned": bool})
    if "pinned" not in body:
        raise Refusal(422, "pinned is missing; it is what can be changed")
    held = await memory_of(request).commands.pin(id_of(request), await owners_of(request), body["pinned"])
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.delete("/api/facts/{id}")
async def delete(request: web.Request) -> Json[Forgetting]:
    """Forget one memory, everywhere."""
    gone = await memory_of(request).commands.forget([id_of(request)], await owners_of(request))
    return answer(forgotten_json(gone))


@routes.post("/api/facts/{id}/confirm")
async def confirm(request: web.Request) -> Json[responses.MemoryJson]:
    """Confirm that a fact still holds."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.confirm(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.get("/api/facts/{id}/confirm")
async def would_confirm(request: web.Request) -> Json[WouldConfirm]:
    """What confirming a fact would change: others that it ends, or contradicts from then on."""
    pairs = await memory_of(request).fact_reviser.would_confirm(id_of(request), await owners_of(request))
    return answer({"changes": changes_of(pairs, datetime.now().astimezone())})


def changes_of(pairs: Iterable[tuple[Fact, Fact]], now: datetime) -> list[FactChange]:
    """Facts as they are, and what would become of them."""
    return [{"memory": responses.memory(before, now), "becomes": _becomes(before, after)} for before, after in pairs]


def _becomes(before: Fact, after: Fact) -> Becomes:
    if after.state is not State.ACTIVE:
        return "ended"
    if before.state is not State.ACTIVE:
        return "held"
    return "contradicted" if set(after.contradicts) - set(before.contradicts) else "kept"


@routes.post("/api/facts/{id}/dismiss")
async def dismiss(request: web.Request) -> Json[responses.MemoryJson]:
    """Dismiss a draft: it was of the moment."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.dismiss(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/facts/{id}/defer")
async def defer(request: web.Request) -> Json[responses.MemoryJson]:
    """Put a draft off: it is not asked about for a day."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.defer(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/facts/{id}/refute")
async def refute(request: web.Request) -> Json[responses.MemoryJson]:
    """Say that a fact is wrong and nothing takes its place: it ends, and stays in its history."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.refute(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/facts/{id}/unlearn")
async def unlearn(request: web.Request) -> Json[responses.MemoryJson]:
    """Take back that a fact was learnt: it is put away, and what it had ended holds again."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.unlearn(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/facts/{id}/take-back")
async def take_back(request: web.Request) -> Json[responses.MemoryJson]:
    """Undo what was decided last of a fact (confirm, dismiss, defer, refute, unlearn), for as long as nothing else has
    changed it."""
    await body_of(request, {})
    held = await memory_of(request).fact_reviser.take_back(id_of(request), await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/facts/{id}/update")
async def update(request: web.Request) -> Json[responses.MemoryJson]:
    """``{"text": …}``: replace a fact by what holds now; answers the new fact."""
    body = await body_of(request, {"text": str})
    text = checked_text(body.get("text", ""), "text", required=True)
    held = await memory_of(request).fact_reviser.update(id_of(request), text, await owners_of(request))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True))


@routes.post("/api/remember")
async def remember(request: web.Request) -> Json[responses.MemoryJson]:
    """``{"text": …, "kind": …, "pinned": …}``: add a fact in the person's own words; it can be found at once."""
    body = await body_of(request, {"text": str, "kind": str, "pinned": bool})
    text = checked_text(body.get("text", ""), "text", required=True)
    kind = choice(body["kind"], "kind", FactKind) if "kind" in body else None
    commands = memory_of(request).commands
    held = await commands.remember(text, taught(scope_of(request)), kind=kind, pinned=body.get("pinned", False))
    return answer(responses.memory(held, datetime.now().astimezone(), by_id=True), 201)
