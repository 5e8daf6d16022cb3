"""A language model for background work, through litellm, with no more than a day's budget of tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

import orjson
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from memory.models.litellm_client import litellm, provider_error
from memory.ports import NoAnswer

ATTEMPTS = 3
ANSWER_TOKENS = 4000
"""The most that one answer may have."""
SECONDS = 120.0
_BYTES_PER_TOKEN = 3
"""For the budget, before the provider has counted: rather too many tokens than too few."""
_SPENT = "model tokens"


class BudgetStore(Protocol):
    """Where it is kept what was spent."""

    async def meta(self, name: str) -> bytes | None:
        """A single named value."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """Write a single named value."""


class LitellmLanguage:
    """See :class:`memory.ports.LanguageModel`. ``budget`` is in tokens a day, by ``now``'s calendar."""

    def __init__(
        self, name: str, url: str | None, key: str | None, budget: int, notes: BudgetStore, now: Callable[[], datetime]
    ) -> None:
        self._name = name
        self._url = url
        self._key = key
        self._budget = budget
        self._notes = notes
        self._now = now

    async def ask(self, task: str, material: str, shape: Mapping[str, Any]) -> Any:
        """See :meth:`memory.ports.LanguageModel.ask`."""
        most = (len(task.encode()) + len(material.encode())) // _BYTES_PER_TOKEN + ANSWER_TOKENS
        spent = await self.spent()
        if spent + most > self._budget:
            raise NoAnswer(f"the day's budget of {self._budget} tokens does not allow it: {spent} are spent")
        try:
            module = await asyncio.to_thread(litellm)
        except ImportError as error:
            raise NoAnswer(f"litellm cannot be loaded: {error}") from error
        trouble = provider_error()
        request = {
            "model": self._name,
            "messages": [{"role": "system", "content": task}, {"role": "user", "content": material}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(shape)}},
            "max_tokens": ANSWER_TOKENS,
            "timeout": SECONDS,
            "max_retries": 0,
            "drop_params": True,
            # A server of one's own asks for no key, the library below asks for one all the same.
            **({"api_base": self._url, "api_key": self._key or "none"} if self._url else {"api_key": self._key}),
        }
        try:
            async for attempt in AsyncRetrying(
                stop=stop_after_attempt(ATTEMPTS),
                wait=wait_random_exponential(multiplier=0.2, max=20),
                retry=retry_if_exception(lambda error: isinstance(error, trouble) and _is_transient(error)),
                reraise=True,
            ):
                with attempt:
                    answer = await module.acompletion(**request)
        except (trouble, ValueError, TypeError, LookupError, AttributeError) as error:
            reason = str(error).partition("\n")[0]
            raise NoAnswer(reason.replace(self._key, "(key)") if self._key else reason) from error
        usage = getattr(answer, "usage", None)
        await self._spend(int(getattr(usage, "total_tokens", 0) or 0) or most)
        return _json_in_reply(answer.choices[0].message.content or "")

    async def spent(self) -> int:
        """Tokens that were spent today."""
        stored = await self._notes.meta(_SPENT)
        day, _, tokens = (stored or b"").decode().partition(" ")
        return int(tokens) if day == self._today() else 0

    async def _spend(self, tokens: int) -> None:
        await self._notes.set_meta(_SPENT, f"{self._today()} {await self.spent() + tokens}".encode())

    def _today(self) -> str:
        return self._now().date().isoformat()


def _is_transient(error: BaseException) -> bool:
    """Whether it may go better in a moment: no connection, too many requests, trouble of the provider's own."""
    status = getattr(error, "status_code", None)
    return status is None or status in (408, 409, 429) or status >= 500


def _json_in_reply(text: str) -> Any:
    """What a model that was asked for JSON said, also where it put a fence around it."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError as error:
        raise NoAnswer(f"it answered no JSON: {error}") from error
