"""What was done to requests: which memories were added, why, how large, how long it took; why the newest is so."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from aiohttp import web

from memory.context.rank import Memory as RankedMemory
from memory.context.shed_savings import saved
from memory.fact import Sensitivity
from memory.parts import Memory
from memory.services.person.why import why as found_out
from memory.session import Receipt
from proxy.api import serializers
from proxy.api.params import memory_of, person_of, query_limit, scope_of
from proxy.api.responses import answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


@routes.get("/api/log")
async def log(request: web.Request) -> web.Response:
    """The newest requests, in short; those of one person where the query names a user or an org."""
    receipts = await memory_of(request).journal.receipts(query_limit(request, 20), person_of(request))
    return answer({"receipts": [serializers.line(receipt) for receipt in receipts]})


@routes.get("/api/log/{id}")
async def receipt(request: web.Request) -> web.Response:
    """One request, whole, by its receipt's id or a beginning of it that names one only."""
    id = request.match_info["id"]
    held = await memory_of(request).journal.receipt(id, person_of(request)) if 4 <= len(id) <= 64 else None
    if held is None:
        raise Refusal(404, f"there is no receipt {id[:64]!r}, or its beginning stands for several")
    return answer({**serializers.receipt(held), "seen": await _seen(memory_of(request), held)})


async def _seen(memory: Memory, held: Receipt) -> dict[str, Any] | None:
    """What came of a shed, by what the provider reported for this request and the session's next."""
    if held.shed is None:
        return None
    usages = [usage for usage in await memory.journal.usages(held.id) if usage is not None]
    prices = memory.windows.prices(held.model)
    return {
        "requests": [asdict(usage) for usage in usages],
        "saved": saved(held.shed, usages, prices) if prices and usages else None,
    }


@routes.get("/api/why")
async def why(request: web.Request) -> web.Response:
    """``?project=boat``: what was added to its newest request since its person last spoke, from where, and what was
    left out; without a project, that of the newest request of all. ``left`` is looked up now, as recall would."""
    memory, now = memory_of(request), datetime.now().astimezone()
    known = await found_out(memory.journal, memory.commands, scope_of(request), memory.settings.recall.tokens)
    scores = {each.memory: each for each in known.receipt.shown}

    def line(each: RankedMemory) -> dict[str, Any]:
        shown = scores.get(each.id)
        runtime = known.runtimes.get(each.session, "")
        why = {name: round(part, 4) for name, part in shown.why.items()} if shown else {}
        return serializers.memory(each, now) | {
            "runtime": runtime,
            "why": why,
            "tokens": shown.tokens if shown else None,
        }

    session, receipt = known.session, serializers.line(known.receipt)
    return answer(
        {
            "project": session.scope.project,
            "session": {"id": session.id, "runtime": session.runtime, "segment": session.segment},
            "asked": known.asked,
            "added": [line(each) for each in known.added],
            "research": known.research,
            "page": [line(each) for each in known.page],
            "earlier": known.earlier,
            "gone": known.gone,
            "nothing": known.nothing,
            "left": [
                line(each.memory) | {"fate": each.fate, "score": round(each.score, 4)}
                for each in known.left
                if each.memory.sensitivity is not Sensitivity.RESTRICTED
            ],
            "receipt": receipt,
        }
    )
