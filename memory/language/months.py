"""The names of months and seasons, English and German, and the patterns that find them."""

from typing import Final

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
