"""Which kind of text it is, and its two lower tiers.

Each maker of an overview knows its own kind and answers None to all others; the first that answers has its share of
the room, and the rest goes to the most telling lines that are not in it yet.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from memory.tiers.code import code
from memory.tiers.diffs import diff
from memory.tiers.headline import headline
from memory.tiers.json_skeleton import json_skeleton
from memory.tiers.lines import ends, led_by, lines, pieces
from memory.tiers.listings import is_listing, is_search, listing, searches
from memory.tiers.logs import log
from memory.tiers.pages import markdown, table, web_page
from memory.tiers.prose import prose
from memory.tiers.shape import Hint, Overview, Tiers, budget_of
from memory.tiers.terminal_lines import clean, cut
from memory.tiers.tool_output_frame import UnframedOutput, unframed

WORTH_AN_OVERVIEW: Final = 600
"""Characters below which L0 is all there is."""
_SHORTEST: Final = 100
"""Characters below which an overview says no more than the line."""

# With their share of the room; what a maker does not use goes to the lines that tell most. Those that fill their room
# with such lines themselves have all of it. On transcripts a larger share of JSON's skeleton lost lines that were
# used again; for changes, searches and listings the share made little difference.
_FOUND: tuple[tuple[Overview, float], ...] = ((searches, 0.5), (listing, 0.6))
# In the order in which they are asked: the surest signs first, and among these the cheapest.
_MAKERS: tuple[tuple[Overview, float], ...] = (
    (diff, 0.5),
    (json_skeleton, 0.2),
    (web_page, 1.0),
    (log, 1.0),
    (code, 1.0),
    (markdown, 1.0),
    (table, 1.0),
    *_FOUND,
    (prose, 1.0),
)
_FULL: Final = 0.85
"""Of its room: an overview that has so much of it is left as it is."""


def tiers(text: str, hint: Hint) -> Tiers:
    """L0 and L1 of a text: deterministic, within their limits whatever the text is."""
    framed = unframed(clean(text))
    limit = budget_of(text)
    overview = _overview(framed, hint, limit) if len(text) >= WORTH_AN_OVERVIEW else ""
    return Tiers(headline(framed, hint), overview if len(overview) >= _SHORTEST else "")


def line(text: str, hint: Hint) -> str:
    """L0 alone."""
    return headline(unframed(clean(text)), hint)


def _overview(framed: UnframedOutput, hint: Hint, limit: int) -> str:
    head = f"Exit code {framed.exit}\n" if framed.exit else ""
    room = limit - len(head)
    body = framed.body
    for make, share in (*_FOUND, *_MAKERS) if is_search(hint) or is_listing(hint) else _MAKERS:
        overview = make(body, hint, int(room * share))
        if overview:
            return cut(head + filled(overview, body, hint, room), limit)
    return cut(head + lines(body, hint, room), limit)


def filled(overview: str, body: str, hint: Hint, limit: int) -> str:
    """An overview with what room is left used for the lines that tell most."""
    if len(overview) > limit * _FULL:
        return overview
    rows = pieces(ends(body))
    places = _places(overview.split("\n"), rows)
    if places is not None:
        return led_by(places, rows, hint, limit, 1.0)
    more = lines(body, hint, limit - len(overview) - 1, overview)
    return f"{overview}\n{more}" if more else overview


def _places(overview: Sequence[str], rows: Sequence[str]) -> list[int] | None:
    """Where the lines of an overview stand in the text, or None where it is more than a choice of lines."""
    at: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        at[row.strip()].append(number)
    places: list[int] = []
    filled_rows = [row.strip() for row in overview if row.strip() and not row.lstrip().startswith("…")]
    before = -1
    for row in filled_rows:
        numbers = at.get(row)
        if numbers is None:
            continue
        next_one = bisect_right(numbers, before)
        before = numbers[next_one] if next_one < len(numbers) else numbers[-1]
        places.append(before)
    return places if filled_rows and len(places) >= 0.9 * len(filled_rows) else None
