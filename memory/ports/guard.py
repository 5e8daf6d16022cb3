"""Await what may fail or be late, without harm."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Guard(Protocol):
    """Awaits something that may fail or be late without doing harm, and counts it when it does."""

    async def __call__(
        self, awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
    ) -> tuple[T, str]:
        """The result and an empty string, or ``default`` and why; ``timeout_seconds`` is in seconds."""
