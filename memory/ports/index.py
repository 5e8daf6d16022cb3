"""The vector index: what goes in, what is asked, what it finds.

What turns text into vectors, and what answers in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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


Sparse = Mapping[int, float]
"""A sparse vector: term id (32 bit, see ``memory.language.terms.term``) → weight."""


@dataclass(frozen=True, slots=True)
class Point:
    """A memory in the index. ``id`` is a UUID, ``sort`` is ``fact`` or ``turn``, ``at`` seconds since 1970."""

    id: str
    owner: str
    sort: str
    at: float
    dense: Vector
    sparse: Sparse


@dataclass(frozen=True, slots=True)
class Query:
    """A search: only points of ``owners`` are seen. ``limit`` is for each leg. ``by_words``: only the sparse leg
    looks, and ``dense`` gives what it finds its cosine."""

    owners: tuple[str, ...]
    dense: Vector | None
    sparse: Sparse
    limit: int
    sort: str | None = None
    since: float | None = None
    until: float | None = None
    by_words: bool = False


class IndexHit(NamedTuple):
    """A candidate with both scores: cosine, and the dot product of the sparse vectors.

    ``lexical`` is 0 for what only the dense leg brought: others share more words with the question, and to ask for
    the exact little that it shares was measured to change nothing but the time.
    """

    id: str
    cosine: float
    lexical: float


class Index(Protocol):
    """The vector index. It can be thrown away and rebuilt from the journal's database."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Add or replace points; durable against a crash of the process when it returns."""

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove points; unknown ids are ignored."""

    async def search(self, query: Query) -> list[IndexHit]:
        """The best of the dense and of the sparse leg together; no order is promised."""

    async def count(self) -> int:
        """How many points there are."""

    async def close(self) -> None:
        """Flush and let go of the files."""
