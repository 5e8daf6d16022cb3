"""Whether a server's memory is flat: judged on its second half, for what is kept at hand fills up in the first."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, linear_regression
from typing import Any, NamedTuple

MINUTE = 60.0

FEWEST = 8
"""Minutes in the second half below which nothing is judged."""

PER_CENT = 2.0
"""By how much the mean of the last quarter may lie above that of the third."""


class Sample(NamedTuple):
    """Seconds since the beginning, and MiB."""

    at: float
    mib: float


def flatness(samples: Sequence[Sample]) -> dict[str, Any]:
    """Mean and most of each quarter; of the second half the slope in MiB a minute with its standard error, taken from
    the means of whole minutes (samples of one second hang together); the last quarter against the third; and whether
    that is flat: None where it was too short to say."""
    length = samples[-1].at if samples else 0.0
    quarters = [
        [each.mib for each in samples if part * length / 4 <= each.at < (part + 1) * length / 4] for part in range(4)
    ]
    told: dict[str, Any] = {
        "mean_mib_by_quarter": [round(fmean(each), 1) if each else None for each in quarters],
        "most_mib_by_quarter": [round(max(each), 1) if each else None for each in quarters],
        "flat": None,
    }
    minutes = _minutes([each for each in samples if each.at >= length / 2])
    if len(minutes) < FEWEST:
        return told
    slope, error = _slope(minutes)
    third, last = fmean(quarters[2]), fmean(quarters[3])
    return told | {
        "mib_a_minute_in_the_second_half": round(slope, 3),
        "standard_error": round(error, 3),
        "last_quarter_above_the_third_mib": round(last - third, 2),
        "last_quarter_above_the_third_per_cent": round((last / third - 1) * 100, 2),
        "flat": last <= third * (1 + PER_CENT / 100),
    }


def _minutes(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """The mean of each minute, with the minute's number."""
    by_minute: dict[int, list[float]] = {}
    for each in samples:
        by_minute.setdefault(int(each.at // MINUTE), []).append(each.mib)
    return [(float(minute), fmean(values)) for minute, values in by_minute.items()]


def _slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The slope of a line through some points, and its standard error."""
    xs, ys = zip(*points, strict=True)
    slope, begin = linear_regression(xs, ys)
    middle = fmean(xs)
    left = sum((y - begin - slope * x) ** 2 for x, y in points) / (len(points) - 2)
    return slope, (left / sum((x - middle) ** 2 for x in xs)) ** 0.5
