"""A name in the middle, around it those that stand in the same memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import cos, pi, sin
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, MARGIN = 720, 30
RINGS = ((12, 130.0), (28, 215.0), (59, 295.0))
"""How many names stand on each ring, and how far from the middle: a hundred with the one in it."""


def graph(name: str, beside: Mapping[str, int], together: Sequence[tuple[str, str, int]]) -> Markup:
    """The names of most memories stand nearest; the thicker a line, the more memories two names stand in together."""
    places = _places(list(beside))
    most = max([*beside.values(), 1])
    height = 2 * _radius(len(places))
    middle = (WIDTH / 2, height / 2)
    links = [
        element(
            "line", x1=places[a][0], y1=places[a][1], x2=places[b][0], y2=places[b][1], class_="tie", stroke_width=0.7
        )
        for a, b, _ in together
        if a in places and b in places
    ]
    spokes = [
        element(
            "line",
            x1=middle[0],
            y1=middle[1],
            x2=x,
            y2=y,
            class_="spoke",
            stroke_width=0.8 + 3.2 * beside[other] / most,
        )
        for other, (x, y) in places.items()
    ]
    nodes = [
        element("circle", element("title", f"{other}: {beside[other]}"), cx=x, cy=y, r=3.5, class_="dot")
        for other, (x, y) in places.items()
    ]
    labels = [
        element("text", _short(other), x=x, y=y - 7, text_anchor="middle")
        for other, (x, y) in islice(places.items(), RINGS[0][0] + RINGS[1][0])
    ]
    caption = ", ".join(f"{other} ({count})" for other, count in islice(beside.items(), 12))
    more = f", and {len(beside) - 12} more" if len(beside) > 12 else ""
    return picture(
        WIDTH,
        height,
        f"{name} stands beside {len(beside)} names: {caption}{more}" if beside else f"{name} stands beside no name",
        *links,
        *spokes,
        *nodes,
        element("circle", cx=middle[0], cy=middle[1], r=7, class_="use"),
        element("text", _short(name), x=middle[0], y=middle[1] - 12, text_anchor="middle", class_="focus"),
        *labels,
    )


def _radius(names: int) -> int:
    """From the middle to the edge, of a drawing with so many names around it."""
    most = 0
    for places, radius in RINGS:
        most += places
        if names <= most:
            return round(radius) + MARGIN
    return round(RINGS[-1][1]) + MARGIN


def _places(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    places: dict[str, tuple[float, float]] = {}
    middle = _radius(len(names))
    left = iter(names)
    for number, (most, radius) in enumerate(RINGS):
        ring = list(islice(left, most))
        for place, name in enumerate(ring):
            angle = 2 * pi * (place + number / len(RINGS)) / len(ring) - pi / 2
            places[name] = (WIDTH / 2 + 1.12 * radius * cos(angle), middle + radius * sin(angle))
    return places


def _short(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"
