"""How large a request is with its session's edits, in our tokens and in the provider's, and how much room it has in its
model's window."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from memory.context.budget import Budget, Prices, budget, largest, maker, reserve
from memory.context.visible_history import VisibleHistory, sight
from memory.conversation import Conversation, Message, ToolResult
from memory.edits import PAGE, ROTATE, ActiveEdits, Append, Drop, Edit, Insert, Replace
from memory.services.request import SessionRequest
from memory.services.window.counting import RequestCounter
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import WindowSources
from memory.settings import SheddingSettings

COUNTED_SECONDS = 0.4
"""How long an exact count is waited for before anything leaves: about what loading the tokenizer takes."""


class ModelTable(Protocol):
    """What is known of models."""

    def of(self, model: str) -> int:
        """Tokens that it reads at once."""

    def prices(self, model: str) -> Prices | None:
        """What its tokens cost."""


@dataclass(frozen=True, slots=True)
class RequestSize:
    """A request as it stands with its session's edits, in tokens as we count them; ``expected`` is what the provider
    will report, ``window`` what its model reads at once, ``changed`` what the edits made of what the client sent;
    ``appended`` is what they put behind messages, ``left`` what they left out of the results of tools."""

    sizes: tuple[int, ...]
    fixed: int
    changed: int
    expected: int
    window: int
    appended: int = 0
    left: int = 0

    @property
    def total(self) -> int:
        """The whole request."""
        return self.fixed + sum(self.sizes)


class RequestSizer:
    """Weighs requests. Of the event loop only."""

    def __init__(self, counting: RequestCounter, reported: UsageCalibration, windows: ModelTable) -> None:
        self._counting = counting
        self._reported = reported
        self._windows = windows

    async def look(self, conversation: Conversation) -> None:
        """Look at a request before its size is asked for: many new messages are looked at beside the loop."""
        await self._counting.look(conversation)

    def of(self, request: SessionRequest, edits: Iterable[Edit]) -> RequestSize:
        """How large a request is with some edits."""
        conversation = request.conversation
        weighed = self._counting.weigh(conversation)
        sizes = list(weighed.sizes)
        appended = left = 0
        for edit in edits:
            match edit:
                case Drop():
                    leave = edit.messages
                    sizes[leave.start : leave.stop] = [0] * len(leave)
                case Replace(index, part, text):
                    message = conversation.messages[index]
                    if part < len(message.parts):
                        whole = self._counting.parts(message, conversation)[part]
                        less = whole - self._counting.text(text)
                        sizes[index] -= less
                        left += less if isinstance(message.parts[part], ToolResult) else 0
                case Append(index, text):
                    more = self._counting.text(text)
                    sizes[index] += more
                    appended += more
                case Insert(index, raw):
                    # What is JSON in JSON here stands as JSON in the request.
                    sizes[index] += self._counting.text(raw.replace('\\"', '"'))
        fixed = weighed.fixed + self.offered(request)
        counted = fixed + sum(sizes)
        expected = self._reported.expected(request.session, request.model, counted)
        changed = counted - weighed.total
        return RequestSize(tuple(sizes), fixed, changed, expected, self.window(conversation), appended, left)

    def sources(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> WindowSources:
        """What the tokens of a request with these edits came from; they add up to what the provider will report."""
        conversation = request.conversation
        told = self._counting.told_apart(conversation, standing.dropped)
        # Most entries say that nothing was added.
        ours = [entry.text for _, entry in standing.entries if entry.text and entry.about in (PAGE, ROTATE)]
        page = sum(map(self.tokens, ours))
        parts = (told.system, told.tools + self.offered(request), page, load.appended - page, told.results - load.left)
        # Exact counts may have come since the load was weighed by estimates.
        share = load.expected / max(load.total, sum(parts), 1)
        system, tools, page, recall, results = (max(int(tokens * share), 0) for tokens in parts)
        talk = max(load.expected - system - tools - page - recall - results, 0)
        return WindowSources(system, tools, page, recall, results, talk)

    async def counted(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> RequestSize:
        """The load counted exactly, as far as that does not take long: after a start all is estimated, and an estimate
        that is too high would take out what fits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(COUNTED_SECONDS):
                await self._counting.exact(request.conversation, standing.dropped)
        return replace(self.of(request, standing.edits), window=load.window)

    def parts(self, message: Message, conversation: Conversation) -> tuple[int, ...]:
        """Tokens of each part of a message as the client sent it."""
        return self._counting.parts(message, conversation)

    def sight(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> VisibleHistory:
        """What of a request with these edits is looked at."""
        conversation = request.conversation
        return sight(conversation, request.keys, self._counting.sizes(conversation), load.sizes, standing)

    def offered(self, request: SessionRequest) -> int:
        """Tokens of the tools that its session offers beside the client's."""
        return self.tokens(request.live.ledger.offers if request.conversation.tools else "")

    def tokens(self, text: str) -> int:
        """Tokens of a text of ours."""
        return self._counting.text(text) if text else 0

    def window(self, conversation: Conversation) -> int:
        """Tokens that a request's model reads at once."""
        return self._windows.of(conversation.model)


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

        free = self._reserved_tokens(request, load)
        usual = budget(load.window, free, self._settings, load.fixed, ours)
        doubt = self._reported.doubt(request.session, request.model, load.total)
        sure = free + min(doubt, int(DOUBTED * load.window))
        return replace(usual, window=max(ours(largest(load.window, sure)), 0)) if sure != free else usual

    def largest(self, request: SessionRequest, load: RequestSize) -> int:
        """The largest request that leaves free what belongs to its reply, in the provider's tokens."""
        return largest(load.window, self._reserved_tokens(request, load))

    def _reserved_tokens(self, request: SessionRequest, load: RequestSize) -> int:
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
