"""What sheds, and all edits, have saved so far, by what the provider reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory.context.budget import Prices
from memory.conversation import Usage
from memory.ports import ModelTotals
from memory.session import Shed


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
