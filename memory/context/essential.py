"""Whether a fact is essential: does it tell how to act from now on, and can it be understood on its own?

A page that every session begins with is worth its tokens only where it changes what an agent does. "I avoid dairy"
and "never push to main" do; "I love this!" and "it means a lot" do not, though both are sincere. Likes without a
consequence must be borne out by a second session before they come on the page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log2
from typing import Final

from memory.context.message_intent import about_work
from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Stability, State
from memory.language.answered import chosen, stands_alone, without_answered
from memory.language.words import stems

LEAST: Final = 0.8
"""The least worth of a fact on the page."""

GUIDES_WORK: Final = 1.7
"""What the confidence and the importance of something said of the work count, in any words."""

MERELY_SO: Final = 1.5
"""What they count of what is merely so, and tells little of what to do: recall brings it when the talk turns to it."""

_GUIDES: Final = re.compile(
    r"\b(?:i (?:will )?(?:never|only)|"
    r"prefer\w*|dislik\w*|hates?|loath\w*|detest\w*|despis\w*|disdain\w*|(?:can't|cannot|can not) (?:stand|bear|"
    r"tolerate|have|eat|drink|use|consume|handle)|avoid\w*|steer clear|stay away|refus\w*|refrain\w*|boycott\w*|"
    r"oppose[ds]?|aver(?:se|sion)|allerg\w*|intoleran\w*|sensitivit\w*|phobia|fear of|afraid of|vegan|vegetarian|"
    r"celiac|halal|kosher|strict\w*|diet|exclusively|no longer|insist\w*|not (?:a fan|comfortable|interested|willing|"
    r"fond|into|keen)|unwilling|uncomfortable|off-putting|no interest|advocate|priorit\w+|stance|rather than|"
    r"instead of|learn best|thrive|believe (?:that|in)|at all costs|whenever possible|from now on|going forward|"
    r"(?:do not|don't|does not|doesn't|will not|won't|would not|wouldn't) (?:really |ever |even |want to )?(?:like|"
    r"enjoy|eat|drink|wear|use|want|watch|read|listen|buy|consume|take|support|believe|appreciate|trust|engage|consider|"
    r"participate|play|visit|travel|stay|drive|add|change|touch|commit|push|create|write|run|install|delete|edit))\b",
    re.IGNORECASE,
)
"""Words by which somebody says what is to be done or left from now on."""

_HABIT: Final = re.compile(
    r"\b(?:never|always|only|must|usually|typically|tend to|as a rule|favou?rite|struggle with|should|every time|"
    r"needs? (?!to\b)|use[sd]?|appeal|align|would be|go with|too)\b",
    re.IGNORECASE,
)
"""Words that often say so."""

_OWN: Final = re.compile(
    r"^(?:[A-Z][\w-]{0,30}: )?(?:as an? [^,]{1,40}, |since |because |to me, |for me, |please |"
    r"in general,? |generally,? |usually,? |normally,? |by default,? |personally,? |due to [^,]{1,60}, )?"
    r"(?:i|i'm|i've|i'll|i'd|my|we|we're|we've|our|always|never|use|prefer|avoid|don't|do not|no|only|keep|write|run|"
    r"make sure|ensure|all|every|when\w*|if|the|commit\w*|tests?|code|branch\w*)\b",
    re.IGNORECASE,
)
"""How a statement about the speaker, or a standing order, begins; what is said of others begins otherwise."""

_HANGS: Final = re.compile(
    r"^(?:[A-Z][\w-]{0,30}: )?(?:(?:it|its|it's|that|that's|this|these|those|they|their|them|he|she|his|her|here's|"
    r"here|you|your|there)\b|(?:i|we)(?:'m| am|'d| would|'ll| will)? (?:just |really |always |also |so )?(?:love|like|"
    r"enjoy|see|know|booked|did|do|made|need|want|hope|get|have|wish) (?:it|that|this|these|those|them|so|how|to|you|"
    r"your)\b)",
    re.IGNORECASE,
)
"""Statements that hang on what was said before them, and one-off wishes."""

_ORDER: Final = re.compile(
    r"^(?:[A-Z][\w-]{0,30}: )?(?:please )?(?:always|never|use|don't|do not|avoid|prefer|keep|make sure|ensure|only|"
    r"answer|write|reply|no)\b",
    re.IGNORECASE,
)
"""How a standing order begins."""

_ORDERS: Final = (FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.ANTI_PATTERN)
_WORK: Final = (FactKind.CONVENTION, FactKind.CORRECTION, FactKind.DECISION, FactKind.TASK, FactKind.ANTI_PATTERN)
"""Kinds of which every one that is about the work counts, and none that is not."""

_WORKING: Final = (
    FactKind.CONVENTION,
    FactKind.CORRECTION,
    FactKind.DECISION,
    FactKind.PREFERENCE,
    FactKind.ANTI_PATTERN,
    FactKind.FACT,
)
AT_WORK: Final = (Category.WORKFLOWS, Category.TECHNICAL, Category.PROJECTS)
"""What is about how work is done, or about the project."""


def essential_worth(fact: Fact) -> float:
    """How much a fact deserves a place on the page, 0 and up; see :data:`LEAST`.

    What is said of how work is done tells by its kind how to act, in whatever words it is; what people say they like
    is read for it. Time is left out: the page must not change by itself.
    """
    borne_out = log2(_coarse(fact.access) + 1) * log2(_coarse(fact.sessions) + 1)
    sure = fact.tier is MemoryTier.SHARED or fact.stability is Stability.STABLE
    if fact.pinned or (sure and not fact.origin.hearsay):
        return 2.0 * borne_out
    if fact.state is not State.ACTIVE or not fact.origin.trusted or fact.kind is FactKind.OBSERVATION:
        return 0.0
    base = fact.confidence * (0.5 + fact.importance) * _guidance(fact)
    if fact.kind in _WORKING and fact.category in AT_WORK:
        counts = MERELY_SO if fact.kind is FactKind.FACT else GUIDES_WORK
        base = max(base, counts * fact.confidence * fact.importance)
    return base * borne_out


def _coarse(count: int) -> int:
    """A count in steps (1, 2, 4, 8, …): the page shall not change with every single use."""
    return 1 << (max(count, 1).bit_length() - 1)


def on_page(text: str) -> str:
    """A fact's text as short as it can stand on its own: an answer without the question, and a choice with what was
    chosen only where its own words do not name that ("A, the other is too much")."""
    short, option = without_answered(text), chosen(text)
    if option and set(stems(short)).isdisjoint(stems(option)):
        return f"{short} [chosen: {option}]"
    return short if stands_alone(short) else text


@lru_cache(maxsize=2048)
def _guidance(fact: Fact) -> float:
    """How far a fact tells what to do from now on, 0..1."""
    if fact.origin is Origin.PERSON:
        return 1.0
    text = fact.text.replace("’", "'")
    if _HANGS.search(text) or not _OWN.search(text):
        return 0.2
    if _GUIDES.search(text) or (fact.kind in _ORDERS and fact.confidence >= 0.8 and _ORDER.search(text)):
        return 1.0
    if fact.kind in _WORK and fact.confidence >= 0.7 and about_work(stems(text)) > 0.0:
        return 1.2
    return 0.6 if _HABIT.search(text) else 0.3
