"""What turns text into vectors, and what answers in words.

An embedder is plain: it is called where blocking does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Text → unit vectors."""

    name: str
    dimensions: int
    quick: bool
    """Whether a query takes far less than a millisecond: handing it to a thread would cost more than it saves."""

    def documents(self, texts: Sequence[str]) -> Vector:
        """Shape (n, dimensions), rows of length one (or zero for a text of which nothing is known)."""

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Vector:
        """Shape (dimensions,). ``idf`` weighs each word by its stem's rarity in the caller's own store."""


class NoAnswer(Exception):
    """A language model gave no answer that can be used; the message says why."""


class LanguageModel(Protocol):
    """A model that background work may be given to."""

    async def ask(self, task: str, material: str, shape: Mapping[str, Any]) -> Any:
        """The answer to a task about some material, as JSON of a shape (JSON Schema), not yet checked against it.

        Raises:
            NoAnswer: when there is none: it cannot be reached, the day's budget is spent, it talks instead.
        """
