"""The entity graph: names and the memories they stand in, and how near each memory is to some names.

Nearness is a personalised PageRank, computed locally by pushing (Andersen, Chung, Lang 2006, "Local graph partitioning
using PageRank vectors"): what has much mass to give hands it on to its neighbours, until nobody has much. Names seed it
as in HippoRAG (Gutiérrez et al. 2024): those of the question, and, more lightly, those of what it has found already. A
name that stands in many memories says little, so it hands little to each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.fact import Fact, Passage
from memory.language.entities import entities, speaker_in
from memory.ports import Graph


@dataclass(frozen=True, slots=True)
class Spread:
    """``stay`` is the share of mass that remains where it comes to, ``least`` the mass for each edge below which
    nothing is handed on, ``pushes`` how often anything is; ``found`` is the mass of the names of what was found beside
    those of the question, ``best`` from how many memories; a name of more than ``hub`` memories is no seed."""

    stay: float = 0.25
    least: float = 1e-4
    pushes: int = 400
    found: float = 0.25
    best: int = 3
    hub: int = 60


SPREAD: Final = Spread()
MOST: Final = 20
"""Memories that the graph brings at most."""


def names_in(memory: Fact | Passage) -> tuple[str, ...]:
    """The names that a memory is filed under, in lower case."""
    found = entities(memory.text)
    if isinstance(memory, Fact):
        found = (*found, *memory.entities)
    elif memory.speaker not in ("user", "assistant"):
        found = (*found, memory.speaker)
    speaker = speaker_in(memory.text)
    return tuple(dict.fromkeys(name.lower() for name in (*found, *([speaker] if speaker else []))))


def names_in_question(text: str) -> tuple[str, ...]:
    """The names in a question, in lower case."""
    return tuple(dict.fromkeys(name.lower() for name in entities(text)))


def near(graph: Graph, names: Iterable[str], found: Sequence[str], spread: Spread = SPREAD) -> dict[str, float]:
    """How near memories are to the names that are ``names`` about and to those of what was ``found`` (ids, best first),
    the nearest 1; at most :data:`MOST`. Empty where no name says anything."""
    seeds = {name: 1.0 for name in names if 0 < graph.degrees.get(name, 0) <= spread.hub}
    if not seeds:
        return {}
    for place, id in enumerate(found[: spread.best]):
        for name in graph.names.get(id, ()):
            if graph.degrees.get(name, 0) <= spread.hub:
                seeds.setdefault(name, spread.found / (place + 1))
    mass = push(graph, seeds, spread)
    best = sorted(((share, id) for id, share in mass.items() if share > 0), key=lambda each: (-each[0], each[1]))[:MOST]
    return {id: share / best[0][0] for share, id in best}


def push(graph: Graph, seeds: Mapping[str, float], spread: Spread = SPREAD) -> dict[str, float]:
    """The mass that comes to rest at each memory when the seeds' mass (made 1 in all) is handed on."""
    holders: dict[str, list[str]] = {}
    for id, names in graph.names.items():
        for name in names:
            holders.setdefault(name, []).append(id)
    whole = sum(seeds.values())
    # Names and memories are told apart by their place in the pair: an id could be a name.
    rest: dict[tuple[int, str], float] = {(0, name): share / whole for name, share in sorted(seeds.items())}
    settled: dict[str, float] = {}
    waiting = deque(rest)
    for _ in range(spread.pushes):
        if not waiting:
            break
        node = waiting.popleft()
        side, key = node
        share = rest.pop(node, 0.0)
        neighbours = holders.get(key, []) if side == 0 else list(graph.names.get(key, ()))
        edges = max(graph.degrees.get(key, 0), len(neighbours)) if side == 0 else len(neighbours)
        if edges == 0 or share < spread.least * edges:
            if side == 1:
                settled[key] = settled.get(key, 0.0) + share
            continue
        if side == 1:
            settled[key] = settled.get(key, 0.0) + spread.stay * share
        handed = (1.0 - spread.stay) * share / edges
        for other in neighbours:
            there = (1 - side, other)
            if there not in rest:
                waiting.append(there)
            rest[there] = rest.get(there, 0.0) + handed
    return settled
