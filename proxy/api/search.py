"""Search memory as recall would, for a person to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.context.explain import SearchRound
from memory.context.temporal_questions import end_of
from memory.fact import Sensitivity
from memory.hooks.route_request import Fields
from proxy.api import responses
from proxy.api.params import memory_of, owners_of, query_limit, query_text
from proxy.api.responses import Json, answer
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
