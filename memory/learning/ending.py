"""When what somebody says to hold for a while is over."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from memory.fact import FactKind
from memory.language.validity import holds_until, is_over, lasts, only_then, time_is_over
from memory.understanding.wording import ENDS

MAY_END: Final = 0.15
"""The probability of holding for a while only from which on a rule that names a time holds until that is over."""
FOR_A_WHILE: Final = timedelta(days=14)
"""How long holds what is said to hold for a while only, where no end is named."""
_LASTING: Final = (FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.CORRECTION, FactKind.FACT)
"""What holds, and is not done or settled at a time."""


def end_of(said: str, dated: str, at: datetime, ends: float, kind: FactKind) -> datetime | None:
    """When a statement is over that was ``said`` at a moment (aware), and reads ``dated`` with its dates absolute;
    ``ends`` is how likely it holds for a while only. None for what lasts: that something was decided stays so."""
    over = holds_until(dated, at) or lasts(said, at)
    ending = ends >= ENDS
    if kind in (FactKind.TASK, FactKind.DECISION) and not ending:
        over = None
    if kind is FactKind.TASK:
        return over
    return over or over_with_its_time(dated, at, ends, kind) or (is_over(dated, at, FOR_A_WHILE) if ending else None)


def over_with_its_time(dated: str, at: datetime, ends: float, kind: FactKind) -> datetime | None:
    """When the time is over that a text names, where it says that it holds then only or the reader finds that it may
    end."""
    return time_is_over(dated, at) if kind in _LASTING and ends >= MAY_END else only_then(dated, at)
