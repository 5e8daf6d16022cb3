"""Two things that litellm carries in its package and that are read as files, without the seconds its import costs.

Its paths are private to it: a test guards them, and whoever asks gets None where they have moved.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

WINDOWS = "model_prices_and_context_window_backup.json"
VOCABULARIES = ("litellm_core_utils", "tokenizers")


def window_table() -> Path | None:
    """The table of models with their windows and prices."""
    folder = _litellm()
    file = folder / WINDOWS if folder else None
    return file if file and file.is_file() else None


def vocabularies() -> Path | None:
    """The folder with tiktoken's vocabularies, as ``TIKTOKEN_CACHE_DIR`` takes it."""
    parent = _litellm()
    folder = parent.joinpath(*VOCABULARIES) if parent else None
    return folder if folder and folder.is_dir() else None


def _litellm() -> Path | None:
    # A top-level package is found without being imported.
    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None
