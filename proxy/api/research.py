"""What sub-agents found out: search, list, look at one with its trail, what is stale, and let go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from aiohttp import web

from memory.context.prior_findings import ChangedFiles
from memory.conversation import Part, ToolCall
from memory.fact import Sensitivity
from memory.research import Research, owners_of
from memory.services.tiers.content import whole
from proxy.api.params import memory_of, query_limit, query_text, scope_of
from proxy.api.params import owners_of as every_owner_of
from proxy.api.responses import answer
from proxy.api.serializers import HIDDEN

routes = web.RouteTableDef()

EXCERPT = 400
"""Characters of a report or a passage in a list."""


@routes.get("/api/research")
async def research(request: web.Request) -> web.Response:
    """``?text=…&limit=10``: the research that has to do with a text, best first; without a text the newest. Beside it
    how often it was used again, and what that saved."""
    memory, owners, limit = memory_of(request), await owners_meant(request), query_limit(request, 10)
    text = query_text(request, "text")
    if text:
        hits = await memory.research_library.search(text, owners, limit)
        found = [
            line(hit.research)
            | {"score": hit.score, "passage": _shown(hit.passage.text, hit.passage.sensitivity) if hit.passage else ""}
            for hit in hits
        ]
    else:
        found = [line(each) for each in await memory.research_library.newest(owners, limit)]
    saved = await memory.research_library.saved(await memory.research_library.newest(owners, 1000))
    return answer({"research": found, "saved": asdict(saved)})


@routes.get("/api/research/stale")
async def stale(request: web.Request) -> web.Response:
    """The research of which files have changed since, or that is too old to be given by itself; ``missed`` counts the
    files that were too many to be looked into at once."""
    stale = await memory_of(request).research_library.stale(await owners_meant(request))
    found = [line(each) | {"changed": list(changed.files)} for each, changed in stale.found]
    return answer({"research": found, "looked": stale.looked, "missed": stale.missed})


@routes.get("/api/research/{id}")
async def one(request: web.Request) -> web.Response:
    """``?trail=1``: one research whole, by its handle, its id or the beginning of one; with the messages of its trail,
    every result at full length."""
    library = memory_of(request).research_library
    found = await library.named(request.match_info["id"][:100], await owners_meant(request))
    fields = line(found) | {
        "question": found.question,
        "reports": list(found.reports),
        "overview": found.overview,
        "sources": [asdict(source) for source in found.sources],
        "changed": list((await library.changed(found)).files),
        "uses": [asdict(use) for use in await library.uses([found])],
    }
    if query_text(request, "trail") in ("1", "true", "yes"):
        fields["trail"] = [
            {"role": message.role.value, "parts": [part_text(part) for part in message.parts]}
            for message in await library.trail(found)
        ]
    return answer(fields)


@routes.delete("/api/research/{id}")
async def forget(request: web.Request) -> web.Response:
    """Delete a research everywhere: its question, its report, its trail, and where it was given."""
    memory = memory_of(request)
    found = await memory.research_library.named(request.match_info["id"][:100], await owners_meant(request))
    messages = await memory.research_worker.forget(found)
    memory.session_matcher.forget()
    return answer({"forgotten": found.id, "handle": found.handle, "messages": messages})


def line(found: Research, changed: ChangedFiles | None = None) -> dict[str, Any]:
    """A research in short."""
    return {
        "id": found.id,
        "handle": found.handle,
        "title": found.title,
        "line": found.line,
        "owner": found.owner,
        "session": found.session,
        "parent": found.parent,
        "claimed_parent": found.claimed,
        "runtime": found.runtime,
        "model": found.model,
        "tool": found.tool,
        "agent": found.agent,
        "commit": found.commit,
        "began": found.began,
        "ended": found.ended,
        "seconds": round(found.seconds, 3),
        "requests": found.requests,
        "tokens": found.tokens,
        "written": found.written,
        "outcome": found.outcome.value,
        "delivery": found.delivery.value,
        "messages": len(found.trail),
        "sources": len(found.sources),
    }


async def owners_meant(request: web.Request) -> Sequence[str]:
    """The owners of research that are meant: of one project, or of all that is the person's."""
    scope = scope_of(request)
    if scope.project:
        return owners_of(scope)
    mine = set(await every_owner_of(request)) | set(owners_of(scope))
    return [owner for owner in await memory_of(request).research_library.owners() if owner in mine]


def part_text(part: Part) -> str:
    """A part of a trail: of a call also which tool it was."""
    return f"{part.name} {part.arguments}" if isinstance(part, ToolCall) else whole(part)


def _shown(text: str, sensitivity: Sensitivity) -> str:
    return HIDDEN if sensitivity is Sensitivity.RESTRICTED else text[:EXCERPT]
