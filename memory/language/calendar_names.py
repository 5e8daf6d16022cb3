"""The names of days and months in English, as words and as patterns. Dates are read in :mod:`memory.language.dates`."""

from __future__ import annotations

from typing import Final

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

WEEKDAY: Final = f"(?:{'|'.join(WEEKDAYS)})"
"""A day of the week."""

MONTH_NAME: Final = f"(?:{'|'.join(MONTH_NAMES)})"
"""A month, written out."""
