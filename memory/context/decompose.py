"""A complex question in simpler ones, without a model: several questions in one message, things compared, several
people or things asked about at once.

"What have Ida and Bo both painted?" is two questions, and one memory seldom answers both. The parts are weighed by
their place: what is asked first is asked most. (Decomposing before retrieving: Press et al. 2022, "Self-Ask"; there by
a model.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.context.message_intent import asking
from memory.language.words import stems


class SplitReason(StrEnum):
    """Why a question was split."""

    SEVERAL = "several questions"
    COMPARISON = "comparison"
    CONJUNCTION = "conjunction"
    ENTITIES = "several names"


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A simpler question; ``weight`` is what it counts beside the whole one, which counts 1."""

    text: str
    weight: float
    shape: SplitReason


MOST: Final = 3
"""Parts of a question at most: each costs a search."""
_FIRST: Final = 0.9
_NEXT: Final = 0.9
"""What the first part weighs, and each further one of what the one before it does."""

_NAME: Final = r"(?:[A-Z][\w'’-]*|[A-Z]{2,})(?: [A-Z][\w'’-]*){0,2}"
# No shorter name is tried where the word behind it does not fit: a run of capitals has many.
_WHOLE_NAME: Final = r"[A-Z][\w'’-]*+(?: [A-Z][\w'’-]*+){0,2}"
_BOTH_NAMES: Final = re.compile(
    rf"\b(?:both )?(?P<one>{_WHOLE_NAME})(?:,)? (?:and|or|vs\.?|versus|than|with) (?P<two>{_NAME})\b"
)
_SIDE: Final = r"[^,.?;]{2,60}?"
_COMPARED: Final = re.compile(
    rf"\b(?:(?:differences?|difference is there|trade-?offs?|compar\w+|decide|choose) (?:between |of )?(?P<one>{_SIDE})"
    rf" (?:and|with|to|vs\.?|versus)|(?:choose|prefer\w*|take|pick|use) (?P<either>{_SIDE}) (?:or|over|rather than))"
    rf" (?P<two>{_SIDE})\s*(?=[?.,;]|$)",
    re.IGNORECASE,
)
_CLAUSES: Final = re.compile(
    r",? (?:and|but|or) (?=(?:(?:in|on|at|from|for|with|by|to) )?(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|(?:did|does|do|is|are|was|were|has|have) (?:[A-Z]\w+|i|we|you|he|she|it|they|the|my|our|your|this|that)\b)",
    re.IGNORECASE,
)
_TOGETHER: Final = re.compile(r"\b(?:together|each other|between|meet|met)\b", re.IGNORECASE)
"""What several do with one another is told at once."""
_ASKS: Final = frozenset("who what when where which why how did does do is are was were has have both".split())  # noqa: SIM905


def parts(text: str) -> tuple[SubQuestion, ...]:
    """The simpler questions that a question consists of; none where it is simple."""
    questions = asking(text)
    for shape, found in (
        (SplitReason.SEVERAL, questions),
        (SplitReason.CONJUNCTION, _clauses(questions[0]) if questions else []),
        (SplitReason.COMPARISON, _compared(text)),
        (SplitReason.ENTITIES, _named(text)),
    ):
        parts_found = [each.strip() for each in found if stems(each)]
        if len(parts_found) > 1:
            weights = [round(_FIRST * _NEXT**place, 3) for place in range(len(parts_found))]
            return tuple(
                SubQuestion(each, weight, shape) for each, weight in zip(parts_found[:MOST], weights, strict=False)
            )
    return ()


def _clauses(text: str) -> list[str]:
    """The clauses of a question; one that leans on the first ("and why did she?") takes its names along."""
    first, *others = _CLAUSES.split(text)
    names = " ".join(dict.fromkeys(re.findall(r"(?<!^)\b[A-Z][a-z]+\b", first)))
    return [first, *(each if re.search(r"\b[A-Z]", each) else f"{each} {names}".strip() for each in others)]


def _compared(text: str) -> list[str]:
    found = _COMPARED.search(text)
    if found is None or not text.rstrip().endswith("?"):
        return []
    sides = (found["one"] or found["either"], found["two"])
    return [" ".join(f"{text[: found.start()]} {side} {text[found.end() :]}".split()) for side in sides]


def _named(text: str) -> list[str]:
    """The question with one of two names each time."""
    found = _BOTH_NAMES.search(text)
    if (
        found is None
        or not text.rstrip().endswith("?")
        or _TOGETHER.search(text)
        or {found["one"].lower(), found["two"].lower()} & _ASKS
    ):
        return []
    one = found["one"].removeprefix("Both ")
    return [" ".join(f"{text[: found.start()]} {name} {text[found.end() :]}".split()) for name in (one, found["two"])]
