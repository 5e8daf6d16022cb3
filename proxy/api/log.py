"""What was done to requests: which memories were added, why, how large, how long it took; why the newest is so."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.context.rank import Memory as RankedMemory
from memory.context.shed_savings import saved
from memory.conversation import Usage
from memory.fact import Sensitivity
from memory.hooks.answer_fields import Fields
from memory.parts import Memory
from memory.services.person.why import why as found_out
from memory.session import Receipt
from proxy.api import serializers
from proxy.api.params import memory_of, person_of, query_limit, scope_of
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


class ReceiptsList(TypedDict):
    """The newest requests, in short."""

    receipts: list[serializers.ReceiptLine]


class ShedSeen(TypedDict):
    """What came of a shed: the tokens that the provider reported for this request and the session's next, and the US
    dollars that it has saved, None where they cannot be told."""

    requests: list[Usage]
    saved: float | None


class SeenAfter(TypedDict):
    """What came of the request's shed; None where there was none."""

    seen: ShedSeen | None


ReceiptSeen = Annotated[dict[str, Any], Fields("ReceiptSeen", serializers.ReceiptJson, SeenAfter)]


class AddedNow(TypedDict):
    """The client program in which a memory was learned, the parts of its score, and its size in tokens."""

    runtime: str
    why: dict[str, float]
    tokens: int | None


class LeftOut(TypedDict):
    """Why recall leaves a memory out, and its score."""

    fate: str
    score: float


AddedMemory = Annotated[dict[str, Any], Fields("AddedMemory", serializers.MemoryJson, AddedNow)]
LeftMemory = Annotated[dict[str, Any], Fields("LeftMemory", AddedMemory, LeftOut)]


class WhySession(TypedDict):
    """The session that a request belongs to."""

    id: str
    runtime: str
    segment: int


class Why(TypedDict):
    """What was ``asked`` and what was ``added`` to it, from the ``research`` of sub-agents too; what the session's
    ``page`` began with, how many memories came ``earlier``, how many are ``gone`` since, why there is ``nothing``, and
    what would be ``left`` out."""

    project: str | None
    session: WhySession
    asked: str
    added: list[AddedMemory]
    research: int
    page: list[AddedMemory]
    earlier: int
    gone: int
    nothing: str
    left: list[LeftMemory]
    receipt: serializers.ReceiptLine


@routes.get("/api/log")
async def log(request: web.Request) -> Json[ReceiptsList]:
    """The newest requests, in short; those of one person where the query names a user or an org."""
    receipts = await memory_of(request).journal.receipts(query_limit(request, 20), person_of(request))
    return answer({"receipts": [serializers.line(receipt) for receipt in receipts]})


@routes.get("/api/log/{id}")
async def receipt(request: web.Request) -> Json[ReceiptSeen]:
    """One request, whole, by its receipt's id or a beginning of it that names one only."""
    id = request.match_info["id"]
    held = await memory_of(request).journal.receipt(id, person_of(request)) if 4 <= len(id) <= 64 else None
    if held is None:
        raise Refusal(404, f"there is no receipt {id[:64]!r}, or its beginning stands for several")
    return answer({**serializers.receipt(held), "seen": await _seen(memory_of(request), held)})


async def _seen(memory: Memory, held: Receipt) -> ShedSeen | None:
    """What came of a shed, by what the provider reported for this request and the session's next."""
    if held.shed is None:
        return None
    usages = [usage for usage in await memory.journal.usages(held.id) if usage is not None]
    prices = memory.windows.prices(held.model)
    return {
        "requests": usages,
        "saved": saved(held.shed, usages, prices) if prices and usages else None,
    }


@routes.get("/api/why")
async def why(request: web.Request) -> Json[Why]:
    """``?project=boat``: what was added to its newest request since its person last spoke, from where, and what was
    left out; without a project, that of the newest request of all. ``left`` is looked up now, as recall would."""
    memory, now = memory_of(request), datetime.now().astimezone()
    known = await found_out(memory.journal, memory.commands, scope_of(request), memory.settings.recall.tokens)
    scores = {each.memory: each for each in known.receipt.shown}

    def line(each: RankedMemory) -> AddedMemory:
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
