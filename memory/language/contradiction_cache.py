"""Whether two texts clash, looked at once in a night."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from memory.language.claim import Claim
from memory.language.contradiction import ContradictionVerdict, compare_claims

CLASH: Final = 0.6
"""How sure it must be that both cannot hold."""


CLAIMS: Final = 16384
"""Texts of which it is kept what they claim: what is new is like what was new before, all through an owner's nights."""


@lru_cache(maxsize=16384)
def compared(older: str, newer: str) -> ContradictionVerdict:
    """What the newer text means for the older one."""
    return compare_claims(_claim(older), _claim(newer))


@lru_cache(maxsize=CLAIMS)
def _claim(text: str) -> Claim:
    return Claim(text)


def clashing(one: str, other: str) -> bool:
    """Whether either of two texts contradicts the other, whichever is the newer one."""
    return compared(one, other).clash >= CLASH or compared(other, one).clash >= CLASH
