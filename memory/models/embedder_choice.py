"""Which embedder a name in the settings stands for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.language.static_embedding import DATA, StaticEmbedding
from memory.ports import Embedder

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
