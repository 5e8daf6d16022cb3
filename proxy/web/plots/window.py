"""How full a model's window is: one request as a bar, a session as a strip over its requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, path, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 16, 30

NEAR = 0.85
"""The share of a window from which on it is nearly full."""


@dataclass(frozen=True, slots=True)
class WindowUse:
    """One request of a session: the tokens that were sent, those that the client's own history had, what the model
    reads at once; the step by which it was shed, where it was, and how many memories and contents came with it."""

    at: datetime
    tokens: int
    own: int
    window: int
    shed: str = ""
    recalled: int = 0


def usage(tokens: int, window: int) -> Markup:
    """A bar of one request."""
    share = min(tokens / window, 1.0) if window else 0.0
    return picture(
        100,
        8,
        f"{share:.0%} of the window",
        element("rect", x=0, y=0, width=100, height=8, rx=4, class_="track"),
        element("rect", x=0, y=0, width=share * 100, height=8, rx=4, class_="fill full" if share > NEAR else "fill"),
        class_="bar",
    )


def strip(uses: Sequence[WindowUse]) -> Markup:
    """A session's requests from left to right: what was sent as an area, what the client's own history would have been
    as a line, sheds and rotations marked above, memories that came along below."""
    most = max([*(each.tokens for each in uses), *(each.own for each in uses), 1])
    window = uses[-1].window
    top = max(most, window) if window < 2 * most else most
    base = HEIGHT - BOTTOM

    def x(place: int) -> float:
        return LEFT + (place + 0.5) / len(uses) * (WIDTH - LEFT - RIGHT)

    def y(tokens: float) -> float:
        return base - tokens / top * (base - TOP)

    sent = [(x(place), y(each.tokens)) for place, each in enumerate(uses)]
    own = [(x(place), y(each.own)) for place, each in enumerate(uses)]
    marks = [
        element("path", d=_mark(x(place)), class_=f"shed {each.shed}") for place, each in enumerate(uses) if each.shed
    ]
    recalls = [
        element("circle", cx=x(place), cy=base, r=3, class_="use") for place, each in enumerate(uses) if each.recalled
    ]
    limit = (
        [
            element("line", x1=LEFT, y1=y(window), x2=WIDTH - RIGHT, y2=y(window), class_="limit"),
            element("text", "window", x=WIDTH - RIGHT, y=y(window) - 4, text_anchor="end"),
        ]
        if window <= top
        else []
    )
    single = [element("circle", cx=sent[0][0], cy=sent[0][1], r=3, class_="dot")] if len(sent) == 1 else []
    return picture(
        WIDTH,
        HEIGHT,
        _caption(uses),
        element("path", d=path(sent, base), class_="area"),
        element("path", d=path(own), class_="line future"),
        element("path", d=path(sent), class_="line"),
        *single,
        element("line", x1=LEFT, y1=base, x2=WIDTH - RIGHT, y2=base, class_="axis"),
        *limit,
        *marks,
        *recalls,
        element("text", _short(top), x=LEFT - 6, y=TOP + 8, text_anchor="end"),
        element("text", "0", x=LEFT - 6, y=base, text_anchor="end"),
        element("text", f"{uses[0].at:%Y-%m-%d %H:%M}", x=LEFT, y=HEIGHT - 8),
        element("text", f"{uses[-1].at:%Y-%m-%d %H:%M}", x=WIDTH - RIGHT, y=HEIGHT - 8, text_anchor="end"),
    )


def _mark(x: float) -> str:
    return f"M{x - 5:.1f} 4L{x + 5:.1f} 4L{x:.1f} 13Z"


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens:,}"


def _caption(uses: Sequence[WindowUse]) -> str:
    sheds = sum(bool(each.shed) for each in uses)
    rotations = sum(each.shed == "rotate" for each in uses)
    last = uses[-1]
    return (
        f"{len(uses)} requests; the last one had {last.tokens:,} of {last.window:,} tokens, the client's own history "
        f"{last.own:,}; shed {sheds} times, {rotations} of them by a new segment; memories came with "
        f"{sum(bool(each.recalled) for each in uses)} of them"
    )
