"""What had been read behind so many messages of a session since a person last spoke: reckoned on from exchange to
exchange, so that a long turn is not read again with each of its requests.

Only ever a shortcut: without it the same is read from the newest spoken message on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from memory.conversation import Message, Role
from memory.fact import Origin
from memory.learning.taint import taint_of
from memory.lru import LruDict
from memory.stores.histories import DIGEST, split

_STEP = 200
"""Messages that are read at once, from the end on."""

Read = Callable[[Sequence[bytes]], Mapping[bytes, Message]]


@dataclass(frozen=True, slots=True)
class _KnownTaint:
    """The taint behind a history of so many bytes with this hash."""

    size: int
    hash: bytes
    taint: Origin | None


class RunningTaints:
    """The taints of the sessions that are alive, of ``most`` of them."""

    def __init__(self, most: int = 512) -> None:
        self._lock = threading.Lock()
        self._known: LruDict[str, _KnownTaint] = LruDict(most)

    def behind(self, history: bytes, *, of: str, read: Read) -> Origin | None:
        """The taint behind a joined history of the session ``of``; ``read`` gives messages by their digests."""
        with self._lock:
            known = self._known.get(of)
        if known is None or known.hash != _hash(history[: known.size]):
            known = _KnownTaint(0, b"", None)
        # Its last message again: what a runtime says is told by what stands before it.
        first = max(known.size // DIGEST - 1, 0)
        digests = split(history)
        unread: list[Message] = []
        end, spoken = len(digests), False
        while end > first and not spoken:
            start = max(first, end - _STEP)
            found = read(digests[start:end])
            step = [found[key] for key in digests[start:end]]
            spoken = any(message.role is Role.USER and message.spoken for message in step)
            unread[:0] = step
            end = start
        taint = taint_of(unread, known.taint)
        with self._lock:
            self._known.put(of, _KnownTaint(len(history), _hash(history), taint))
        return taint


def _hash(history: bytes) -> bytes:
    return blake2b(history, digest_size=16).digest()
