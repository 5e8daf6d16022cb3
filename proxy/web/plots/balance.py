"""What was saved and spent, day by day or model by model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proxy.api.savings import Row
from proxy.explanations import money
from proxy.web.plots.svg import element, picture

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, EACH = 640, 34
MIDDLE = 320
HEIGHT, LEFT = 150, 60


def balance(rows: Sequence[Row]) -> Markup:
    """Each model's net sum as a bar from the middle: to the right what was saved, to the left what was spent."""
    drawn = [row for row in rows if row.priced][:12]
    most = max([*(abs(row.net) for row in drawn), 1e-9])
    height = EACH * len(drawn) + 8
    parts = [element("line", x1=MIDDLE, y1=2, x2=MIDDLE, y2=height - 2, class_="axis")]
    for place, row in enumerate(drawn):
        y, long = 4 + place * EACH, abs(row.net) / most * (MIDDLE - 110)
        left = MIDDLE if row.net >= 0 else MIDDLE - long
        parts += [
            element("rect", x=left, y=y + 14, width=long, height=12, rx=2, class_="gain" if row.net >= 0 else "loss"),
            element("text", _short(row.name), x=4, y=y + 11),
            element(
                "text",
                money(row.net),
                x=MIDDLE + long + 6 if row.net >= 0 else MIDDLE - long - 6,
                y=y + 24,
                text_anchor="start" if row.net >= 0 else "end",
            ),
        ]
    caption = "; ".join(f"{row.name}: {money(row.net)}" for row in drawn)
    return picture(WIDTH, height, f"Estimated net sum by model: {caption}", *parts)


def daily(days: Sequence[str], rows: Sequence[Row]) -> Markup:
    """The net sum of each of some days as a bar: upwards what was saved, downwards what was spent."""
    net = {row.name: row.net for row in rows if row.priced}
    high, low = max([*net.values(), 0.0]), min([*net.values(), 0.0])
    scale = (HEIGHT - 40) / max(high - low, 1e-9)
    zero, wide = 12 + high * scale, (WIDTH - LEFT - 8) / max(len(days), 1)
    parts = [element("line", x1=LEFT, y1=zero, x2=WIDTH - 8, y2=zero, class_="axis")]
    for place, day in enumerate(days):
        if (value := net.get(day)) is None:
            continue
        tall = max(abs(value) * scale, 1.0)
        parts.append(
            element(
                "rect",
                element("title", f"{day}: {money(value)}"),
                x=LEFT + place * wide + 1.5,
                y=zero - tall if value >= 0 else zero,
                width=max(wide - 3, 1.0),
                height=tall,
                class_="gain" if value >= 0 else "loss",
            )
        )
    parts += [
        element("text", money(high), x=LEFT - 6, y=16, text_anchor="end"),
        *([element("text", money(low), x=LEFT - 6, y=HEIGHT - 26, text_anchor="end")] if low < 0 else []),
        element("text", days[0], x=LEFT, y=HEIGHT - 6),
        element("text", days[-1], x=WIDTH - 8, y=HEIGHT - 6, text_anchor="end"),
    ]
    told = "; ".join(f"{day}: {money(net[day])}" for day in days if day in net)
    return picture(WIDTH, HEIGHT, f"Estimated net sum by day: {told}", *parts)


def _short(name: str) -> str:
    return name if len(name) <= 44 else f"{name[:43]}…"
