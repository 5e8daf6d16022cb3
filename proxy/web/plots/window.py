"""How full a model's window is: one request as a bar, a session as a strip over its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, path, picture, steps

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 16, 30

SOURCES = ("system", "tools", "page", "recall", "results", "talk")
"""What a request's tokens come from, from the axis upwards: what moves least lies lowest."""

NEAR = 0.85
"""The share of a window from which on it is nearly full."""


@dataclass(frozen=True, slots=True)
class WindowUse:
    """One request of a session: the tokens that were sent, those that the client's own history had, what the model
    reads at once; the step by which it was shed, where it was, and how many memories and contents came with it;
    ``sources`` are the tokens that were sent by what they came from, empty where that is not known."""

    at: datetime
    tokens: int
    own: int
    window: int
    shed: str = ""
    recalled: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)


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
    """A session's requests from left to right: what was sent as layers, one for each of :data:`SOURCES`, what the
    client's own history would have been as a line, sheds and rotations marked above, memories that came along below.
    Requests whose sources are not known are of one layer."""
    most = max([*(each.tokens for each in uses), *(each.own for each in uses), 1])
    window = uses[-1].window
    top = max(most, window) if window < 2 * most else most
    base = HEIGHT - BOTTOM
    wide = (WIDTH - LEFT - RIGHT) / len(uses)

    def x(place: int) -> float:
        return LEFT + (place + 0.5) * wide

    def y(tokens: float) -> float:
        return base - tokens / top * (base - TOP)

    own = [(x(place), y(each.own)) for place, each in enumerate(uses)]
    own = [(float(LEFT), own[0][1]), *own, (float(WIDTH - RIGHT), own[-1][1])]
    # The upper ones first: each layer reaches down to the axis, and those below it are drawn over it.
    layers = [element("path", d=steps(LEFT, wide, [y(each.tokens) for each in uses], base), class_="untold")]
    for name in reversed([name for name in SOURCES if any(each.sources.get(name) for each in uses)]):
        heights = [y(_cumulative_tokens(name, each.sources)) for each in uses]
        layers.append(element("path", d=steps(LEFT, wide, heights, base), class_=f"source {name}"))
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
    return picture(
        WIDTH,
        HEIGHT,
        _caption(uses),
        *layers,
        element("path", d=path(own), class_="line future"),
        element("line", x1=LEFT, y1=base, x2=WIDTH - RIGHT, y2=base, class_="axis"),
        *limit,
        *marks,
        *recalls,
        element("text", _short(top), x=LEFT - 6, y=TOP + 8, text_anchor="end"),
        element("text", "0", x=LEFT - 6, y=base, text_anchor="end"),
        element("text", f"{uses[0].at:%Y-%m-%d %H:%M}", x=LEFT, y=HEIGHT - 8),
        element("text", f"{uses[-1].at:%Y-%m-%d %H:%M}", x=WIDTH - RIGHT, y=HEIGHT - 8, text_anchor="end"),
        told=_by_source(uses[-1]),
    )


def _cumulative_tokens(name: str, sources: Mapping[str, int]) -> int:
    return sum(sources.get(each, 0) for each in SOURCES[: SOURCES.index(name) + 1])


def _by_source(use: WindowUse) -> str:
    if not use.sources:
        return "What its requests came from was not told apart."
    return "Of the last request: " + ", ".join(f"{name} {use.sources.get(name, 0):,}" for name in SOURCES) + " tokens."


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
