"""How many tokens a model reads at once, and what they cost, by its name as the client sends it.

The figures are litellm's, in a file of the package that ``memory/models/training/snapshot.py`` makes. Clients write a
model's name in their own way (a gateway's prefix, a date, a tag), so a name that does not stand in the table is looked
up without those; where gateways differ, the smallest window counts, and its prices with it. Over the table stand the
windows that a provider told us by refusing a request, and over those what a person has set.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from memory.context.budget import Prices
from memory.language.static_embedding import DATA
from memory.settings import MemorySettings

log = logging.getLogger(__name__)

TABLE = DATA / "windows.json"
"""Models, their windows and their prices."""

PLAUSIBLE = range(1000, 20_000_001)
"""Tokens that a window may have; a smaller or larger figure in a provider's error is about something else."""

LEARNED = 500
"""Models whose learned windows are kept; the oldest go first."""

MAX_NAME_CHARS = 300
"""Characters of a model's name. A client may send any; of a longer one nothing is known or kept."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the table says of a model: its window and its longest reply in tokens (0 where it does not say), and what
    its tokens cost."""

    window: int
    reply: int = 0
    prices: Prices | None = None


class ModelTable:
    """Models by their lower-case names, and by what is left of a name without gateway, variant and date."""

    def __init__(self, entries: Mapping[str, ModelFacts]) -> None:
        # Many names stand for the same model, and nearly all are written small.
        same: dict[ModelFacts, ModelFacts] = {}
        self.exact = {
            name if name.islower() else name.lower(): same.setdefault(known, known) for name, known in entries.items()
        }
        self.plain: dict[str, ModelFacts] = {}
        for name, known in self.exact.items():
            for plain in (_base_name(name), _undated(_base_name(name))):
                other = self.plain.get(plain)
                if other is None or known.window < other.window:
                    self.plain[plain] = known


class ModelWindows:
    """Model → window, prices, longest reply."""

    def __init__(self, table: ModelTable, settings: MemorySettings | None = None) -> None:
        self._settings = settings or MemorySettings()
        self._set = [(_wildcard_pattern(name), tokens) for name, tokens in self._settings.windows.items()]
        self._exact, self._plain = table.exact, table.plain
        self._learned: dict[str, int] = {}
        self._found: dict[str, ModelFacts | None] = {}
        self._warned: set[str] = set()

    def of(self, model: str) -> int:
        """The window of a model; the default where it is not known, and one warning in the log where it has a name."""
        window = self.known(model)
        if window is None:
            window = self._settings.default_window
            name = model[:MAX_NAME_CHARS]
            if name and name not in self._warned and len(self._warned) < LEARNED:
                self._warned.add(name)
                log.warning(
                    "the window of %r is not known, %d tokens are taken: set memory.windows or memory.default_window",
                    name,
                    window,
                )
        return window

    def known(self, model: str) -> int | None:
        """The window of a model as a person set it, as its provider told it, or as the table has it."""
        name = model.strip().lower()
        # A name without end is nobody's, and would be looked through many times.
        for pattern, tokens in self._set if len(name) <= MAX_NAME_CHARS else ():
            if pattern.fullmatch(name) or pattern.fullmatch(_base_name(name)):
                return tokens
        learned = self._learned.get(name)
        if learned is not None:
            return learned
        found = self._lookup(name)
        return found.window if found else None

    def prices(self, model: str) -> Prices | None:
        """What a model's tokens cost; None where that is not known."""
        found = self._lookup(model.strip().lower())
        return found.prices if found else None

    def reply(self, model: str) -> int:
        """The longest reply of a model; 0 where that is not known."""
        found = self._lookup(model.strip().lower())
        return found.reply if found else 0

    def learn(self, model: str, window: int) -> bool:
        """A provider has refused a request because it reads only so many tokens; whether that is news."""
        name = model.strip().lower()
        if not 0 < len(name) <= MAX_NAME_CHARS or window not in PLAUSIBLE or self._learned.get(name) == window:
            return False
        self._learned.pop(name, None)
        self._learned[name] = window
        while len(self._learned) > LEARNED:
            del self._learned[next(iter(self._learned))]
        log.info("%r reads %d tokens at once, its provider says", model, window)
        return True

    def as_json(self) -> dict[str, int]:
        """What was learned, as plain values for a store; :meth:`restore` is the inverse."""
        return dict(self._learned)

    def restore(self, stored: Any) -> None:
        """Take what was learned before; whatever is not of that form is left out."""
        if isinstance(stored, dict):
            self._learned |= {
                name: window
                for name, window in stored.items()
                if isinstance(name, str) and type(window) is int and window in PLAUSIBLE
            }

    def __len__(self) -> int:
        return len(self._exact)

    def _lookup(self, name: str) -> ModelFacts | None:
        if len(name) > MAX_NAME_CHARS:
            return None
        if name not in self._found:
            if len(self._found) > 10 * LEARNED:
                self._found.clear()
            self._found[name] = self._look(name)
        return self._found[name]

    def _look(self, name: str) -> ModelFacts | None:
        for known, asked in (
            (self._exact, name),
            (self._exact, _base_name(name)),
            (self._exact, _undated(_base_name(name))),
            (self._plain, _base_name(name)),
            (self._plain, _undated(_base_name(name))),
        ):
            if asked in known:
                return known[asked]
        return None


