"""What each leg of recall weighs for one user, learnt from what was used: Thompson sampling (Thompson 1933; Chapelle
and Li 2011, "An empirical evaluation of Thompson sampling").

Every leg has a Beta distribution of how often what it brought was used. Its prior is strong and the same for all, so
that the measured weights hold until there is much evidence, and a leg never weighs less or more than its bounds allow.
Counts fade, so that what was so long ago gives way.
"""

from __future__ import annotations

from collections.abc import Mapping
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


_NONE: Final = Tally()


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


def recorded(tallies: Mapping[str, Tally], why: Mapping[str, float], used: bool) -> dict[str, Tally]:
    """The counts after a shown memory was used, or was not: each leg answers for its share of the score."""
    shares = [max(why.get(leg, 0.0), 0.0) for leg in LEGS]
    whole = sum(shares)
    if whole <= 0:
        return dict(tallies)
    new = {}
    for leg, part in zip(LEGS, shares, strict=True):
        share, known = part / whole, tallies.get(leg, _NONE)
        if share or known != _NONE:
            new[leg] = Tally(known.used * COUNT_DECAY + share * used, known.unused * COUNT_DECAY + share * (not used))
    return new
