"""Dictionaries of the entries that were used last: so many of them, or so many bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """Holds ``most`` entries; the one that was put or used the longest ago goes first.

    Several threads may use one. An ordered dictionary does not stand that by itself: it has its order beside its
    entries, and another thread has its turn while keys are compared.
    """

    def __init__(self, most: int) -> None:
        self._lock = threading.RLock()
        super().__init__()
        self._most = most

    def put(self, key: K, value: V) -> V:
        """Set an entry, which is the newest then."""
        with self._lock:
            super().__setitem__(key, value)
            self.move_to_end(key)
            while len(self) > self._most:
                self.popitem(last=False)
        return value

    def use(self, key: K, default: V) -> V:
        """An entry, which is the newest then; ``default`` is put where there is none."""
        with self._lock:
            return self.put(key, self.get(key, default))

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock:
            super().__setitem__(key, value)

    def __delitem__(self, key: K) -> None:
        with self._lock:
            super().__delitem__(key)

    def pop(self, key: K, *default: Any) -> Any:
        """Take an entry out, as from any dictionary."""
        with self._lock:
            return super().pop(key, *default)


class WeighedDict(OrderedDict[K, V]):
    """Holds values of ``room`` bytes together at most, as ``weigh`` reckons them, which is the same for a value as long
    as it is here; the entry that was put or moved to the end the longest ago goes first.

    Several threads may use one, by the methods below and, with its ``lock`` held, by ``get`` and ``move_to_end``.
    """

    def __init__(self, room: int, weigh: Callable[[V], int]) -> None:
        self.lock = threading.RLock()
        super().__init__()
        self.room = room
        self.held = 0
        self._weigh = weigh

    def put(self, key: K, value: V) -> None:
        """Set an entry, which is the newest then; one that is larger than all of the room is not kept, nor is what was
        there before."""
        with self.lock:
            if key in self:
                self.held -= self._weigh(self.pop(key))
            weight = self._weigh(value)
            if weight > self.room:
                return
            self[key] = value
            self.held += weight
            while self.held > self.room:
                self.held -= self._weigh(self.popitem(last=False)[1])

    def clear(self) -> None:
        """Take all out."""
        with self.lock:
            super().clear()
            self.held = 0
