"""What was saved and spent, model by model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.ports import Sum
from proxy.web.plots.svg import element, picture
from proxy.words import money

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, EACH = 640, 34
MIDDLE = 320


@dataclass(frozen=True, slots=True)
class Row:
    """The sums of one model. ``saved`` and ``spent`` are US dollars, of the ``priced`` requests."""

    model: str
    requests: int = 0
    added: int = 0
    shorter: int = 0
    input: int = 0
    cached: int = 0
    saved: float = 0.0
    spent: float = 0.0
    priced: int = 0

    def plus(self, more: Sum, saved: float, spent: float, priced: bool) -> Row:
        """With the sums of further requests."""
        return Row(
            self.model,
            self.requests + more.requests,
            self.added + more.added,
            self.shorter + more.shorter,
            self.input + more.input,
            self.cached + more.cached,
            self.saved + saved,
            self.spent + spent,
            self.priced + (more.requests if priced else 0),
        )

    @property
    def net(self) -> float:
        """What is left of it; below zero where more was spent than saved."""
        return self.saved - self.spent


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
            element("text", _short(row.model), x=4, y=y + 11),
            element(
                "text",
                money(row.net),
                x=MIDDLE + long + 6 if row.net >= 0 else MIDDLE - long - 6,
                y=y + 24,
                text_anchor="start" if row.net >= 0 else "end",
            ),
        ]
    told = "; ".join(f"{row.model}: {money(row.net)}" for row in drawn)
    return picture(WIDTH, height, f"Estimated net sum by model: {told}", *parts)


def _short(name: str) -> str:
    return name if len(name) <= 44 else f"{name[:43]}…"
