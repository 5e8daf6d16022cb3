"""A budget of tokens, divided among the streams of the page.

Entropy-regularised optimal transport (Sinkhorn; Cuturi 2013), with the side of the streams relaxed (Chizat et al.
2018): three criteria (recency, relevance, importance) hand out their parts of the budget; giving to a stream costs the
less the better it does by the criterion, and to depart from what the streams would keep by their preservation ratios
costs too. Fixed iterations and plain floats: the same streams give the same tokens on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from types import MappingProxyType
from typing import Final

from memory.fact import Stream

SMOOTH: Final = 0.25
"""ε: how far the entropy evens the transport out."""
FAITHFUL: Final = 0.5
"""What departing from the preservation ratios costs."""
ROUNDS: Final = 60


@dataclass(frozen=True, slots=True)
class Ratios:
    """Preservation ratios: how much of each stream shall be kept when there is not room for all of it."""

    of: Mapping[Stream, float] = field(
        default_factory=lambda: MappingProxyType(
            {Stream.IDENTITY: 0.95, Stream.PROJECTS: 0.80, Stream.TASKS: 0.70, Stream.FLOW: 0.30}
        )
    )


RATIOS = Ratios()


@dataclass(frozen=True, slots=True)
class Demand:
    """What a stream would take: tokens of all of it, and how it does by each criterion, in 0..1."""

    tokens: int
    recency: float = 0.5
    relevance: float = 0.5
    importance: float = 0.5


CRITERIA: Final = (("recency", 0.2), ("relevance", 0.4), ("importance", 0.4))
"""The criteria and the part of the budget that each hands out."""


def allocate(budget: int, demands: Mapping[Stream, Demand], ratios: Ratios = RATIOS) -> dict[Stream, int]:
    """Tokens for each stream, no more than it demands and no more than ``budget`` in all."""
    wanting = [stream for stream in Stream if stream in demands and demands[stream].tokens > 0]
    given = dict.fromkeys(demands, 0)
    left = max(budget, 0)
    if sum(demands[stream].tokens for stream in wanting) <= left:
        return {stream: max(demand.tokens, 0) for stream, demand in demands.items()}
    while wanting and left > 0:
        shares = _shares_of_streams(
            [demands[stream] for stream in wanting], [ratios.of.get(stream, 0.5) for stream in wanting]
        )
        full = [
            stream
            for stream, share in zip(wanting, shares, strict=True)
            if share * left >= demands[stream].tokens - given[stream]
        ]
        if not full:
            for stream, share in zip(wanting, shares, strict=True):
                given[stream] += int(share * left)
            break
        for stream in full:
            left -= demands[stream].tokens - given[stream]
            given[stream] = demands[stream].tokens
        wanting = [stream for stream in wanting if stream not in full]
    return given


def _shares_of_streams(demands: Sequence[Demand], ratios: Sequence[float]) -> list[float]:
    """The part of the budget that each stream gets; they sum to 1."""
    quotas = [ratio * demand.tokens for demand, ratio in zip(demands, ratios, strict=True)]
    whole = sum(quotas) or 1.0
    target = [each / whole for each in quotas]
    kernel = [[exp((getattr(demand, name) - 1.0) / SMOOTH) for demand in demands] for name, _ in CRITERIA]
    rows = [1.0] * len(CRITERIA)
    columns = [1.0] * len(demands)
    power = FAITHFUL / (FAITHFUL + SMOOTH)
    for _ in range(ROUNDS):
        rows = [
            part / sum(cell * column for cell, column in zip(line, columns, strict=True))
            for (_, part), line in zip(CRITERIA, kernel, strict=True)
        ]
        columns = [
            (target[place] / sum(row * line[place] for row, line in zip(rows, kernel, strict=True))) ** power
            for place in range(len(demands))
        ]
    masses = [
        columns[place] * sum(row * line[place] for row, line in zip(rows, kernel, strict=True))
        for place in range(len(demands))
    ]
    total = sum(masses) or 1.0
    return [mass / total for mass in masses]
