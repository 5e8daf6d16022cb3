"""Elements of SVG, escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup


def element(tag: str, *inside: Markup | str, **attributes: object) -> Markup:
    """An element. Underscores in the names of attributes stand for dashes, one at the end for nothing."""
    # Imported late, as what makes the pages is: a server that starts needs neither.
    from markupsafe import Markup, escape

    given = Markup("").join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _short(value))
        for name, value in attributes.items()
        if value is not None
    )
    return Markup("<{}{}>{}</{}>").format(
        Markup(tag), given, Markup("").join(escape(each) for each in inside), Markup(tag)
    )


def picture(width: int, height: int, title: str, *inside: Markup, class_: str = "plot", told: str = "") -> Markup:
    """A drawing that scales with the page; ``told`` says in words what its title leaves out."""
    return element(
        "svg",
        element("title", title),
        *([element("desc", told)] if told else []),
        *inside,
        class_=class_,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=title,
    )


def path(points: list[tuple[float, float]], closed_at: float | None = None) -> str:
    """The data of a line through points; down to ``closed_at`` and back, where it is an area."""
    if not points:
        return ""
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return (
        line if closed_at is None else f"{line}L{points[-1][0]:.1f} {closed_at:.1f}L{points[0][0]:.1f} {closed_at:.1f}Z"
    )


def steps(left: float, wide: float, heights: Sequence[float], base: float | None = None) -> str:
    """The data of a line of steps, each so ``wide``; down to ``base`` and closed, where it is an area."""
    line, last = [f"M{left:.1f} {heights[0]:.1f}"], heights[0]
    for place, height in enumerate(heights):
        if height != last:
            line.append(f"H{left + place * wide:.1f}V{height:.1f}")
            last = height
    line.append(f"H{left + len(heights) * wide:.1f}")
    return "".join(line) if base is None else "".join([*line, f"V{base:.1f}H{left:.1f}Z"])


def _short(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
