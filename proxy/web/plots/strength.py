"""How strong a memory was since it was made, and will be in a year if nobody uses it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, path, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 640, 190
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 14, 30


def strength(times: Sequence[datetime], strengths: Sequence[float], uses: Sequence[datetime], now: datetime) -> Markup:
    """The curve: what was as a line, what will be as a dashed one, each use as a dot on the axis."""
    most = max([*strengths, 0.1])
    first, last = times[0], times[-1]
    span = max((last - first).total_seconds(), 1.0)
    base = HEIGHT - BOTTOM

    def x(at: datetime) -> float:
        share = min(max((at - first).total_seconds() / span, 0.0), 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return base - value / most * (base - TOP)

    points = [(x(at), y(value)) for at, value in zip(times, strengths, strict=True)]
    past = [point for at, point in zip(times, points, strict=True) if at <= now]
    future = points[max(len(past) - 1, 0) :]
    here = x(now)
    return picture(
        WIDTH,
        HEIGHT,
        _caption(times, strengths, uses, now),
        element("path", d=path(past, base), class_="area"),
        element("path", d=path(past), class_="line"),
        element("path", d=path(future), class_="line future"),
        element("line", x1=LEFT, y1=base, x2=WIDTH - RIGHT, y2=base, class_="axis"),
        element("line", x1=here, y1=TOP, x2=here, y2=base, class_="now"),
        *(element("circle", cx=x(at), cy=base, r=3.5, class_="use") for at in uses),
        element("text", f"{most:.2f}", x=LEFT - 6, y=TOP + 8, text_anchor="end"),
        element("text", "0", x=LEFT - 6, y=base, text_anchor="end"),
        element("text", f"{first.astimezone(now.tzinfo):%Y-%m-%d}", x=LEFT, y=HEIGHT - 8),
        *([element("text", "now", x=here, y=HEIGHT - 8, text_anchor="middle")] if 110 < here < WIDTH - 110 else []),
        element("text", f"{last.astimezone(now.tzinfo):%Y-%m-%d}", x=WIDTH - RIGHT, y=HEIGHT - 8, text_anchor="end"),
    )


def _caption(times: Sequence[datetime], strengths: Sequence[float], uses: Sequence[datetime], now: datetime) -> str:
    past = [value for at, value in zip(times, strengths, strict=True) if at <= now]
    current = past[-1] if past else strengths[0]
    used = f"used {len(uses)} {'time' if len(uses) == 1 else 'times'}" if uses else "not used yet"
    return f"Strength {strengths[0]:.2f} when it was made, {current:.2f} now, {strengths[-1]:.2f} in a year; {used}"
