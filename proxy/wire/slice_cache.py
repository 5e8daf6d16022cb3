"""Remember what a slice was read as: a client sends its whole history again with every request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from memory.lru import WeighedDict

T = TypeVar("T")

# What a remembered value weighs beside its text: objects, digest, the key.
_OVERHEAD = 1200
_WEIGHT = itemgetter(1)


class SliceCache:
    """A bounded memory of parsed slices, least recently used first out. ``limit`` is in bytes of their JSON text."""

    def __init__(self, limit: int = 8 << 20) -> None:
        self._known: WeighedDict[tuple[Hashable, bytes], tuple[Any, int]] = WeighedDict(limit, _WEIGHT)

    @property
    def limit(self) -> int:
        """Bytes that may be remembered."""
        return self._known.room

    @property
    def held(self) -> int:
        """Bytes of what is remembered."""
        return self._known.held

    def of(self, raw: msgspec.Raw, manner: Hashable, parse: Callable[[msgspec.Raw], T]) -> T:
        """What the slice says. ``manner`` tells apart what one slice can be read as."""
        key = manner, hashlib.blake2b(raw, digest_size=16).digest()
        with self._known.lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                value: T = known[0]
                return value
        value = parse(raw)
        self._known.put(key, (value, len(memoryview(raw)) + _OVERHEAD))
        return value
