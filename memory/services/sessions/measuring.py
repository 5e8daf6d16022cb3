"""Which sessions go without memory, so that a person can see what it does on their own work."""

from __future__ import annotations

import hashlib

_ALL = 2**64


def held_out(session: str, share: float) -> bool | None:
    """Whether a new session is one of the ``share`` that go without memory, by a hash of its id; None where none do."""
    if share <= 0:
        return None
    digest = hashlib.blake2b(session.encode(), digest_size=8, person=b"held out").digest()
    return int.from_bytes(digest) < share * _ALL
