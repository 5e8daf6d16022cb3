"""Names, and which others stand beside them in what is remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, TypedDict

from aiohttp import web

from memory.ports import Journal
from proxy.api.params import memory_of, owners_of, query_limit, query_text
from proxy.api.responses import Json, answer

routes = web.RouteTableDef()

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
