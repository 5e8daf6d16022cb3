"""What each leg of recall weighs for one user, learnt from what was used: Thompson sampling (Thompson 1933; Chapelle
and Li 2011, "An empirical evaluation of Thompson sampling").

Every leg has a Beta distribution of how often what it brought was used. Its prior is strong and the same for all, so
that the measured weights hold until there is much evidence, and a leg never weighs less or more than its bounds allow.
Counts fade, so that what was so long ago gives way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol

from memory.context.rank import WEIGHTS, Weights
from memory.ports import Tally

LEGS: Final = ("coverage", "cosine", "beside", "graph")
"""The parts of a score that a leg of the search gives; they stand in what is shown (``Shown.why``)."""

PRIOR: Final = 400.0
"""Uses and disuses that every leg is believed to have had: so many real ones move its weight half of the way."""
COUNT_DECAY: Final = 0.995
"""What is left of the counts at each new one: two hundred weigh as much as everything before them."""
BOUNDS: Final = (0.8, 1.25)


_NOTHING: Final = (0.0, 0.0)


class RandomSource(Protocol):
    """Where randomness comes from."""

    def betavariate(self, alpha: float, beta: float) -> float:
        """A number in 0..1 from a Beta distribution."""


def sampled(tallies: Mapping[str, Tally], chance: RandomSource, weights: Weights = WEIGHTS) -> Weights:
    """The weights for one request. ``chance`` is made from the request, so that a retry has the same ones. Without any
    evidence they are the measured ones."""
    if not any(tallies.get(leg) for leg in LEGS):
        return weights
    drawn = {}
    for leg in LEGS:
        tally = tallies.get(leg, Tally())
        drawn[leg] = chance.betavariate(PRIOR + tally.used, PRIOR + tally.unused)
    mean = sum(drawn.values()) / len(drawn)
    low, high = BOUNDS
    return replace(weights, **{leg: getattr(weights, leg) * min(max(drawn[leg] / mean, low), high) for leg in LEGS})


def recorded(tallies: Mapping[str, Tally], shown: Iterable[tuple[Mapping[str, float], bool]]) -> dict[str, Tally]:
    """The counts after some memories were shown (the parts of the score of each) and used, or not: each leg answers for
    its share of the score."""
    counts = {leg: (tally.used, tally.unused) for leg, tally in tallies.items()}
    for why, used in shown:
        parts = {leg: why[leg] for leg in LEGS if leg in why and why[leg] > 0.0}
        if not parts:
            continue
        whole = sum(parts.values())
        new: dict[str, tuple[float, float]] = {}
        for leg in LEGS:
            if leg not in parts and leg not in counts:
                continue
            share = parts[leg] / whole if leg in parts else 0.0
            known = counts.get(leg, _NOTHING)
            if share or known != _NOTHING:
                new[leg] = known[0] * COUNT_DECAY + share * used, known[1] * COUNT_DECAY + share * (not used)
        counts = new
    return {leg: Tally(*each) for leg, each in counts.items()}
