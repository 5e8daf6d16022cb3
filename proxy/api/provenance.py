"""Memories by where they came from: shown, and put into quarantine or taken out of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.fact import Origin
from memory.hooks.route_request import Fields, checked_text, choice
from memory.member import Asker
from memory.provenance import SelectedBy, SelectedMemories, Selection
from memory.scope import Scope
from memory.services.person.quarantine import Quarantine
from proxy.api import responses
from proxy.api.access import access
from proxy.api.params import MOST, body_of, memory_of, owners_of, scope_of, taught
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

FIELDS: dict[str, type] = {"from": dict, "origins": list, "since": str, "until": str, "sessions": list, "held": bool}

SHORTEST = 4
"""Characters of an id or a hash that name something."""


class SelectedJson(TypedDict):
    """The memories that came from there, what was ``derived`` from them, and the ids of all; the ``research`` and the
    ``approved`` candidates among them, the sessions that were ``ended`` for it, and how many exchanges are still to be
    learned from."""

    memories: list[responses.MemoryJson]
    derived: list[responses.MemoryJson]
    ids: list[str]
    research: tuple[str, ...]
    approved: tuple[str, ...]
    ended: tuple[str, ...]
    behind: int


class OfEverybody(TypedDict):
    """How much of everybody's is in quarantine."""

    of_all: int


InQuarantine = Annotated[dict[str, Any], Fields("InQuarantine", SelectedJson, OfEverybody)]


@routes.post("/api/provenance")
async def chosen(request: web.Request) -> Json[SelectedJson]:
    """``{"from": {"session": …}, "origins": […], "since": …, "until": …, "sessions": […]}``: the memories that came
    from there (``sessions`` are their ids here, whole) and what was derived from them; with ``held`` those of them that
    are in quarantine. ``behind`` is how many exchanges are still to be learned from."""
    body = await body_of(request, FIELDS)
    held = body.get("held", False)
    selection, shell = selection_of(body, empty=held), memory_of(request).quarantine
    behind = await shell.learned()
    return answer(_selection_json(await shell.chosen(selection, await owners_of(request), held), behind))


@routes.post("/api/quarantine")
async def quarantine(request: web.Request) -> Json[SelectedJson]:
    """The same body without ``held``: put into quarantine all that came from there, of what is theirs to change; with
    ``release`` take it out. What the exchanges teach that are ``behind`` follows when they are learned from. What who
    runs the server, or an owner of the organisation, has put there is released by such a one, but for what is there
    ``for_review`` by the person whose it is."""
    body = await body_of(request, {**FIELDS, "release": bool, "for_review": bool})
    release = body.get("release", False)
    selection, shell = selection_of(body, empty=release), memory_of(request).quarantine
    scope, asker = scope_of(request), access().asker
    if scope.project:
        taught(scope)
    if release:
        return answer(_selection_json(await released(shell, selection, scope, asker)))
    for_review = body.get("for_review", False)
    return answer(_selection_json(*await shell.quarantine(selection, scope, asker, for_review)))


async def released(shell: Quarantine, selection: Selection, scope: Scope, asker: Asker) -> SelectedMemories:
    """What was taken out of quarantine.

    Raises:
        Refusal: 403, when there is only what who may more has put there.
    """
    chosen = await shell.release(selection, scope, asker)
    if not chosen.ids and await shell.kept_from(selection, scope, asker):
        raise Refusal(403, "who runs the server, or an owner of the organisation, has put it there, and releases it")
    return chosen


@routes.get("/api/quarantine")
async def held(request: web.Request) -> Json[InQuarantine]:
    """What of the person's is in quarantine, and how much there is of everybody's."""
    memory = memory_of(request)
    mine = await memory.quarantine.chosen(Selection(), await owners_of(request), held=True)
    return answer({**_selection_json(mine), "of_all": await memory.journal.in_quarantine()})


def selection_of(data: dict[str, Any], empty: bool = False) -> Selection:
    """What a body chooses by.

    Raises:
        Refusal: when it is no selection, or one of everything where that is not meant.
    """
    by = {}
    for key, value in data.get("from", {}).items():
        if not isinstance(value, str):
            raise Refusal(422, f"from.{str(key)[:40]} is not a text")
        kind = choice(key, "from", SelectedBy)
        by[kind] = checked_text(value, f"from.{kind}", required=True)
        if kind in (SelectedBy.SESSION, SelectedBy.CREDENTIAL, SelectedBy.REQUEST) and len(by[kind]) < SHORTEST:
            raise Refusal(422, f"from.{kind} has fewer than {SHORTEST} characters, which could be anybody's")
    origins = frozenset(choice(each, "origins", Origin) for each in data.get("origins", ()))
    sessions = data.get("sessions", [])
    if len(sessions) > MOST or not all(isinstance(each, str) and SHORTEST <= len(each) <= 64 for each in sessions):
        raise Refusal(422, f"sessions are at most {MOST} ids of sessions, whole")
    selection = Selection(by, origins, _moment(data, "since"), _moment(data, "until"), frozenset(sessions))
    if selection.empty and not empty:
        raise Refusal(422, "say where from: from, origins, since, until or sessions")
    return selection


def _moment(data: dict[str, Any], key: str) -> datetime | None:
    if not data.get(key):
        return None
    try:
        at = datetime.fromisoformat(data[key])
    except ValueError:
        raise Refusal(422, f"{key} is no time, as 2026-03-04 or 2026-03-04T15:00:00+00:00") from None
    return at if at.tzinfo else at.astimezone()


def _selection_json(chosen: SelectedMemories, behind: int = 0) -> SelectedJson:
    now = datetime.now().astimezone()
    return {
        "memories": [responses.memory(each, now) for each in chosen.memories[:MOST]],
        "derived": [responses.memory(each, now) for each in chosen.derived[:MOST]],
        "ids": list(chosen.ids),
        "research": chosen.research,
        "approved": chosen.approved,
        "ended": chosen.ended,
        "behind": behind,
    }
