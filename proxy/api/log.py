"""What was done to requests: which memories were added, why, how large, how long it took; why the newest is so.

The audit log: who asked what of our own endpoints.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.context.budget import saved
from memory.context.rank import Memory as RankedMemory
from memory.conversation import Usage
from memory.fact import Sensitivity
from memory.hooks.route_request import Fields
from memory.parts import Memory
from memory.provenance import AuditEntry
from memory.scope import Scope
from memory.services.person.why import why as found_out
from memory.session import Receipt
from proxy.api import responses
from proxy.api.params import id_of, memory_of, owners_of, person_of, query_limit, query_text, scope_of
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

USES = 20
"""Requests that are told of one memory."""


class ReceiptsList(TypedDict):
    """The newest requests, in short."""

    receipts: list[responses.ReceiptLine]


class ShedSeen(TypedDict):
    """What came of a shed: the tokens that the provider reported for this request and the session's next, and the US
    dollars that it has saved, None where they cannot be told."""

    requests: list[Usage]
    saved: float | None


class SeenAfter(TypedDict):
    """What came of the request's shed; None where there was none."""

    seen: ShedSeen | None


ReceiptSeen = Annotated[dict[str, Any], Fields("ReceiptSeen", responses.ReceiptJson, SeenAfter)]


class AddedNow(TypedDict):
    """The client program in which a memory was learned, the parts of its score, and its size in tokens."""

    runtime: str
    why: dict[str, float]
    tokens: int | None


class LeftOut(TypedDict):
    """Why recall leaves a memory out, and its score."""

    fate: str
    score: float


AddedMemory = Annotated[dict[str, Any], Fields("AddedMemory", responses.MemoryJson, AddedNow)]
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
    receipt: responses.ReceiptLine


class ShownIn(TypedDict):
    """How well a memory fitted the request that it was added to, and the parts of that."""

    score: float
    why: dict[str, float]


UseOfMemory = Annotated[dict[str, Any], Fields("UseOfMemory", responses.ReceiptLine, ShownIn)]


class UsesFound(TypedDict):
    """The newest requests that a memory was added to, and how many sessions began with a ``page`` on which it stood."""

    id: str
    requests: list[UseOfMemory]
    pages: int


@routes.get("/api/log")
async def log(request: web.Request) -> Json[ReceiptsList]:
    """``?limit=20&session=ID``: the newest requests, in short; those of one person where the query names a user or an
    org, and of one session where it names one."""
    journal, person, limit = memory_of(request).journal, person_of(request), query_limit(request, 20)
    if "session" in request.query:
        id = query_text(request, "session")
        session = (await journal.sessions_by_id([id])).get(id)
        whose = (person.org, person.user) if person is not None else None
        if session is None or whose not in (None, (session.scope.org, session.scope.user)):
            raise Refusal(404, f"there is no session {id[:64]!r}")
        receipts = await journal.receipts_of_session(id, session.scope, limit)
    else:
        receipts = await journal.receipts(limit, person)
    return answer({"receipts": [responses.line(receipt) for receipt in receipts]})


@routes.get("/api/log/{id}")
async def receipt(request: web.Request) -> Json[ReceiptSeen]:
    """One request, whole, by its receipt's id or a beginning of it that names one only."""
    id = request.match_info["id"]
    held = await memory_of(request).journal.receipt(id, person_of(request)) if 4 <= len(id) <= 64 else None
    if held is None:
        raise Refusal(404, f"there is no receipt {id[:64]!r}, or its beginning stands for several")
    return answer({**responses.receipt(held), "seen": await _reported_after_shed(memory_of(request), held)})


async def _reported_after_shed(memory: Memory, held: Receipt) -> ShedSeen | None:
    """What came of a shed, by what the provider reported for this request and the session's next."""
    if held.shed is None:
        return None
    usages = [usage for usage in await memory.journal.usages(held.id) if usage is not None]
    prices = memory.windows.prices(held.model)
    return {
        "requests": usages,
        "saved": saved(held.shed, usages, prices) if prices and usages else None,
    }


@routes.get("/api/facts/{id}/uses")
async def uses(request: web.Request) -> Json[UsesFound]:
    """``?limit=20``: where a memory was used: the newest of the person's requests to which it was added, and on how
    many sessions' pages it stood."""
    memory = memory_of(request)
    held = await memory.commands.memory(id_of(request), await owners_of(request))
    receipts, pages = await uses_of(memory, held.id, scope_of(request), query_limit(request, USES))
    return answer(
        {
            "id": held.id,
            "requests": [
                responses.line(receipt) | {"score": shown.score, "why": dict(shown.why)}
                for receipt in receipts
                for shown in receipt.shown
                if shown.memory == held.id
            ],
            "pages": pages,
        }
    )


async def uses_of(memory: Memory, id: str, of: Scope, limit: int) -> tuple[list[Receipt], int]:
    """The newest of a person's requests to which a memory was added, and how many sessions began with a page on which
    it stood."""
    return await memory.journal.receipts_showing(id, of, limit), await memory.journal.pages_showing(id, of)


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
        return responses.memory(each, now) | {
            "runtime": runtime,
            "why": why,
            "tokens": shown.tokens if shown else None,
        }

    session, receipt = known.session, responses.line(known.receipt)
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


class Audited(TypedDict):
    """The newest entries of the audit log."""

    audit: list[AuditEntry]


@routes.get("/api/audit")
async def audit(request: web.Request) -> Json[Audited]:
    """``?limit=50&who=…&what=…``: the newest first."""
    who, what = query_text(request, "who"), query_text(request, "what")
    found = await memory_of(request).journal.audited(query_limit(request, 50), who, what)
    return answer({"audit": found})
