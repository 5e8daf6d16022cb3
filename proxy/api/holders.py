"""Who has memories here, for whoever finds none under a name or in a project."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from aiohttp import web

from memory.scope import Layer, Scope, place_of
from proxy.api.access import access
from proxy.api.params import memory_of, scope_of
from proxy.api.responses import Json, answer

routes = web.RouteTableDef()


class UserMemories(TypedDict):
    """How many memories somebody has of their own, in all their projects."""

    org: str | None
    user: str
    memories: int


class Holders(TypedDict):
    """How many memories the person who is meant has of their own (``mine``), by project with the most first
    (``projects``), and how many others have, as far as the asker may see theirs: those with the most first."""

    org: str | None
    user: str
    mine: int
    projects: dict[str, int]
    others: list[UserMemories]


@routes.get("/api/holders")
async def holders(request: web.Request) -> Json[Holders]:
    """Who has memories here, and how many."""
    meant, by = scope_of(request), access()
    counts, projects = Counter[tuple[str | None, str]](), Counter[str]()
    for owner, count in (await memory_of(request).journal.memories_by_owner()).items():
        place, layer = place_of(owner) or (Scope(), Layer.ORG)
        if layer not in (Layer.USER, Layer.USER_PROJECT):
            continue
        person = (place.org, place.user or "")
        counts[person] += count
        if person == (meant.org, meant.user) and place.project is not None:
            projects[place.project] += count
    mine = counts.pop((meant.org, meant.user or ""), 0)
    others = [UserMemories(org=org, user=user, memories=count) for (org, user), count in counts.most_common()]
    return answer(
        {
            "org": meant.org,
            "user": meant.user or "",
            "mine": mine,
            "projects": dict(projects.most_common()),
            "others": others if by.user is None else [],
        }
    )
