"""Why the newest request of a folder's project stands as it does."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aiohttp import web

from memory.context.rank import Memory
from memory.fact import Sensitivity
from memory.services.person.why import why as found_out
from proxy.api import serializers
from proxy.api.params import memory_of, scope_of
from proxy.api.responses import answer

routes = web.RouteTableDef()


@routes.get("/api/why")
async def why(request: web.Request) -> web.Response:
    """``?project=boat``: what was added to its newest request since its person last spoke, from where, and what was
    left out; without a project, that of the newest request of all. ``left`` is looked up now, as recall would."""
    memory, now = memory_of(request), datetime.now().astimezone()
    known = await found_out(memory.journal, memory.commands, scope_of(request), memory.settings.recall.tokens)
    scores = {each.memory: each for each in known.receipt.shown}

    def line(each: Memory) -> dict[str, Any]:
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
