"""What the bench asks has an answer in memory, planted there; whether a request got it is seen in what was forwarded.

A planted memory tells something of a plot in a garden, and has a word in it that nothing else has. The questions are
put in ever other words, as people do: like-worded ones would be found in place of what they ask for; but each asks
plainly, because this measures time and not how much recall understands. A request bears the question's number as its
``seed``, which every proxy hands on. The provider looks whether that plot's word stands in the body that reached it,
and says so in the id of its reply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory.bootstrap import new_id
from memory.fact import Fact
from tests.bench.seed import facts

PLOTS = 2000
FIRST = 30_000
"""Number of the first plot; none of them reads like a year."""
REMEMBERED, ALONE = b"remembered", b"alone"

STEPS = 100
"""A loop behind one question has fewer."""

_MARK = re.compile(rb'"seed"\s*:\s*(\d+)')
_TREES = ("alder", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ivy", "juniper", "larch", "maple")
_TOLD: Sequence[tuple[str, Sequence[str]]] = (
    (
        "We decided that the watchword of plot {plot} is {word}.",
        (
            "what is the watchword of plot {plot}?",
            "which watchword opens the gate of plot {plot}?",
            "do we still have a watchword for plot {plot}, and how does it go?",
            "how did the watchword of plot {plot} go again?",
        ),
    ),
    (
        "Plot {plot} is rented by the family {word} since March.",
        (
            "who rents plot {plot}?",
            "what is the family called that has rented plot {plot}?",
            "which family has plot {plot} these days?",
            "was plot {plot} ever rented, and if so by whom?",
        ),
    ),
    (
        "The water meter of plot {plot} has the serial number {word}.",
        (
            "what is the serial number of the water meter on plot {plot}?",
            "which serial number does the meter on plot {plot} have?",
            "which water meter belongs to plot {plot}?",
            "I am to read the meter at plot {plot}: how do I recognise it?",
        ),
    ),
    (
        "For plot {plot} we use the seed mixture {word}, because the soil there is heavy.",
        (
            "what do we sow on plot {plot}?",
            "the mixture for plot {plot} has run out, which one do I order again?",
            "which seed mixture suits the soil of plot {plot}?",
            "which mixture do we take for plot {plot}?",
        ),
    ),
    (
        "The shed on plot {plot} is locked with the padlock {word}.",
        (
            "which padlock is on the shed of plot {plot}?",
            "what kind of padlock hangs on the shed of plot {plot}?",
            "how is the shed on plot {plot} locked?",
            "which padlock do I have to open for the shed on plot {plot}?",
        ),
    ),
    (
        "Letters about plot {plot} go to the folder {word} in the office.",
        (
            "where do letters about plot {plot} go?",
            "in which folder do letters about plot {plot} belong?",
            "under which folder are the letters on plot {plot} kept?",
            "which folder has the letters about plot {plot}?",
        ),
    ),
)
_BEFORE = (
    *("For the gate I have to know: ", "Quickly, before I go on: ", "Petra asks, and I do not know it: ", "", ""),
    *("One more thing for the list. ", "While the tests run, ", "I was sure that I had written it down, but "),
)
_AFTER = (
    *("", "", "", " Do not change anything yet.", " A short answer will do.", " Then go on with the importer."),
    *(" I need it for the report.", " If you are not sure, say so.", " Timo waits for it."),
)


def watchword(plot: int) -> str:
    """The word that only what is told about a plot has in it."""
    return f"{_TREES[plot % len(_TREES)]}-{plot * 7919 % 100_003:06d}"


def planted(users: Sequence[str] = ("local",)) -> Iterator[Fact]:
    """A memory for each plot, of some users in turn."""
    for place, fact in enumerate(facts(PLOTS, seed=17, users=users)):
        plot = FIRST + place
        text, _ = _TOLD[place % len(_TOLD)]
        yield replace(fact, id=new_id(), text=text.format(plot=plot, word=watchword(plot)))


def plot_of(number: int) -> int:
    """The plot that a question of this number is about; neighbours in time ask about different ones."""
    return FIRST + number * 37 % PLOTS


def told_to(number: int, users: Sequence[str]) -> str:
    """Which of some users knows the answer to the question of this number."""
    return users[(plot_of(number) - FIRST) % len(users)]


def question(number: int) -> str:
    """A question about a plot, worded by chance."""
    plot, chance = plot_of(number), random.Random(number)
    _, ways = _TOLD[(plot - FIRST) % len(_TOLD)]
    return chance.choice(_BEFORE) + chance.choice(ways).format(plot=plot) + chance.choice(_AFTER)


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
