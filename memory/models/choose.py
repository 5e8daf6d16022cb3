"""Which embedder a name in the settings stands for."""

from __future__ import annotations

from pathlib import Path

from memory.models.hosted import FastembedEmbedding, LitellmEmbedding
from memory.models.minilm import MiniLmEmbedding
from memory.models.static_embedding import StaticEmbedding
from memory.ports import Embedder

NAMES = ("static", "minilm", "fastembed:NAME", "litellm:NAME")


def choose_embedder(name: str, folder: Path) -> Embedder:
    """The embedder of that name. ``folder`` is where fetched models lie.

    Raises:
        ValueError: for a name that stands for none.
        FileNotFoundError: when its model has not been fetched (``palimpsest embedder use`` does).
    """
    if name == "static":
        return StaticEmbedding.load()
    if name == "minilm":
        return MiniLmEmbedding.load(folder / "minilm")
    source, _, model = name.partition(":")
    if source == "fastembed" and model:
        return FastembedEmbedding(model)
    if source == "litellm" and model:
        return LitellmEmbedding(model)
    raise ValueError(f"memory.embedder is {name!r}; there are {', '.join(NAMES)}")
