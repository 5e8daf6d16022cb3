"""From tokens as we count them to tokens as a provider reports them.

Providers use tokenizers of their own, frame messages in their own way and add instructions that nobody sees. None of
that can be counted, but each reply reports what its request came to. Two things are learned of it: for each model,
how many of the provider's tokens one of ours is worth, of a whole request and of what a request grew by; and for each
session, the last request as an anchor, so that only what has changed since is estimated at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from memory.conversation import Usage

SCALES = (0.3, 3.5)
"""How many of a provider's tokens one of ours may be worth. What is beyond is no tokenizer's doing: a gateway that
leaves out what was cached, a reply that was cut before its usage came, another request's figure."""

MAX_OBSERVATIONS = 31
"""How many of the newest observations are kept for each model: their median is what holds."""

GROWTH = 400
"""Tokens that a request must have grown by for its growth to say something."""

DOUBT = 1.6
"""How far a session may be from what its model usually comes to, as a factor, before its figure is no anchor."""

SURE = 5
"""Observations from which on a model's usual figure is known well enough to doubt a session's."""


UNUSUAL = 0.9
"""The share of what was observed that is not dearer than the dearest that is reckoned with."""

UNKNOWN = 1.05
"""A provider's tokens per one of ours where it has reported none (as in streams for which nobody asked for usage):
the large vocabularies of other makers are a little coarser than the one that we count with. One that is much coarser
refuses the request, which is then shortened and sent again, and that is learned."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A session's last request: what we counted, and what the provider reported."""

    counted: int
    reported: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of one model: provider's tokens per one of ours, of whole requests and of their growth; the newest
    observations last."""

    wholes: tuple[float, ...] = ()
    growths: tuple[float, ...] = ()

    @property
    def whole(self) -> float:
        """Of a whole request."""
        return median(self.wholes) if self.wholes else UNKNOWN

    @property
    def growth(self) -> float:
        """Of what a request grows by, or shrinks by."""
        return median(self.growths) if len(self.growths) >= SURE else self.whole

    def expected(self, counted: int, anchor: Anchor | None = None) -> int:
        """What the provider will report for a request that we count so many tokens in; never below zero."""
        if anchor is None:
            return max(round(self.whole * counted), 0)
        grown = counted - anchor.counted
        return max(round(anchor.reported + self._scale(anchor, grown < 0) * grown), 0)

    def doubt(self, counted: int, anchor: Anchor | None = None) -> int:
        """By how many tokens the provider may report more than is expected: what is new has its own share of words,
        figures and spaces, and one text in ten is further from the usual one than this."""
        if anchor is None or len(self.growths) < SURE:
            return 0
        dearest = sorted(self.growths)[int(UNUSUAL * len(self.growths))]
        return max(round((dearest - self.growth) * (counted - anchor.counted)), 0)

    def ours(self, reported: int, anchor: Anchor | None = None) -> int:
        """How many tokens we count in a request for which the provider reports so many: the way back."""
        if anchor is None:
            return max(int(reported / self.whole), 0)
        grown = reported - anchor.reported
        return max(int(anchor.counted + grown / self._scale(anchor, grown < 0)), 0)

    def _scale(self, anchor: Anchor, shrinking: bool) -> float:
        """What a token more, or less, comes to. What leaves a session takes no more with it than its own share."""
        return min(self.growth, anchor.reported / anchor.counted) if shrinking else self.growth

    def learned(
        self, counted: int, usage: Usage | None, anchor: Anchor | None = None
    ) -> tuple[Calibration, Anchor | None]:
        """With one more exchange, and the session's new anchor; what makes no sense changes nothing."""
        if usage is None or counted <= 0 or not SCALES[0] <= usage.input / counted <= SCALES[1]:
            return self, anchor
        whole = usage.input / counted
        known = replace(self, wholes=(*self.wholes, whole)[-MAX_OBSERVATIONS:])
        if len(self.wholes) >= SURE and not 1 / DOUBT <= whole / self.whole <= DOUBT:
            return known, anchor
        if anchor is not None and counted - anchor.counted >= GROWTH:
            growth = (usage.input - anchor.reported) / (counted - anchor.counted)
            if SCALES[0] <= growth <= SCALES[1]:
                known = replace(known, growths=(*known.growths, growth)[-MAX_OBSERVATIONS:])
        return known, Anchor(counted, usage.input)

    def as_json(self) -> dict[str, list[float]]:
        """Plain values for a store; :func:`calibration_of` is the inverse."""
        return {"whole": [round(each, 4) for each in self.wholes], "growth": [round(each, 4) for each in self.growths]}


def calibration_of(stored: Any) -> Calibration:
    """A calibration out of plain values; whatever is not of that form is left out."""
    if not isinstance(stored, Mapping):
        return Calibration()
    return Calibration(_scales(stored.get("whole")), _scales(stored.get("growth")))


def _scales(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list):
        return ()
    numbers = (float(value) for value in values if isinstance(value, int | float))
    return tuple(value for value in numbers if SCALES[0] <= value <= SCALES[1])[-MAX_OBSERVATIONS:]
