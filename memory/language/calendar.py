"""The calendar: the names of days, months and seasons as words and patterns, and the arithmetic of months.

Dates are read in :mod:`memory.language.dates`.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import Final, TypeVar

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

WEEKDAY: Final = f"(?:{'|'.join(WEEKDAYS)})"
"""A day of the week."""

MONTH_NAME: Final = f"(?:{'|'.join(MONTH_NAMES)})"
"""A month, written out."""


MONTHS: Final = {
    name: month
    for month, names in enumerate(
        ("january jan januar", "february feb februar", "march mar märz", "april apr", "may mai", "june jun juni",
         "july jul juli", "august aug", "september sep sept", "october oct oktober", "november nov",
         "december dec dezember"), start=1
    )
    for name in names.split()
}  # fmt: skip
"""The number of each month by its names."""

MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
"""A month's name."""

BEGINNING: Final = "|".join(sorted({name[:3] for name in MONTHS}))
"""What a month's name begins with, for a cheap look."""

SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month with which each season begins."""

SEASON: Final = "|".join(SEASONS)
"""A season's name."""

Day = TypeVar("Day", bound=date)


def months_later(day: Day, count: int) -> Day:
    """The same day of a later month, or its last one; ``count`` may be negative."""
    month = day.month - 1 + count
    year, month = day.year + month // 12, month % 12 + 1
    return day.replace(year=year, month=month, day=min(day.day, monthrange(year, month)[1]))
