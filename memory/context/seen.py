"""What a shed has saved so far, by what the provider reported."""

from __future__ import annotations

from collections.abc import Sequence

from memory.context.budget import Prices
from memory.conversation import Usage
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
