"""The steps of a forget: each is taken, whatever became of those before it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


class ErasureSteps:
    """Takes steps, and keeps a sentence for each that failed. Once the journal has let go of something nobody can ask
    again for the rest."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    async def take(self, step: Awaitable[T], default: T, failed: str) -> T:
        """What a step gives; ``default`` where it fails, which is told as ``failed`` and why."""
        try:
            return await step
        except Exception as error:
            log.warning("a forget goes on without one of its steps", exc_info=True)
            self.faults.append(f"{failed}: {str(error) or type(error).__name__}")
            return default
