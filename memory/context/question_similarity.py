"""How like a question is to one that a sub-agent has answered before.

Two questions are alike as far as they share their rare words and mean the same. A title ("Explore hook handlers") says
so little that one other word makes it another question. Where a short question can only be held against a long prompt
of which no title is known, nothing but its fit can be told: how much of it the prompt and the report cover.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.language.words import stems
from memory.ports import Vector
from memory.research import Research

TITLE: Final = 6
"""Stems up to which a text is a title."""

SHORT: Final = 12
"""Stems up to which a question is compared with titles too."""

OTHER: Final = 0.6
"""The most that two titles are alike that do not have the same words."""

LONGER: Final = 3
"""How many times as long as a title a prompt is that cannot be compared with it."""

CLEAR: Final = 0.05
"""By how much a title that is not the same to the letter must be liker to one research than to the next."""

FIT: Final[Mapping[str, tuple[float, float]]] = {
    "question": (1.0, 0.0),
    "opening": (0.5, 0.5),
    "report": (0.5, 0.5),
    "findings": (0.5, 0.5),
}
"""What a piece's coverage and its cosine weigh in a fit."""

LEAST_FIT: Final = 0.2
"""The fit from which on a research may be what a title without a counterpart asks for."""

MOST: Final = 5
"""Research that is weighed at most."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text as it is compared: its stems and what it means."""

    text: str
    stems: frozenset[str]
    vector: Vector

    @property
    def title(self) -> bool:
        """Whether it is no more than a title."""
        return len(self.stems) <= TITLE

    @property
    def short(self) -> bool:
        """Whether it may be a title, or little more."""
        return len(self.stems) <= SHORT


@dataclass(frozen=True, slots=True)
class Alike:
    """A research with how like its question is, 0..1; ``sure`` says that it is the same question, else only that it
    may be what is asked for."""

    research: Research
    likeness: float
    sure: bool


@dataclass(frozen=True, slots=True)
class SimilarResearch:
    """A research that may be alike: its question and its title as they are compared (no title where none is known),
    and its fit (see :func:`fit`)."""

    research: Research
    question: ComparedText
    title: ComparedText | None
    fit: float


def compared_text(text: str, vector: Vector) -> ComparedText:
    """A text to compare."""
    return ComparedText(" ".join(text.split()).casefold(), frozenset(stems(text)), vector)


def fit(parts: Mapping[str, tuple[float, float]]) -> float:
    """How much of a question the pieces of a research cover, 0..1, from each piece's coverage and cosine."""
    whole = sum(sum(weights) for weights in FIT.values())
    found = sum(
        coverage * FIT[name][0] + max(cosine, 0.0) * FIT[name][1]
        for name, (coverage, cosine) in parts.items()
        if name in FIT
    )
    return found / whole


def likeness(left: ComparedText, right: ComparedText, weight: Callable[[str], float]) -> float:
    """How alike two texts are, 0..1; ``weight`` is a stem's rarity."""
    if left.text == right.text:
        return 1.0
    both = sum(map(weight, left.stems | right.stems))
    shared = sum(map(weight, left.stems & right.stems)) / both if both > 0 else 0.0
    cosine = max(float(np.dot(left.vector, right.vector)), 0.0)
    # The same words in another order, or with another article, are not to the letter the same.
    alike = min((cosine + shared) / 2, 0.99)
    return min(alike, OTHER) if left.title and right.title and left.stems != right.stems else alike


def alike(
    question: ComparedText, candidates: list[SimilarResearch], weight: Callable[[str], float], least: float
) -> tuple[Alike, ...]:
    """The research whose question is that one, likest first; where there is none, what may be asked for, best fit
    first, if that is all that can be told. ``least`` is the likeness from which on a question is the same."""
    scored = sorted(
        ((max(_likenesses(question, each, weight)), each) for each in candidates),
        key=lambda pair: (-pair[0], -pair[1].fit, pair[1].research.id),
    )
    sure = [Alike(each.research, score, True) for score, each in scored if score >= least]
    exact = [each for each in sure if each.likeness == 1.0]
    if exact or not question.short:
        return tuple((exact or sure)[:MOST])
    if sure:
        clear = len(sure) == 1 or not question.title or sure[0].likeness - sure[1].likeness >= CLEAR
        return tuple(sure[:1] if question.title else sure[:MOST]) if clear else ()
    untitled = [each for each in candidates if each.title is None and _beyond(question, each.question)]
    untitled = [each for each in untitled if each.fit >= LEAST_FIT]
    untitled.sort(key=lambda each: (-each.fit, each.research.id))
    return tuple(Alike(each.research, each.fit, False) for each in untitled[:MOST])


def _likenesses(question: ComparedText, candidate: SimilarResearch, weight: Callable[[str], float]) -> list[float]:
    found = [likeness(question, candidate.question, weight)]
    if candidate.title is not None and question.short:
        found.append(likeness(question, candidate.title, weight))
    return found


def _beyond(title: ComparedText, prompt: ComparedText) -> bool:
    """Whether a prompt is so much longer than a title that they cannot be compared."""
    return len(prompt.stems) > LONGER * len(title.stems)
