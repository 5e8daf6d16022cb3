"""Everything that memory holds of a person, to be taken elsewhere, and what another machine of theirs remembers."""

from __future__ import annotations

from typing import Any, TypedDict

import orjson
from aiohttp import web

from memory.provenance import quarantined
from memory.services.transfer.exporting import Inventory
from memory.services.transfer.syncing import Synced
from proxy.api.params import (
    MAINTAINED,
    MOST,
    as_told,
    body_of,
    is_maintained,
    memory_of,
    owners_of,
    query_limit,
    query_text,
    scope_of,
)
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


class MemoriesHere(TypedDict):
    """The ids of those that are here."""

    there: list[str]


class ForgottenHere(TypedDict):
    """The ids of those that were forgotten here."""

    forgotten: list[str]


class Unsettled(TypedDict):
    """How many pairs of facts were noted."""

    pairs: int


@routes.get("/api/export")
async def inventory(request: web.Request) -> Json[Inventory]:
    """The owners of memories, what is pinned, the pages, and the number of tombstones."""
    inventory = await memory_of(request).exporter.inventory(scope_of(request), await owners_of(request))
    return answer(inventory)


@routes.get("/api/export/{sort}")
async def records(request: web.Request) -> web.Response:
    """``?owner=…&after=ID&limit=1000``: the next facts or passages of an owner, a JSON object a line, in the order of
    their ids. Fewer than the limit are the last ones; else ask again with the last id."""
    limit = query_limit(request, 1000)
    owner, after = query_text(request, "owner", required=True), query_text(request, "after")
    exporting, owners = memory_of(request).exporter, await owners_of(request)
    found = await exporting.records(request.match_info["sort"], owner, owners, after, limit)
    body = b"".join(orjson.dumps(record) + b"\n" for record in found)
    return web.Response(body=body, content_type="application/x-ndjson", headers={"Cache-Control": "no-store"})


@routes.post("/api/sync")
async def take(request: web.Request) -> Json[Synced]:
    """``{"new": […], "changed": […], "compare": true}``: records of another machine. What is told: how many were taken,
    the ids of those that were forgotten here, and (``compare``) which facts of this machine contradict new ones."""
    said = await body_of(request, {"new": list, "changed": list, "compare": bool})
    scope, told = scope_of(request), {key: _records(said, key) for key in ("new", "changed")}
    new, changed = (
        [as_told(each) for each in told[key] if not is_maintained(each, scope)] for key in ("new", "changed")
    )
    done = await memory_of(request).syncing.take(new, changed, scope, said.get("compare", False))
    done.faults += [MAINTAINED] * (len(told["new"]) + len(told["changed"]) - len(new) - len(changed))
    return answer(done)


@routes.post("/api/sync/there")
async def there(request: web.Request) -> Json[MemoriesHere]:
    """``{"ids": […]}``: which of these memories the person has here, in quarantine too."""
    ids = _ids((await body_of(request, {"ids": list})).get("ids", []), "ids")
    memory = memory_of(request)
    owners = await memory.commands.everything_of(scope_of(request))
    return answer({"there": await memory.syncing.there(ids, (*owners, *quarantined(owners)))})


@routes.post("/api/sync/forgotten")
async def forgotten(request: web.Request) -> Json[ForgottenHere]:
    """``{"records": […]}``: which of these the person has forgotten here, by their ids."""
    records = _records(await body_of(request, {"records": list}), "records")
    return answer({"forgotten": await memory_of(request).syncing.forgotten(records, scope_of(request))})


@routes.post("/api/sync/unsettled")
async def unsettled(request: web.Request) -> Json[Unsettled]:
    """``{"rivals": {ID: [ID, …]}}``: facts that may not hold together, noted on both sides."""
    rivals = (await body_of(request, {"rivals": dict})).get("rivals", {})
    if len(rivals) > MOST:
        raise Refusal(422, f"rivals has {len(rivals)} facts; {MOST} are taken at once")
    checked = {id: _ids(others, "rivals") for id, others in rivals.items()}
    return answer({"pairs": await memory_of(request).syncing.unsettle(checked, await owners_of(request))})


def _records(said: dict[str, Any], key: str) -> list[dict[str, Any]]:
    records = said.get(key, [])
    if len(records) > MOST or not all(isinstance(each, dict) and isinstance(each.get("id"), str) for each in records):
        raise Refusal(422, f"{key} is a list of at most {MOST} records, each with its id")
    return list(records)


def _ids(said: object, key: str) -> list[str]:
    if not isinstance(said, list) or len(said) > MOST or not all(isinstance(each, str) and each for each in said):
        raise Refusal(422, f"{key} names at most {MOST} ids")
    return said
