"""Await what may fail or be late, without harm."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar

T = TypeVar("T")


class BoundedSeconds(float):
    """Seconds that something has because a setting says so. ``setting`` is its dotted name, which whoever is told that
    it was late needs; empty where none does."""

    setting: str = ""


def bounded_by(setting: str, seconds: float) -> BoundedSeconds:
    """Seconds that something has because of a setting."""
    bounded = BoundedSeconds(seconds)
    bounded.setting = setting
    return bounded


class Guard(Protocol):
    """Awaits something that may fail or be late without doing harm, and counts it when it does."""

    async def __call__(
        self, awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
    ) -> tuple[T, str]:
        """The result and an empty string, or ``default`` and why; ``timeout_seconds`` is in seconds, and where
        they are :class:`BoundedSeconds`, why something was late names their setting."""