async def open_windows(settings: MemorySettings | None = None, file: Path = TABLE) -> ModelWindows:
    """The table, read in a thread; an empty one, and a line in the log, where it cannot be read."""
    return await asyncio.to_thread(_open, file, settings)


def read_table(data: bytes) -> dict[str, ModelFacts]:
    """Model → what is known, out of the table's JSON. Entries without a whole positive window are left out.

    Raises:
        ValueError: when it is not a JSON object.
    """
    try:
        entries = _TABLE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the table of models is no JSON object: {error}") from error
    table = {}
    for name, entry in entries.items():
        if isinstance(entry, _PriceEntry) and (window := _whole(entry.max_input_tokens)):
            table[name] = ModelFacts(window, _whole(entry.max_output_tokens), _prices(entry))
    return table


class _PriceEntry(msgspec.Struct, gc=False):
    """What is read of an entry: of the thirty fields that most have, no others are made."""

    max_input_tokens: Any = None
    max_output_tokens: Any = None
    input_cost_per_token: Any = None
    cache_creation_input_token_cost: Any = None
    cache_read_input_token_cost: Any = None
    output_cost_per_token: Any = None


FIELDS = _PriceEntry.__struct_fields__
"""The fields of an entry that are read."""

_TABLE = msgspec.json.Decoder(dict[str, _PriceEntry | list[Any] | str | float | bool | None])


def _prices(entry: _PriceEntry) -> Prices | None:
    """Prices of short requests at the usual tier; where reading from the cache has no price of its own, it costs what
    new text costs (there is none)."""
    new = _cost(entry.input_cost_per_token)
    if not new:
        return None
    cached = _cost(entry.cache_read_input_token_cost)
    return Prices(
        fresh=max(_cost(entry.cache_creation_input_token_cost) or 0.0, new),
        cached=new if cached is None else cached,
        output=_cost(entry.output_cost_per_token) or 0.0,
    )


def _cost(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 else None


def _whole(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _open(file: Path, settings: MemorySettings | None) -> ModelWindows:
    try:
        return ModelWindows(_parsed(file, file.stat().st_mtime_ns), settings)
    except (OSError, ValueError) as error:
        log.warning("models' windows are not known: %s", error)
        return ModelWindows(ModelTable({}), settings)


# A process may open more than one memory; to read the table is a good part of what opening one takes.
@lru_cache(maxsize=1)
def _parsed(file: Path, changed: int) -> ModelTable:
    return ModelTable(read_table(file.read_bytes()))


# "[1m]" is how Claude Code asks for the long window; ":free" and "@latest" are gateways' variants.
_VARIANT = re.compile(r"\[[^\]]*\]$|[:@][^/]*$")
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview)(?:-v\d+)?$")


def _wildcard_pattern(name: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, name.strip().lower().split("*"))))


def _base_name(name: str) -> str:
    """Without the gateways in front of it and the variant behind it."""
    return _VARIANT.sub("", name.rpartition("/")[2])


def _undated(name: str) -> str:
    return _DATE.sub("", name)
