"""Which embedder a name in the settings stands for: our own table, fastembed's models, any provider's through litellm.

The latter two are imported only when they are chosen: neither is installed by default, and litellm's import takes
seconds and more than a hundred megabytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memory.language.static_embedding import DATA, StaticEmbedding
from memory.models.litellm_client import LitellmMissing, litellm
from memory.ports import Embedder, Vector

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


NAMES = ("static", "minilm", "fastembed:NAME", "litellm:NAME")


def choose_embedder(name: str, folder: Path) -> Embedder:
    """The embedder of that name. ``folder`` is where fetched models lie.

    Raises:
        ValueError: for a name that stands for none, and when its files are damaged.
        FileNotFoundError: when its model has not been fetched (``palimpsest embedder use`` does), or a package that it
            needs is not installed.
    """
    if name == "static":
        with _whole(f"the embedder's table that came with the package is damaged: install it again ({DATA})"):
            return StaticEmbedding.load()
    # The others are imported where one of them is used: a start is not to wait for what it takes to run them.
    if name == "minilm":
        from memory.models.minilm import MiniLmEmbedding

        with _whole(f"the model in {folder / name} is damaged: delete it, then `palimpsest embedder use {name}`"):
            embedder: Embedder = MiniLmEmbedding.load(folder / name)
            return embedder
    source, _, model = name.partition(":")
    if source == "fastembed" and model:
        from memory.models.hosted_embedders import FastembedEmbedding

        return FastembedEmbedding(model)
    if source == "litellm" and model:
        from memory.models.hosted_embedders import LitellmEmbedding

        return LitellmEmbedding(model)
    raise ValueError(f"memory.embedder is {name!r}; there are {', '.join(NAMES)}")


@contextmanager
def _whole(damaged: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError) as error:
        # A length that is read out of the wrong bytes may be larger than any memory.
        raise ValueError(f"{damaged} ({type(error).__name__}: {error})") from error


def well_formed(name: str) -> bool:
    """Whether a name can stand for an embedder: a known one, or a source with a model's name."""
    source, colon, model = name.partition(":")
    return name in ("static", "minilm") or (source in ("fastembed", "litellm") and bool(colon and model.strip()))


def load(name: str, folder: Path) -> Embedder:
    """The embedder of that name; may take minutes, and needs the network the first time.

    Raises:
        ValueError: for a name that stands for none, or when what was fetched is not what was expected.
        RuntimeError: when the model cannot be fetched.
        FileNotFoundError: when a package that it needs is not installed.
    """
    if name == "minilm":
        from memory.models.minilm import fetch

        fetch(folder / "minilm")
    return choose_embedder(name, folder)
