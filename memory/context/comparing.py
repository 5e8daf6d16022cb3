"""Sessions with memory beside sessions without it, and how sure the difference between them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance

from memory.ports import Measured

FEWEST = 5
"""Sessions in each arm below which nothing is said of how sure a difference is."""

_Z = 1.959964
"""The normal distribution's quantile for an interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The means of one measure in both arms. From ``low`` to ``high`` the true difference (with memory less without)
    lies 95 times of 100; None where there are too few sessions to tell."""

    name: str
    with_memory: float | None
    without: float | None
    low: float | None = None
    high: float | None = None

    @property
    def told(self) -> bool:
        """Whether the two can be told apart: the interval does not hold zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both arms. ``mixed`` sessions are in none: they began without memory and were given some later."""

    with_memory: int
    without: int
    mixed: int
    differences: tuple[Difference, ...]


def compared(sessions: Sequence[Measured]) -> Comparison:
    """What sessions with memory and sessions without it took."""
    mixed = [each for each in sessions if each.held_out and each.added]
    given = [each for each in sessions if not each.held_out]
    held = [each for each in sessions if each.held_out and not each.added]
    measures = {
        "turns": ([each.turns for each in given], [each.turns for each in held]),
        "tokens": (
            [each.tokens for each in given if each.tokens is not None],
            [each.tokens for each in held if each.tokens is not None],
        ),
        "corrections": ([each.corrections for each in given], [each.corrections for each in held]),
        "repeats": ([each.repeats for each in given], [each.repeats for each in held]),
    }
    found = tuple(_difference(name, *arms) for name, arms in measures.items())
    return Comparison(len(given), len(held), len(mixed), found)


def _difference(name: str, given: Sequence[float], held: Sequence[float]) -> Difference:
    means = (fmean(given) if given else None, fmean(held) if held else None)
    if min(len(given), len(held)) < FEWEST:
        return Difference(name, *means)
    # Welch's interval: the arms differ in size, and in how much their sessions do.
    one, other = variance(given) / len(given), variance(held) / len(held)
    middle = fmean(given) - fmean(held)
    if one + other == 0:
        # All sessions alike: nothing is known of how much they could differ.
        return Difference(name, *means)
    freedom = (one + other) ** 2 / (one**2 / (len(given) - 1) + other**2 / (len(held) - 1))
    reach = _student(freedom) * sqrt(one + other)
    return Difference(name, *means, middle - reach, middle + reach)


def _student(freedom: float) -> float:
    """Student's quantile for an interval of 95 %, by Cornish and Fisher's expansion about the normal one."""
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
