"""What providers report of requests, learned for each model and session, and kept.

The estimate of a request is in our tokens; the window is in the provider's. This says how they compare, and remembers
the windows that providers told by refusing a request. Of the event loop only.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import orjson

from memory.context.calibration import Anchor, Calibration, calibration_of
from memory.conversation import Conversation, Usage
from memory.learning.redact import redact
from memory.lru import LruDict
from memory.ports import Guard
from memory.services.window.counting import RequestCounter

SESSIONS = 2000
"""Sessions whose last request is remembered."""

MODELS = 200
"""Models of which it is remembered what their providers report."""

SAVE_SECONDS = 5.0
"""How long what was learned waits to be written."""

META = "counting"
"""The journal's named value that holds what was learned."""

_NOTHING_KNOWN = Calibration()


class ReportedWindows(Protocol):
    """Windows that providers told."""

    def learn(self, model: str, window: int) -> bool:
        """Whether that is news."""

    def as_json(self) -> dict[str, int]:
        """All of them, as plain values."""

    def restore(self, stored: Any) -> None:
        """Take plain values back."""


class MetaStore(Protocol):
    """Where named values are kept: the journal."""

    async def meta(self, name: str) -> bytes | None:
        """A value."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """Write a value."""


class UsageCalibration:
    """Turns our tokens into a provider's, and back."""

    def __init__(self, counting: RequestCounter, store: MetaStore, windows: ReportedWindows, guard: Guard) -> None:
        self._counting = counting
        self._store = store
        self._windows = windows
        self._guard = guard
        self._models: LruDict[str, Calibration] = LruDict(MODELS)
        self._anchors: LruDict[tuple[str, str], Anchor] = LruDict(SESSIONS)
        self._unsaved = False
        self._saving: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    async def open(self) -> None:
        """Take up what was learned before.

        Raises:
            StoreError: when it cannot be read.
        """
        stored = await self._store.meta(META)
        with contextlib.suppress(orjson.JSONDecodeError):
            values = orjson.loads(stored) if stored else None
            if isinstance(values, dict):
                self._windows.restore(values.get("windows"))
                models = values.get("models")
                for name, each in models.items() if isinstance(models, dict) else ():
                    self._models.put(name, calibration_of(each))

    def expected(self, session: str, model: str, counted: int) -> int:
        """What the provider will report for a request in which we count so many tokens."""
        model = model.lower()
        return self._model(model).expected(counted, self._anchors.get((session, model)))

    def ours(self, session: str, model: str, tokens: int) -> int:
        """How many tokens we count in a request for which the provider reports so many."""
        model = model.lower()
        return self._model(model).ours(tokens, self._anchors.get((session, model)))

    def doubt(self, session: str, model: str, counted: int) -> int:
        """By how many tokens the provider may report more than is expected."""
        model = model.lower()
        return self._model(model).doubt(counted, self._anchors.get((session, model)))

    def anchored(self, session: str, model: str) -> bool:
        """Whether it is known what a provider reported for a request of this session."""
        return (session, model.lower()) in self._anchors

    def learned(self, session: str, model: str, counted: int, usage: Usage | None) -> None:
        """What the provider reported for a request in which we counted so many tokens, as it was forwarded."""
        model = model.lower()
        before = self._model(model)
        known, anchor = before.learned(counted, usage, self._anchors.get((session, model)))
        if anchor is not None:
            self._anchors.put((session, model), anchor)
        if known is not before:
            self._models.put(model, known)
            self._save_soon()

    async def reported(
        self,
        session: str,
        conversation: Conversation,
        counted: Callable[[], int],
        usage: Usage | None,
        without: Collection[int] = (),
    ) -> None:
        """The same for a conversation ``without`` some of its messages; ``counted`` says how many tokens it had as it
        was forwarded.

        It is counted exactly first: what was still estimated when it was sent must not become a session's anchor.
        """
        # Of a request that goes on from what the server holds, the size of that is reported, too.
        if usage is not None and usage.input > 0 and conversation.continues is None:
            await self._counting.exact(conversation, without)
            self.learned(session, conversation.model, counted(), usage)

    def learn_window(self, model: str, window: int) -> None:
        """A provider said how much a model reads, by refusing a request."""
        if self._windows.learn(model, window):
            self._save_soon()

    async def settle(self) -> None:
        """Wait until what was learned is written."""
        self._hurry.set()
        while self._saving is not None:
            await asyncio.wait({self._saving})
        self._hurry.clear()

    def _model(self, model: str) -> Calibration:
        return self._models.get(model) or _NOTHING_KNOWN

    def _save_soon(self) -> None:
        self._unsaved = True
        if self._saving is None:
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        try:
            while self._unsaved:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SAVE_SECONDS):
                        await self._hurry.wait()
                self._unsaved = False
                models = _without_secret_names({name: known.as_json() for name, known in self._models.items()})
                value = orjson.dumps({"models": models, "windows": _without_secret_names(self._windows.as_json())})
                writing = self._store.set_meta(META, value)
                await self._guard(
                    writing, default=None, timeout_seconds=30, operation="writing what was learned of tokens"
                )
        finally:
            self._saving = None


def _without_secret_names(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in known.items() if redact(name).text is name}
