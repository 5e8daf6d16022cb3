"""Whether two texts clash, looked at once in a night."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from memory.language.contradiction import Verdict, compare

CLASH: Final = 0.6
"""How sure it must be that both cannot hold."""


@lru_cache(maxsize=65536)
def compared(older: str, newer: str) -> Verdict:
    """What the newer text means for the older one."""
    return compare(older, newer)


def clashing(one: str, other: str) -> bool:
    """Whether either of two texts contradicts the other, whichever is the newer one."""
    return compared(one, other).clash >= CLASH or compared(other, one).clash >= CLASH
