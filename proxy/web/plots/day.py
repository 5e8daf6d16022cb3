"""A day's requests, from midnight to midnight: what came with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 640, 120
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 18, 24
EVERY_HOURS = 4
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class DayRequest:
    """One request: the tokens that were added to it, how many memories were recalled, whether it was shed."""

    at: datetime
    added: int
    recalled: int
    shed: bool = False


def timeline(requests: Sequence[DayRequest], midnight: datetime, now: datetime) -> Markup:
    """Each request at its time of day: a stem as high as what was added, with a dot where memories were recalled and a
    mark above where something was left out; one that went as it came is a short stroke below the line."""
    most = max([*(each.added for each in requests), 1])
    base = HEIGHT - BOTTOM

    def x(at: datetime) -> float:
        return LEFT + min(max((at - midnight).total_seconds() / DAY_SECONDS, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    parts = [element("line", x1=LEFT, y1=base, x2=WIDTH - RIGHT, y2=base, class_="axis")]
    for each in requests:
        place, top = x(each.at), base - each.added / most * (base - TOP)
        if each.added:
            parts.append(element("line", x1=place, y1=base, x2=place, y2=top, class_="line"))
        else:
            parts.append(element("line", x1=place, y1=base, x2=place, y2=base + 4, class_="axis"))
        if each.recalled:
            parts.append(element("circle", element("title", _told(each)), cx=place, cy=top, r=3, class_="use"))
        if each.shed:
            parts.append(element("path", d=f"M{place - 5:.1f} 2L{place + 5:.1f} 2L{place:.1f} 11Z", class_="shed"))
    parts.append(element("line", x1=x(now), y1=TOP - 6, x2=x(now), y2=base, class_="now"))
    for hour in range(0, 25, EVERY_HOURS):
        place = LEFT + hour / 24 * (WIDTH - LEFT - RIGHT)
        parts.append(element("text", f"{hour:02d}:00", x=place, y=HEIGHT - 8, text_anchor="middle"))
    parts.append(element("text", f"{most:,}", x=LEFT - 6, y=TOP + 4, text_anchor="end"))
    return picture(WIDTH, HEIGHT, _caption(requests), *parts)


def _told(each: DayRequest) -> str:
    memories = "1 memory" if each.recalled == 1 else f"{each.recalled} memories"
    return f"{each.at:%H:%M}: {memories} recalled, {each.added:,} tokens added"


def _caption(requests: Sequence[DayRequest]) -> str:
    touched = [each for each in requests if each.added]
    ends = f" between {requests[0].at:%H:%M} and {requests[-1].at:%H:%M}" if requests else ""
    return (
        f"{len(requests)} requests{ends}; tokens were added to {len(touched)} of them, memories recalled in "
        f"{sum(bool(each.recalled) for each in requests)}, {sum(each.shed for each in requests)} were shed"
    )
