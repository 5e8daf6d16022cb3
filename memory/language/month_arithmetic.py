"""The same day of another month."""

from __future__ import annotations

import calendar
from datetime import date
from typing import TypeVar

Day = TypeVar("Day", bound=date)


def months_later(day: Day, count: int) -> Day:
    """The same day of a later month, or its last one; ``count`` may be negative."""
    month = day.month - 1 + count
    year, month = day.year + month // 12, month % 12 + 1
    return day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))
