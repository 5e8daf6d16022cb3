"""How much a fact matters, before anything is known of its use: what it is, who said it, and how they said it."""

from __future__ import annotations

import re

from memory.fact import FactKind, Origin

_BY_KIND: dict[FactKind, float] = {
    FactKind.CORRECTION: 0.8,
    FactKind.CONVENTION: 0.75,
    FactKind.PREFERENCE: 0.7,
    FactKind.DECISION: 0.65,
    FactKind.ANTI_PATTERN: 0.65,
    FactKind.HEURISTIC: 0.55,
    FactKind.TASK: 0.55,
    FactKind.FACT: 0.5,
    FactKind.PATTERN: 0.5,
    FactKind.OBSERVATION: 0.4,
}
_BY_ORIGIN: dict[Origin, float] = {
    Origin.PERSON: 1.0,
    Origin.USER: 1.0,
    Origin.BEHAVIOUR: 0.85,
    Origin.ASSISTANT: 0.75,
    Origin.SUBAGENT: 0.65,
    Origin.FILE: 0.6,
    Origin.TOOL: 0.6,
    Origin.WEB: 0.55,
}
_STRESSED = re.compile(
    r"\b(?:very important|extremely|crucial|critical(?:ly)?|essential|absolutely|must|never|always|strictly|under no "
    r"circumstances|allergic|deal-?breaker|non-negotiable|at all costs|remember|wichtig|unbedingt|niemals)\b|!{2,}",
    re.IGNORECASE,
)
_SHOUTED = re.compile(r"\b(?:NEVER|ALWAYS|MUST|IMPORTANT|NOT|DO NOT|CRITICAL)\b")
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|i think|i guess|not sure|probably|might|for now|possibly|kind of|sort of|vielleicht)\b",
    re.IGNORECASE,
)
REMEMBER = 0.2
"""What "remember this" adds."""


def importance(
    text: str,
    kind: FactKind,
    origin: Origin,
    *,
    standing: bool = False,
    requested: bool = False,
    guides: float | None = None,
) -> float:
    """The importance in 0..1 of a fact. ``standing``: meant for good; ``requested``: "remember this" was said;
    ``guides`` is how far it tells what to do from now on (0..1), where that is known better than by its kind."""
    value = (_BY_KIND[kind] if guides is None else 0.35 + 0.5 * guides) * _BY_ORIGIN[origin]
    if standing:
        value += 0.1
    if _STRESSED.search(text) or _SHOUTED.search(text):
        value += 0.1
    if _HEDGED.search(text):
        value -= 0.15
    if requested:
        value += REMEMBER
    return round(min(1.0, max(0.05, value)), 3)


NOVEL = 0.1
"""What is wholly new matters so much more than what was half known, and what is known so much less."""
TOWARDS = 0.05
"""What belongs wholly to what a session is for matters so much more."""


def weighty(importance: float, surprise: float, towards: float) -> float:
    """The importance in 0..1 once it is known how new a fact is and how far it serves what the session is for."""
    return round(min(1.0, max(0.05, importance + NOVEL * (surprise - 0.5) + TOWARDS * towards)), 3)
