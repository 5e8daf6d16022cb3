"""How many tokens a model reads at once, by its name as the client sends it.

The figures are litellm's. Clients write a model's name in their own way (a gateway's prefix, a date, a tag), so a
name that does not stand in the table is looked up without those; where gateways differ, the smallest window counts.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from pathlib import Path

import orjson

from memory.models.bundled import window_table

log = logging.getLogger(__name__)


class Windows:
    """Model → window in tokens."""

    def __init__(self, table: Mapping[str, int]) -> None:
        self._exact = {name.lower(): window for name, window in table.items()}
        self._plain: dict[str, int] = {}
        for name, window in self._exact.items():
            for plain in (_base(name), _undated(_base(name))):
                self._plain[plain] = min(window, self._plain.get(plain, window))

    def of(self, model: str) -> int | None:
        """The window of a model, or None where it is not known."""
        name = model.strip().lower()
        for known, asked in (
            (self._exact, name),
            (self._exact, _base(name)),
            (self._exact, _undated(_base(name))),
            (self._plain, _base(name)),
            (self._plain, _undated(_base(name))),
        ):
            if asked in known:
                return known[asked]
        return None

    def __len__(self) -> int:
        return len(self._exact)


async def open_windows() -> Windows:
    """litellm's table, read in a thread; an empty one, and a line in the log, where it cannot be read."""
    return await asyncio.to_thread(_open, window_table())


def read_table(data: bytes) -> dict[str, int]:
    """Model → window, out of the table's JSON. Entries without a whole positive number are left out.

    Raises:
        ValueError: when it is not a JSON object.
    """
    entries = orjson.loads(data)
    if not isinstance(entries, dict):
        raise ValueError("the table of models is no JSON object")
    table = {}
    for name, entry in entries.items():
        window = entry.get("max_input_tokens") if isinstance(entry, dict) else None
        if isinstance(window, int) and not isinstance(window, bool) and window > 0:
            table[name] = window
    return table


def _open(file: Path | None) -> Windows:
    try:
        if file is None:
            raise FileNotFoundError("litellm carries no table of models")
        return Windows(read_table(file.read_bytes()))
    except (OSError, ValueError) as error:
        log.warning("models' windows are not known: %s", error)
        return Windows({})


# "[1m]" is how Claude Code asks for the long window; ":free" and "@latest" are gateways' variants.
_VARIANT = re.compile(r"\[[^\]]*\]$|[:@][^/]*$")
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview)(?:-v\d+)?$")


def _base(name: str) -> str:
    """Without the gateways in front of it and the variant behind it."""
    return _VARIANT.sub("", name.rpartition("/")[2])


def _undated(name: str) -> str:
    return _DATE.sub("", name)
