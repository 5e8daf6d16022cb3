"""What the bench asks has an answer in memory, planted there; whether a request got it is seen in what was forwarded.

A question names a plot, and the planted memory its watchword. The provider looks whether the watchword of the plot that
was asked about last stands in the body that reached it, and says so in its reply: that works with any proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from memory.bootstrap import new_id
from memory.fact import Fact
from tests.bench.seed import facts

PLOTS = 400
REMEMBERED, ALONE = b"remembered", b"alone"

_ASKED = re.compile(rb"watchword of plot (\d+)\?")
_TREES = ("alder", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ivy", "juniper", "larch", "maple")


def watchword(plot: int) -> str:
    """The watchword of a plot."""
    return f"{_TREES[plot % len(_TREES)]}-{plot * 7919 % 100_003}"


def planted() -> Iterator[Fact]:
    """A memory for each plot."""
    for plot, fact in zip(range(PLOTS), facts(PLOTS, seed=17), strict=True):
        yield replace(fact, id=new_id(), text=f"We decided that the watchword of plot {plot} is {watchword(plot)}.")


def question(number: int) -> str:
    """A question about a plot; neighbours in time ask about different ones."""
    return f"For the gate I have to know: what is the watchword of plot {number * 37 % PLOTS}?"


def verdict(body: bytes) -> bytes:
    """Whether what is asked last in a body is answered in it; nothing where nothing of the kind is asked."""
    asked = _ASKED.findall(body)
    if not asked:
        return b""
    return REMEMBERED if watchword(int(asked[-1])).encode() in body else ALONE
