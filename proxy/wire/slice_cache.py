"""Remember what a slice was read as: a client sends its whole history again with every request."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# What a remembered value weighs beside its text: objects, digest, the key.
_OVERHEAD = 1200


class SliceCache:
    """A bounded memory of parsed slices, least recently used first out. ``limit`` is in bytes of their JSON text."""

    def __init__(self, limit: int = 16 * 1024 * 1024) -> None:
        self.limit = limit
        self.held = 0
        self._known: OrderedDict[tuple[Hashable, bytes], tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def of(self, raw: msgspec.Raw, manner: Hashable, parse: Callable[[msgspec.Raw], T]) -> T:
        """What the slice says. ``manner`` tells apart what one slice can be read as."""
        key = manner, hashlib.blake2b(raw, digest_size=16).digest()
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                value: T = known[0]
                return value
        value = parse(raw)
        weight = len(memoryview(raw)) + _OVERHEAD
        with self._lock:
            if weight <= self.limit and key not in self._known:
                self._known[key] = value, weight
                self.held += weight
                while self.held > self.limit:
                    self.held -= self._known.popitem(last=False)[1][1]
        return value
