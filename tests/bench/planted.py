"""What the bench asks has an answer in memory, planted there; whether a request got it is seen in what was forwarded.

A question names a plot, and the planted memory its watchword. A request bears the question's number as its ``seed``,
which every proxy hands on. The provider looks whether that plot's watchword stands in the body that reached it, and
says so in the id of its reply.
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

STEPS = 100
"""A loop behind one question has fewer."""

_MARK = re.compile(rb'"seed"\s*:\s*(\d+)')
_TREES = ("alder", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ivy", "juniper", "larch", "maple")


def watchword(plot: int) -> str:
    """The watchword of a plot."""
    return f"{_TREES[plot % len(_TREES)]}-{plot * 7919 % 100_003}"


def planted() -> Iterator[Fact]:
    """A memory for each plot."""
    for plot, fact in zip(range(PLOTS), facts(PLOTS, seed=17), strict=True):
        yield replace(fact, id=new_id(), text=f"We decided that the watchword of plot {plot} is {watchword(plot)}.")


def plot_of(number: int) -> int:
    """The plot that a question of this number is about; neighbours in time ask about different ones."""
    return number * 37 % PLOTS


def question(number: int) -> str:
    """A question about a plot."""
    return f"For the gate I have to know: what is the watchword of plot {plot_of(number)}?"


def marked(body: bytes, number: int, step: int = 0) -> bytes:
    """A request that says to the provider which question it is about; ``step`` is the one in the loop behind it,
    counted from 1, and 0 where there is no loop."""
    return b'%s,"seed":%d}' % (body[:-1], number * STEPS + step)


def mark_of(body: bytes) -> tuple[int, int] | None:
    """The question and the step of a request that says it."""
    found = _MARK.match(body, max(body.rfind(b'"seed"'), 0))
    return divmod(int(found[1]), STEPS) if found else None


def verdict(body: bytes) -> bytes:
    """Whether what is asked in a body is answered in it; nothing where nothing of the kind is asked."""
    mark = mark_of(body)
    if mark is None:
        return b""
    return REMEMBERED if watchword(plot_of(mark[0])).encode() in body else ALONE
