"""Search memory as recall would, for a person to look at.

Names, and which others stand beside them in what is remembered.

Memory's tools, for programs that reach them by themselves: ``palimpsest mcp``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Annotated, Any, Final, TypedDict

from aiohttp import web

from memory.context.explain import SearchRound
from memory.context.temporal_questions import end_of
from memory.fact import Origin, Sensitivity
from memory.hooks.route_request import Fields
from memory.ports import Journal
from memory.services.tool_calls import ToolCaller
from memory.session import Mode
from proxy.api import responses
from proxy.api.access import access
from proxy.api.params import body_of, memory_of, owners_of, query_limit, query_text, scope_of
from proxy.api.responses import Json, answer
from proxy.edge import EDGE
from proxy.errors import Refusal

routes = web.RouteTableDef()


class Match(TypedDict):
    """How well a memory belongs to what was asked, and the parts of that."""

    score: float
    why: dict[str, float]


class MatchFate(TypedDict):
    """What recall does with a memory: ``shown``, or why not."""

    fate: str


FoundMemory = Annotated[dict[str, Any], Fields("FoundMemory", responses.MemoryJson, Match)]
LookedAt = Annotated[dict[str, Any], Fields("LookedAt", FoundMemory, MatchFate)]


class SearchResults(TypedDict):
    """What belongs to what was asked, best first."""

    results: list[FoundMemory]


class Explanation(TypedDict):
    """What recall asks, what it looks at, the ``text`` that it would add, of so many ``tokens`` at most, and how long
    its steps took, in milliseconds."""

    asked: list[SearchRound]
    looked: list[LookedAt]
    text: str
    tokens: int
    steps: Mapping[str, float]


class ExplainedSearch(TypedDict):
    """What recall would do with a message."""

    explained: Explanation


@routes.get("/api/search")
async def search(request: web.Request) -> Json[SearchResults | ExplainedSearch]:
    """``?text=…&limit=10``: the memories that belong to it, best first, each with the parts of its score. With
    ``as_of=2026-03-04`` (a month, a year, or a time) what was known at its end. With ``explain=1`` what recall would do
    with it as a message: what it asks, what each leg says of each candidate, and what is cut and why."""
    text = query_text(request, "text", required=True)
    if query_text(request, "explain") in ("1", "true", "yes"):
        return await _explained(request, text)
    limit, now = query_limit(request, 10), datetime.now().astimezone()
    as_of = _moment(query_text(request, "as_of"), now)
    found = await memory_of(request).commands.search(text, await owners_of(request), limit, as_of)
    results = [responses.memory(each.memory, now) | {"score": round(each.score, 4), "why": each.why} for each in found]
    return answer({"results": results})


async def _explained(request: web.Request, text: str) -> Json[SearchResults | ExplainedSearch]:
    now, tokens = datetime.now().astimezone(), memory_of(request).settings.recall.tokens
    why = await memory_of(request).commands.explain(text, await owners_of(request), tokens)
    looked = [
        responses.memory(each.memory, now)
        | {
            "score": round(each.score, 4),
            "why": {name: round(part, 4) for name, part in each.why.items()},
            "fate": each.fate,
        }
        for each in why.looked
        if each.memory.sensitivity is not Sensitivity.RESTRICTED
    ]
    rounds = [replace(each, best=round(each.best, 4), needed=round(each.needed, 4)) for each in why.asked]
    return answer(
        {
            "explained": {
                "asked": rounds,
                "looked": looked,
                "text": why.text,
                "tokens": why.tokens,
                "steps": why.steps or {},
            }
        }
    )


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        return end_of(text, now) if text else None
    except (ValueError, OverflowError):
        raise Refusal(422, f"as_of is {text[:40]!r}; it is a day, a month, a year or a time: 2026-03-04") from None


MEMORIES: Final = 400
"""Memories of a name that are looked at."""
MOST: Final = 100
"""Names of one graph, the one in its middle included."""
LINKS: Final = 300
"""Pairs of names beside it, those that stand together oftenest."""


class NamesGraph(TypedDict):
    """The name in the middle, in how many memories it stands, in how many of them each other name does, and how often
    two of these stand together."""

    name: str
    memories: int
    names: dict[str, int]
    together: list[tuple[str, str, int]]


@routes.get("/api/names")
async def names(request: web.Request) -> Json[NamesGraph]:
    """``?name=…&limit=100``: the names that stand in the same memories as one, in how many, and which of them stand
    together; without a name those that stand in most memories."""
    limit = min(query_limit(request, MOST), MOST)
    name = query_text(request, "name").strip().lower()
    return answer(await around(memory_of(request).journal, await owners_of(request), name, limit))


async def around(journal: Journal, owners: Sequence[str], name: str, most: int = MOST) -> NamesGraph:
    """The graph around a name, of ``most`` names at most; without one the commonest names."""
    if not name:
        return {"name": "", "memories": 0, "names": await journal.names_most(owners, most), "together": []}
    standing = await journal.names_beside(owners, name, MEMORIES)
    beside, together = counted(name, standing, most - 1)
    return {"name": name, "memories": len(standing), "names": beside, "together": together}


def counted(
    name: str, standing: Mapping[str, Sequence[str]], most: int
) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """In how many memories each name stands beside one, the commonest first, and how often two of these stand
    together."""
    counts = Counter(other for found in standing.values() for other in set(found) if other != name)
    beside = dict(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:most])
    pairs = Counter(pair for found in standing.values() for pair in combinations(sorted(beside.keys() & set(found)), 2))
    links = sorted(pairs.items(), key=lambda each: (-each[1], each[0]))[:LINKS]
    return beside, [(first, second, count) for (first, second), count in links]


SESSION = "a tool of its own"
"""Stands in the place of a session: what calls us here does not say in which one."""


class ToolAnswer(TypedDict):
    """A text for a model, the ids of the memories in it, and whether the call failed."""

    text: str
    memories: tuple[str, ...]
    failed: bool


@routes.post("/api/tools/{name}")
async def call(request: web.Request) -> Json[ToolAnswer]:
    """``{"arguments": {…}}``, ``?project=…``: the answer to a call, as text for a model.

    What a model notes here carries the trust of a tool's output: nobody knows what it has read before.
    """
    body = await body_of(request, {"arguments": dict})
    scope, memory, settings = scope_of(request), memory_of(request), request.app[EDGE].settings
    project = settings.projects.get(scope.project or "")
    modes = {settings.memory.mode, project.memory if project else Mode.ON}
    if Mode.OFF in modes:
        raise Refusal(403, "memory is switched off for this project (projects.NAME.memory)")
    writes = modes == {Mode.ON} and not memory.pause.on and access().asker.writes(scope.project)
    asker = ToolCaller(scope, SESSION, Origin.TOOL, writes, access().asker.everything)
    result = await memory.tools.answer(request.match_info["name"], body.get("arguments", {}), asker)
    return answer({"text": result.text, "memories": result.memories, "failed": result.failed})
