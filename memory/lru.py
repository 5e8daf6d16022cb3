"""A dictionary of the entries that were used last."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """Holds ``most`` entries; the one that was put or used the longest ago goes first."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def put(self, key: K, value: V) -> V:
        """Set an entry, which is the newest then."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)
        return value

    def use(self, key: K, default: V) -> V:
        """An entry, which is the newest then; ``default`` is put where there is none."""
        return self.put(key, self.get(key, default))
