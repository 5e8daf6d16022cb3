"""What sheds, and all edits, have saved so far, by what the provider reported."""

from __future__ import annotations

from collections.abc import Sequence

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


def worth(sum: ModelTotals, prices: Prices) -> tuple[float, float]:
    """US dollars that were saved because requests were shorter than what their clients sent, less what the provider
    read anew for that, and what was spent because others were longer. An estimate: each token that was not sent is
    taken to have cost what its request's other tokens did, that is the cache's price where there was one."""
    each = prices.cached if sum.warm else prices.fresh
    return sum.shorter * each - sum.anew * max(prices.fresh - prices.cached, 0.0), sum.longer * each
