"""Embedders that somebody else runs or ships: fastembed's models, and any provider's through litellm, by name.

Both are imported only when they are chosen: neither is installed by default, and litellm's import takes seconds and
more than a hundred megabytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memory.models.litellm_client import LitellmMissing, litellm
from memory.ports import Vector

BATCH = 64
"""Texts in one call."""


class FastembedEmbedding:
    """A model of the ``fastembed`` package, which fetches it from a hub when it is first used."""

    quick = False

    def __init__(self, model: str) -> None:
        try:
            fastembed = importlib.import_module("fastembed")
        except ModuleNotFoundError:
            raise FileNotFoundError("fastembed is not installed here: pip install fastembed") from None
        self.name = f"fastembed:{model}"
        self._model: Any = fastembed.TextEmbedding(model)
        self.dimensions = len(self.query("dimensions"))

    def documents(self, texts: Sequence[str]) -> Vector:
        """See :class:`memory.ports.Embedder`."""
        return unit(list(self._model.embed(list(texts), batch_size=BATCH)))

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Vector:
        """See :class:`memory.ports.Embedder`; rarity is the model's own business here."""
        vector: Vector = unit([next(iter(self._model.query_embed(text)))])[0]
        return vector


class LitellmEmbedding:
    """Any embedding model that litellm reaches by name. The provider's key comes from the environment."""

    quick = False

    def __init__(self, model: str) -> None:
        try:
            self._litellm = litellm()
        except LitellmMissing as error:
            raise FileNotFoundError(str(error)) from None
        self.name = f"litellm:{model}"
        self._model = model
        self.dimensions = len(self.query("dimensions"))

    def documents(self, texts: Sequence[str]) -> Vector:
        """See :class:`memory.ports.Embedder`."""
        rows: list[Any] = []
        for start in range(0, len(texts), BATCH):
            answer = self._litellm.embedding(
                model=self._model, input=[text or " " for text in texts[start : start + BATCH]]
            )
            rows += [row["embedding"] for row in answer.data]
        return unit(rows)

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Vector:
        """See :class:`memory.ports.Embedder`; rarity is the model's own business here."""
        vector: Vector = self.documents([text])[0]
        return vector


def unit(rows: Sequence[Any]) -> Vector:
    """Rows as vectors of length one; a row of zeros stays."""
    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
