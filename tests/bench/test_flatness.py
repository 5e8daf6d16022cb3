"""A server that fills its caches and then stays as it is is flat; one that goes on growing is not."""

from __future__ import annotations

import math
import random

from tests.bench.flatness import Sample, flatness

SECONDS = 45 * 60


def grown(a_minute: float) -> list[Sample]:
    """Caches that fill up in the first ten minutes, the noise of a heap, and so many MiB more with each minute."""
    lot = random.Random(1)
    return [
        Sample(at, 150 + 60 * (1 - math.exp(-at / 180)) + a_minute * at / 60 + lot.uniform(-4, 4))
        for at in map(float, range(SECONDS))
    ]


def test_caches_that_fill_up_and_then_rest_are_flat() -> None:
    told = flatness(grown(0.0))
    assert told["flat"] is True
    assert abs(told["mib_a_minute_in_the_second_half"]) < 0.05
    assert told["standard_error"] < 0.05


def test_a_leak_of_a_mebibyte_a_minute_is_none() -> None:
    told = flatness(grown(1.0))
    assert told["flat"] is False
    assert 0.9 < told["mib_a_minute_in_the_second_half"] < 1.1
    assert 10 < told["last_quarter_above_the_third_mib"] < 13


def test_what_was_too_short_is_not_judged() -> None:
    assert flatness(grown(1.0)[:300])["flat"] is None
    assert flatness([])["flat"] is None
