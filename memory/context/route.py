"""Where a question points: at a person, at a time, at a kind of answer, at the asker's own likes.

"When did Maria move?" is answered in Maria's own words, by something that tells a time; "what did we decide on 3 June?"
by what was said about then; "what should I cook?" by what its writer likes. None of it makes a memory relevant: it
decides among those that are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from memory.fact import Fact, FactKind, Origin, Passage
from memory.language.calendar import MONTH_NAMES, WEEKDAY
from memory.language.entities import speaker_in
from memory.language.time_spans import Span

Parts = dict[str, float]

_NAME: Final = re.compile(r"\b[A-Z][a-z'’]+\b")
_OWN: Final = re.compile(r"\b(?:I|I'm|I've|I'd|me|my|mine|My)\b")
_DAY: Final = timedelta(days=1)

_TELLS_TIME: Final = re.compile(
    r"\d{1,2}:\d\d|\b\d{1,2} ?[ap]\.?m\b|\b(?:19|20)\d\d\b|\b(?:yesterday|today|tomorrow|tonight|last|next|ago"
    rf"|weeks?|months?|years?|days?|hours?|minutes?|{WEEKDAY}s?|weekends?"
    rf"|{'|'.join(name for name in MONTH_NAMES if name != 'may')})\b",
    re.IGNORECASE,
)
_TELLS_AMOUNT: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|million|couple|both|half)\b",
    re.IGNORECASE,
)
_TELLS_NAME: Final = re.compile(r"(?<![.!?:] )(?<!^)\b(?!I\b|I'|The\b|And\b)[A-Z][a-z]+")
_TELLS_MONEY: Final = re.compile(
    r"[$€£¥]\s?\d|\d\s?[$€£¥]|\d(?:\s?[kKmMbB])? (?:dollars?|euros?|pounds?|bucks|cents?)\b"
)
_ANSWERS: Final = (
    (
        re.compile(
            r"\bhow much\b[^?]{0,100}\b(?:costs?|pa(?:y|id)|charge[ds]?|prices?|priced|spen[dt]|owe[ds]?|fees?"
            r"|bill(?:ed)?|rent|salary|refund(?:ed)?|invoiced?)\b|\bwhat (?:price|amount|sum)\b|[$€£¥]_",
            re.IGNORECASE,
        ),
        _TELLS_MONEY,
    ),
    (
        re.compile(r"\b(?:when|how (?:long|often)|(?:what|which) (?:time|date|day|week|month|year))\b", re.IGNORECASE),
        _TELLS_TIME,
    ),
    (
        re.compile(
            r"\bhow (?:many|much|old|far|tall|big|large)\b|\bwhat (?:number|amount|price|percentage|age|size)\b",
            re.IGNORECASE,
        ),
        _TELLS_AMOUNT,
    ),
    (
        re.compile(
            r"\bwho(?:m|se)?\b|\bwhere\b|\bnamed?\b|\b(?:which|what) (?:city|country|place|person|company|team)\b",
            re.IGNORECASE,
        ),
        _TELLS_NAME,
    ),
)


@dataclass(frozen=True, slots=True)
class QuestionRoute:
    """``people`` are names in lower case; ``own`` says that the asker speaks of themself; ``advice`` that they want a
    recommendation; ``answer`` is what a text has that could be the answer."""

    people: frozenset[str] = frozenset()
    own: bool = False
    advice: bool = False
    spans: tuple[Span, ...] = ()
    answer: re.Pattern[str] | None = None


NOWHERE: Final = QuestionRoute()


def route_of(text: str, spans: Sequence[Span] = (), *, advice: bool = False) -> QuestionRoute:
    """Where a question points."""
    people = frozenset(
        name.lower().replace("’", "'").removesuffix("'s").removesuffix("'") for name in _NAME.findall(text)
    )
    answer = next((tells for asks, tells in _ANSWERS if asks.search(text)), None)
    return QuestionRoute(people, bool(_OWN.search(text)), advice, tuple(spans), answer)


def parts_of(route: QuestionRoute, memory: Fact | Passage) -> Parts:
    """How far a memory lies where a question points, each part in 0..1; parts that are 0 are left out."""
    if route is NOWHERE:
        return {}
    parts: Parts = {}
    if route.people and (name := speaker_name(memory)) and name.lower() in route.people:
        parts["person"] = 1.0
    if route.spans and (near := about_then(memory, route.spans)) > 0:
        parts["time"] = near
    if route.answer is not None and route.answer.search(memory.text):
        parts["answer"] = 1.0
    if route.advice:
        if route.own and memory.origin.trusted:
            parts["own"] = 1.0
        if isinstance(memory, Fact) and memory.kind is FactKind.PREFERENCE:
            parts["liking"] = 1.0
    return parts


def speaker_name(memory: Fact | Passage) -> str:
    """The name of who said it, where it is known; else "user", "assistant" or nothing."""
    if isinstance(memory, Passage):
        return memory.speaker
    return speaker_in(memory.text) if memory.origin is Origin.USER or memory.origin is Origin.ASSISTANT else ""


def about_then(memory: Fact | Passage, spans: Sequence[Span]) -> float:
    """How near a memory lies to the nearest of some times, 1 within it: things are told of for a while afterwards,
    and planned a little before."""
    return max((_near(span, span.distance(memory.valid_from)) for span in spans), default=0.0)


def reach(span: Span) -> tuple[float, float]:
    """How many days before a time, and behind it, what is said may still be about it."""
    days = (span.end - span.begin) / _DAY
    return max(_AFTER / 2, min(days / 4, _MAX_DAYS)), max(_AFTER, min(days / 2, _MAX_DAYS))


_AFTER: Final = 4.0
_MAX_DAYS: Final = 31.0


def _near(span: Span, distance: float) -> float:
    if distance == 0:
        return 1.0
    before, behind = reach(span)
    return max(0.0, 1.0 - abs(distance) / (behind if distance > 0 else before))
