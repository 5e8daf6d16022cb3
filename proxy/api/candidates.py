"""Candidates: list them, look at one, approve, reject or defer it; and let a fact rise."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from aiohttp import web

from memory.candidate import Candidate, CandidateState
from memory.fact import Fact
from memory.hooks.params import checked_text, choice
from memory.scope import Layer
from memory.services.approval.decisions import Approval
from proxy.api import serializers
from proxy.api.params import body_of, id_of, memory_of, owners_of, query_choices
from proxy.api.responses import answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

MAX_TEXT_CHARS = 200_000
"""Characters of what is approved: a skill is a whole file."""


@routes.get("/api/candidates")
async def listed(request: web.Request) -> web.Response:
    """``?state=waiting``: what a person may approve, the most evidence first; ``all``: also what is decided."""
    states = query_choices(request, "state", CandidateState) if "state" in request.query else {CandidateState.WAITING}
    found = await memory_of(request).approvals.candidates(await owners_of(request), states)
    return answer({"candidates": [candidate_json(each) for each in found]})


@routes.get("/api/candidates/{id}")
async def one(request: web.Request) -> web.Response:
    """One candidate with the facts behind it."""
    approving = memory_of(request).approvals
    held = await approving.candidate(id_of(request), await owners_of(request))
    now = datetime.now().astimezone()
    evidence = [serializers.memory(fact, now) for fact in await approving.evidence(held)]
    return answer(candidate_json(held) | {"evidence": evidence})


@routes.post("/api/candidates/{id}/approve")
async def approve(request: web.Request) -> web.Response:
    """``{"text": …, "to": "project", "confirm": …}``, all optional. Without ``confirm`` it answers what would be
    written, as diffs, and a mark; with that mark as ``confirm`` it writes exactly this."""
    body = await body_of(request, {"text": str, "to": str, "confirm": str})
    text = checked_text(body["text"], "text", required=True, longest=MAX_TEXT_CHARS) if "text" in body else None
    layer = shared_layer(body["to"]) if "to" in body else None
    done = await memory_of(request).approvals.approve(
        id_of(request), await owners_of(request), text=text, layer=layer, confirm=body.get("confirm")
    )
    return answer(_approval(done))


@routes.post("/api/candidates/{id}/undo")
async def undo(request: web.Request) -> web.Response:
    """``{"confirm": …}``: take an approval back; without the mark it answers what would be written."""
    body = await body_of(request, {"confirm": str})
    done = await memory_of(request).approvals.approve(
        id_of(request), await owners_of(request), confirm=body.get("confirm"), undo=True
    )
    return answer(_approval(done))


@routes.post("/api/candidates/{id}/reject")
async def reject(request: web.Request) -> web.Response:
    """``{"why": …}``: it comes back only when there is much more for it."""
    body = await body_of(request, {"why": str})
    why = checked_text(body.get("why", ""), "why")
    held = await memory_of(request).approvals.decide(
        id_of(request), await owners_of(request), CandidateState.REJECTED, why
    )
    return answer(candidate_json(held))


@routes.post("/api/candidates/{id}/defer")
async def defer(request: web.Request) -> web.Response:
    """Decide later: it waits again when another session supports it."""
    await body_of(request, {})
    held = await memory_of(request).approvals.decide(id_of(request), await owners_of(request), CandidateState.DEFERRED)
    return answer(candidate_json(held))


@routes.post("/api/facts/{id}/promote")
async def promote(request: web.Request) -> web.Response:
    """``{"to": "user"}``: let a fact of one project hold in all of its user's; ``project`` and ``org`` put it forward
    as a candidate."""
    body = await body_of(request, {"to": str})
    to = choice(body.get("to"), "to", Layer)
    memory = memory_of(request)
    held = await memory.commands.memory(id_of(request), await owners_of(request))
    if not isinstance(held, Fact):
        raise Refusal(422, "that is a passage of a talk; only facts can rise")
    risen = await memory.approvals.promote(held, to)
    if isinstance(risen, Fact):
        return answer({"fact": serializers.memory(risen, datetime.now().astimezone(), by_id=True)})
    return answer({"candidate": candidate_json(risen)}, 201)


def candidate_json(held: Candidate) -> dict[str, Any]:
    """A candidate as it is told."""
    return asdict(held) | {"why": held.why}


def _approval(done: Approval) -> dict[str, Any]:
    files = [{"file": str(each.file), "diff": each.diff} for each in done.files]
    approval = {"candidate": candidate_json(done.candidate), "files": files, "notes": list(done.notes)}
    return approval | {"done": done.done} | ({} if done.done else {"confirm": done.confirm})


def shared_layer(text: str) -> Layer:
    """For whom something is approved.

    Raises:
        Refusal: 422, when that is nobody for whom something can be.
    """
    layer = choice(text, "to", Layer)
    if layer not in (Layer.PROJECT, Layer.ORG):
        raise Refusal(422, f"to is {text[:40]!r}; what is approved is for a project or an org")
    return layer
