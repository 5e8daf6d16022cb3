"""How large a request may become, and when it pays to make it smaller.

A provider reads at most a window of tokens, of which a part is the reply's. Thresholds are shares of what is left.
Shedding moves the prompt's cached prefix: what stands behind the first change is read anew once, at the price of new
text, and what was removed is not read again in any later turn, at the price of cached text.

What sheds, and all edits, have saved so far, by what the provider reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory.conversation import Usage
from memory.ports import ModelTotals
from memory.session import Shed
from memory.settings import SheddingSettings

LEAST = 0.5
"""The share of a window that a request may always fill, however long a reply it asks for."""

FEWEST, MOST = 15, 45
"""Turns that a session is expected to go on for, at least and at most; see :func:`remaining`."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost, in US dollars each: read anew (and written into the cache, where that costs more),
    read from the cache, and what of the reply."""

    fresh: float
    cached: float
    output: float = 0.0


USUAL = Prices(fresh=1.25, cached=0.1)
"""For a model whose prices are not known: the dearest of the usual relations (Anthropic's, and OpenAI's from GPT-5.6
on), with which a shed has to pay the longest. Good for relations only, never for sums of money."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one request may hold, in tokens *as we count them* (so that the sizes of its messages add up to it).

    ``window`` is what must not be passed; ``fixed`` is what stands outside the messages and is never shed
    (instructions, tools, the frame); ``trim``, ``fold``, ``rotate`` and ``target`` are the thresholds. All of them
    are for the whole request: ``fixed`` and the sizes of the messages together.
    """

    window: int
    trim: int
    fold: int
    rotate: int
    target: int
    fixed: int = 0


def budget(
    window: int,
    reserve: int,
    shares: SheddingSettings,
    fixed: int = 0,
    ours: Callable[[int], int] = lambda tokens: tokens,
) -> Budget:
    """The budget of a request to a model that reads ``window`` tokens at once, ``reserve`` of them kept for the reply.
    ``shares`` are the thresholds, as shares of what is left.

    ``ours`` turns the provider's tokens into ours (:meth:`memory.context.calibration.Calibration.ours`).
    """
    usable = largest(window, reserve)

    def share(part: float) -> int:
        return max(ours(int(usable * part)), 0)

    return Budget(share(1.0), share(shares.trim), share(shares.fold), share(shares.rotate), share(shares.target), fixed)


def largest(window: int, reserve: int) -> int:
    """The largest request, in the provider's tokens, to a model that reads so many at once."""
    return max(window - reserve, int(window * LEAST))


_READ_APART = ("gpt-5", "o1", "o3", "o4", "codex")


def reserve(dialect: str, model: str, reply_limit: int, default: int, window: int = 0) -> int:
    """Tokens of the window that belong to the reply.

    ``reply_limit`` is the longest reply that the request allows (0 where it does not say). Anthropic, and most who
    speak the Chat format, refuse a request when it and the longest allowed reply do not fit into the window together.
    OpenAI's reasoning models have a limit of their own for what is read (and the table says that one), and the
    Responses format cuts the reply instead, as Gemini's does; ``default`` is kept free for them, but of a small
    ``window`` (where it is given) no more than an eighth.
    """
    name = model.lower().rpartition("/")[2]
    apart = dialect in ("openai-responses", "gemini-generate") or name.startswith(_READ_APART)
    return reply_limit if reply_limit > 0 and not apart else min(default, window // 8 or default)


def maker(dialect: str, model: str) -> str:
    """Whose prompt cache it is: ``anthropic``, ``openai`` or ``other``."""
    name = model.lower().rpartition("/")[2]
    if "claude" in name:
        return "anthropic"
    if name.startswith(("gpt-", "o1", "o3", "o4", "codex", "chatgpt")):
        return "openai" if not name.startswith("gpt-oss") else "other"
    return "anthropic" if dialect == "anthropic-messages" else "other"


def break_even(removed: int, rewritten: int, prices: Prices | None = None) -> float:
    """Turns after which a shed in a warm cache has paid for itself; infinite where it never does.

    ``removed`` tokens leave; ``rewritten`` tokens stand behind the first change and are read anew once.
    """
    known = prices or USUAL
    dearer = max(known.fresh - known.cached, 0.0) * rewritten
    saved = known.cached * removed
    if dearer <= 0:
        return 0.0
    return dearer / saved if saved > 0 else float("inf")


def pays(removed: int, rewritten: int, turns: float, prices: Prices | None = None) -> bool:
    """Whether a shed in a warm cache pays within so many turns."""
    return removed > 0 and break_even(removed, rewritten, prices) <= turns


def gain(removed: int, rewritten: int, turns: float, prices: Prices, warm: bool) -> float:
    """US dollars that a shed saves over the next ``turns`` turns; below zero where it costs more than it saves.

    In a cold cache all is read anew with or without it: nothing is rewritten, and what was removed is saved at the
    price of new text once.
    """
    later = prices.cached * removed * turns
    return later - (prices.fresh - prices.cached) * rewritten if warm else later + prices.fresh * removed


def remaining(turns: int) -> float:
    """Turns that a session of so many turns is expected to have still before it: as many again, within bounds.

    How long a session lasts has a long tail: one that has gone on for long will go on for longer. Of recorded sessions
    of agents, half went on for 16 turns more after 5, 20 after 10, 39 after 20, and about 40 after 40 and after 80.
    """
    return float(min(max(turns, FEWEST), MOST))


def saved(shed: Shed, usages: Sequence[Usage], prices: Prices) -> float:
    """US dollars that a shed has saved over the first requests that went without what it removed; below zero while it
    has cost more than it saved.

    ``usages`` begin with the request that was shed. Without the shed, each would have read what was removed as well:
    from the cache where it had one, else anew. In a warm cache the first would have read from it, too, what the shed
    had the provider read anew: at most what was reported as not cached.
    """
    sum_ = 0.0
    for place, usage in enumerate(usages):
        cached = shed.warm if place == 0 else usage.cached > 0
        sum_ += shed.removed * (prices.cached if cached else prices.fresh)
        if place == 0 and shed.warm:
            anew = min(shed.rewritten, max(usage.input - usage.cached, 0))
            sum_ -= anew * max(prices.fresh - prices.cached, 0.0)
    return sum_


class Worth(NamedTuple):
    """US dollars: ``saved`` because requests were shorter than what their clients sent, ``spent`` because others were
    longer, and ``lost`` because a shed moved the prefix and the provider read anew what it had in its cache."""

    saved: float
    spent: float
    lost: float


NOTHING = Worth(0.0, 0.0, 0.0)


def worth(sum: ModelTotals, prices: Prices) -> Worth:
    """What all edits of some requests were worth; what is left of it is ``saved - spent - lost``. An estimate: each
    token that was not sent is taken to have cost what its request's other tokens did, that is the cache's price where
    there was one; one that was read anew is lost by what that costs more than the cache."""
    each = prices.cached if sum.warm else prices.fresh
    return Worth(sum.shorter * each, sum.longer * each, sum.anew * max(prices.fresh - prices.cached, 0.0))
