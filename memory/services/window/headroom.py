"""How much room a request has in its model's window, and whether the provider still has its prefix in its cache."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memory.context.budget import Budget, budget, largest, maker, reserve
from memory.services.request import SessionRequest
from memory.services.window.request_size import RequestSize
from memory.services.window.usage_calibration import UsageCalibration
from memory.settings import SheddingSettings

AGAIN = 0.04
"""By what share of its window a session has to grow before it is looked at again for what could leave a warm cache."""

CLOSE = 0.98
"""The share of a window up to which an estimate is trusted."""

DOUBTED = 0.05
"""The share of a window that is left free, at most, because what is new may be dearer than it is counted."""


class Headroom:
    """What requests may take, by the settings and by what providers reported."""

    def __init__(self, settings: SheddingSettings, reported: UsageCalibration) -> None:
        self._settings = settings
        self._reported = reported

    def allowed(self, request: SessionRequest, load: RequestSize) -> Budget:
        """The budget of a request, with what belongs to its reply kept free, and in judging whether it fits what is in
        doubt, too: how far to go down is no question of doubt."""

        def ours(tokens: int) -> int:
            return self._reported.ours(request.session, request.model, tokens)

        free = self._free(request, load)
        usual = budget(load.window, free, self._settings, load.fixed, ours)
        doubt = self._reported.doubt(request.session, request.model, load.total)
        sure = free + min(doubt, int(DOUBTED * load.window))
        return replace(usual, window=max(ours(largest(load.window, sure)), 0)) if sure != free else usual

    def largest(self, request: SessionRequest, load: RequestSize) -> int:
        """The largest request that leaves free what belongs to its reply, in the provider's tokens."""
        return largest(load.window, self._free(request, load))

    def _free(self, request: SessionRequest, load: RequestSize) -> int:
        """What belongs to the reply, and to the client's patience, in the provider's tokens."""
        conversation, patience = request.conversation, request.arrival.patience
        free = reserve(
            conversation.dialect, conversation.model, conversation.longest, self._settings.reserve, load.window
        )
        if patience is not None:
            free = max(free, load.window - patience.most(load.window, conversation.longest))
        return free

    def close(self, request: SessionRequest, load: RequestSize, allowed: Budget) -> Budget:
        """The same up to where an estimate is trusted, at the expense of what is kept free."""
        most = self._reported.ours(request.session, request.model, int(CLOSE * load.window))
        return replace(allowed, window=max(allowed.window, most))

    def most(self, request: SessionRequest, load: RequestSize) -> int:
        """The largest request that the provider takes, in our tokens: what is only kept free to be on the safe side is
        not worth a result that nobody has read yet."""
        conversation = request.conversation
        reply_reserve = reserve(conversation.dialect, conversation.model, conversation.longest, 0, load.window)
        most = min(load.window - reply_reserve, int(CLOSE * load.window))
        return self._reported.ours(request.session, request.model, most)

    def stays(self, request: SessionRequest, load: RequestSize, allowed: Budget, warm: bool) -> bool:
        """Whether nothing is looked for that could leave."""
        grown = min(allowed.window, request.live.looked + int(AGAIN * allowed.window))
        return load.total <= allowed.trim or (warm and load.total <= grown)

    def warm(self, request: SessionRequest) -> bool:
        """Whether the provider's cache still has the session's prefix."""
        conversation, read_at = request.conversation, request.live.read_at
        if read_at is None:
            return False
        lifetimes = self._settings.cache_ttl
        whose = maker(conversation.dialect, conversation.model)
        seconds = {"anthropic": lifetimes.anthropic, "openai": lifetimes.openai}.get(whose, lifetimes.other)
        return request.arrival.at - read_at <= timedelta(seconds=seconds)
