"""Load an embedder by name, and fetch its model first where that is ours to fetch."""

from __future__ import annotations

from pathlib import Path

from memory.models.embedder_choice import choose_embedder
from memory.ports import Embedder


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
