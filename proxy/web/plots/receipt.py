"""The memories of one request by their scores, each with the parts that it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from proxy.web.plots.svg import element, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, EACH = 640, 38
LEFT, RIGHT = 8, 60
SHADES = 4
"""Shades in which parts are told apart; the smallest share the last one."""


def receipt(shown: Sequence[tuple[str, float, Mapping[str, float]]]) -> Markup:
    """Text, score and parts of each memory, best first: a bar as long as its score, divided as its parts are to each
    other."""
    most = max([*(score for _, score, _ in shown), 1e-9])
    drawn = []
    for place, (text, score, why) in enumerate(shown):
        y, long = 4 + place * EACH, score / most * (WIDTH - LEFT - RIGHT)
        drawn.append(element("text", _short(text), x=LEFT, y=y + 10))
        parts = sorted(((name, part) for name, part in why.items() if part > 0), key=lambda each: -each[1])
        whole, x = sum(part for _, part in parts) or 1.0, float(LEFT)
        for number, (name, part) in enumerate(parts or [("score", 1.0)]):
            wide = part / whole * long
            told = element("title", f"{name} {part:.2f}")
            shade = f"part part-{min(number, SHADES - 1)}"
            drawn.append(element("rect", told, x=x, y=y + 16, width=wide, height=10, class_=shade))
            x += wide
        drawn.append(element("text", f"{score:.2f}", x=x + 6, y=y + 25))
    caption = "; ".join(f"{_short(text)} {score:.2f}" for text, score, _ in shown)
    return picture(WIDTH, 4 + EACH * len(shown), f"Recalled, by score: {caption}", *drawn)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:89]}…"
