"""``palimpsest history``: what took the place of what; and a fact's strength over time, drawn in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes

ROWS = 10
WIDE = 110
"""Columns of a terminal from which on a history has its times on one line."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"


@takes("user")
def history(
    call: Call,
    id: Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")],
) -> None:
    """Show what a fact took the place of and what took its place, with when each held and when it was known."""
    response = call.ask("GET", f"api/facts/{id}/history")
    if call.as_json:
        output.as_json(response)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("id", "held", "known", "state"):
        table.add_column(name, no_wrap=True, style="dim")
    table.add_column("text", overflow="fold", ratio=1)
    console = output.screen()
    # In a narrow window two days stand below each other: else they leave no room for the text.
    then = " " if console.width >= WIDE else "\n"
    for each in response["history"]:
        held = f"{output.day(each['valid_from'])} –{then}{output.day(each['valid_until'])}"
        known = f"{output.day(each['recorded_at'])} –{then}{output.day(each['superseded_at'])}"
        by = ", ".join(id[: output.SHORT] for id in each["superseded_by"])
        state = f"{each['state']}{then}by {by}" if by else each["state"]
        mark = "bold" if each["id"] == response["id"] else ""
        cells = (each["id"][: output.SHORT], held, known, state)
        table.add_row(*(Text(cell) for cell in cells), Text(output.memory_text(each), mark))
    console.print(table)


def draw(data: dict[str, Any], columns: int) -> Iterator[str]:
    """Lines that draw a curve: the past to the left of the mark, the year to come to the right of it."""
    strengths, times = data["strengths"], [datetime.fromisoformat(at) for at in data["times"]]
    now = datetime.fromisoformat(data["now"])
    most = max(strengths, default=0.0) or 1.0
    width = max(min(columns, len(strengths)), 2)
    spots = [round(place * (len(strengths) - 1) / (width - 1)) for place in range(width)]
    heights = [strengths[spot] / most * ROWS for spot in spots]
    for row in range(ROWS, 0, -1):
        label = f"{most * row / ROWS:6.2f} " if row in (ROWS, ROWS // 2) else " " * 7
        yield label + "│" + "".join(_EIGHTHS[_eighths(height - (row - 1))] for height in heights)
    mark = _column(now, times, width)
    uses = {_column(datetime.fromisoformat(at), times, width) for at in data["uses"]}
    axis = ["┬" if place == mark else "╵" if place in uses else "─" for place in range(width)]
    yield f"{0:6.2f} └" + "".join(axis)
    first, last = (f"{at.astimezone():%Y-%m-%d}" for at in (times[0], times[-1]))
    middle = "now"
    room = [" "] * (width + len(last))
    for place, text in ((0, first), (mark - 1, middle), (width - len(last), last)):
        at = max(place, 0)
        if all(each == " " for each in room[max(at - 1, 0) : at + len(text) + 1]):
            room[at : at + len(text)] = text
    yield " " * 8 + "".join(room).rstrip()


def _eighths(height: float) -> int:
    return round(min(max(height, 0.0), 1.0) * 8)


def _column(at: datetime, times: Sequence[datetime], width: int) -> int:
    share = (at - times[0]) / (times[-1] - times[0])
    return round(min(max(share, 0.0), 1.0) * (width - 1))
