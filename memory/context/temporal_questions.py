"""Questions about the past, and what was known at a time.

What has been superseded is no answer to "what do we use?"; it is one to "what did we use before?", "which database
was it until March?", "what did we use to deploy with?". A question in the past tense that names a time means what held
then; one that names none means whatever held once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memory.context.message_intent import SENTENCE
from memory.fact import Fact, Passage, State
from memory.language.calendar import BEGINNING, MONTH, MONTHS, SEASON, SEASONS, WEEKDAY, months_later


@dataclass(frozen=True, slots=True)
class TimeInterval:
    """A time that a question means, from ``since`` to before ``until``; None leaves that side open."""

    since: datetime | None = None
    until: datetime | None = None


_DAY: Final = timedelta(days=1)
_CHANGE: Final = r"(?:switch|chang|mov|migrat|replac|rewr|upgrad|renam|refactor|updat|merg|releas|reorgani[sz])"
_CUE: Final = re.compile(
    r"\b(?:before|until|till|previous|former|prior|earlier|original|initial|old|used? to|back|then|past|ago|last|"
    rf"switch|replace|migrate|move|change|supersede|stop|drop|abandon|(?:19|20)\d\d|{BEGINNING})",
    re.IGNORECASE,
)
"""A cheap look before anything else: most questions are about now."""

_WAS: Final = r"(?:did|was|were|had|used)"
_LATER: Final = rf"(?:that|this|then|now|it|we|they|he|she|i|you|last|the {_CHANGE}\w*)\b"
_EARLIER: Final = (
    r"(?:previous(?:ly)?|former(?:ly)?|prior|originally|initially|earlier|back then|at th(?:at|e) time|in those days|"
    r"in the past)"
)
# "Before MySQL", "before Petra took over": what has a name may have a predecessor; a day, a meal or a deed has none.
_NO_NAME: Final = (
    rf"(?!{WEEKDAY}|christmas|easter|new year|lunch|dinner|breakfast|noon|midnight"
    r"|bed\b|work\b|anything|everything|\w+ing\b|\d{1,2}(?::\d\d)? ?(?:[ap]\.?m|o'clock))"
)
_NAME: Final = r"(?:(?-i:[A-Z])[\w.+#'’-]{0,30}|[`\"'][^`\"']{1,40}[`\"'])(?: v?\d[\w.]{0,12})?"
_CAME: Final = (
    r"(?: (?:came|existed|arrived|joined|took over|was (?:introduced|added|adopted|chosen|there|here|in charge))"
    r"|(?: (?:for|in|on|as) [\w' -]{2,40})?)\s*(?:\?|$)"
)
_ABOUT: Final = re.compile(
    "|".join(
        (
            # "what did we use to deploy?" asks for a purpose as likely as for a habit: only a habit has no object.
            r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bget )(?<!\bbeen )\bused to (?!it\b|this\b)\w",
            rf"\b{_WAS}\b[^.?!]{{0,80}}\bbefore(?: {_LATER}[^?]*)?\s*(?:\?|$)",
            rf"\b(?:{_WAS}|led|ran|held|wrote|built|\w{{2,12}}ed)\b[^.?!]{{0,80}}"
            rf"\bbefore (?:the )?{_NO_NAME}{_NAME}{_CAME}",
            rf"\b{_WAS}\b (?:(?:the )?\w+) (?:use|have|run|host|deploy|store|live|work|build|on|with|in)\b"
            rf"[^.?!]{{0,60}}\bbefore {_NO_NAME}[\w.+#-]{{2,30}}{_CAME}",
            rf"\b(?:was|were) (?:in (?:place|use)|(?:the|our|my) [\w -]{{2,40}}) before "
            rf"{_NO_NAME}[\w.+#-]{{2,30}}{_CAME}",
            rf"\b{_WAS}\b[^.?!]{{0,80}}\b(?:until|till|up to) (?:recently|{_LATER})",
            rf"\b{_WAS}\b[^.?!]{{0,80}}\b{_EARLIER}\b",
            rf"\b{_EARLIER}\b[^.?!]{{0,60}}\b(?:{_WAS}|called|named)\b",
            r"\bwhat(?:'s| is| was| were) (?:the|our|my|your) (?:previous|former|prior|original|old) \w+",
            r"\b(?:when|why|how) did (?:we|i|you|they|the \w+) "
            r"(?:switch|change|move|migrate|replace|stop|drop|abandon)\b",
            r"\bdid (?:we|i|you|they|\w+) (?:switch|move|migrate|change|come) (?:\w+ )?(?:away )?from\b",
            r"\bwhat (?:did|have|was|were) [^.?!]{0,60}\b(?:replaced?|superseded?)\b",
        )
    ),
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\s*(?:and |so |but |also |please )*(?:who|whom|whose|what|when|where|which|why|how|did|was|were|had|tell me|"
    r"remind me)\b",
    re.IGNORECASE,
)
_THEN: Final = re.compile(rf"\b{_WAS}\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\b(?P<how>in|during|around|on|as of|by|since|from|before|until|till|up to|after|back in) (?:the )?"
    rf"(?:(?:early|mid|late|(?:beginning|end|middle|{SEASON}) of)[ -])?"
    r"(?:(?P<iso>(?:19|20)\d\d-\d\d(?:-\d\d)?)"
    rf"|(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)? (?:of )?)?(?P<month>{MONTH})\b\.?"
    r"(?: (?P<day2>[0-3]?\d)(?:st|nd|rd|th)?\b)?,?(?: (?P<year>(?:19|20)\d\d))?|(?P<only>(?:19|20)\d\d)\b"
    rf"|(?P<last>last) (?P<unit>week|month|year|{SEASON}))",
    re.IGNORECASE,
)
_SPANS: Final = {"week": 7, "month": 31}


def past_of(text: str, now: datetime) -> TimeInterval | None:
    """The time in the past that a question means, in the zone of ``now``; None for a question about anything else."""
    if not _CUE.search(text):
        return None
    for sentence in SENTENCE.findall(text):
        if not (sentence.rstrip().endswith("?") or _ASKS.match(sentence)):
            continue
        named = _TIME.search(sentence) if _THEN.search(sentence) else None
        span = _span_of_named_time(named, now) if named is not None else None
        if named is not None and span is not None and span[0] < now:
            return _meant(named["how"].lower(), *span)
        if _ABOUT.search(sentence):
            return TimeInterval()
    return None


def of_the_past(text: str) -> bool:
    """Whether a text speaks in the past tense, whatever time it means."""
    return bool(_THEN.search(text))


def held_in(fact: Fact, past: TimeInterval) -> bool:
    """Whether a fact held at some moment of a time."""
    if past.until is not None and fact.valid_from >= past.until:
        return False
    return past.since is None or fact.valid_until is None or fact.valid_until > past.since


def known_at(memory: Fact | Passage, at: datetime) -> bool:
    """Whether a memory was held to be so at a moment: it was written down by then, and neither replaced nor over."""
    if isinstance(memory, Passage):
        return memory.at <= at
    if memory.recorded_at > at or memory.state is State.DRAFT:
        return False
    replaced = memory.superseded_at or (memory.valid_until if memory.state is State.SUPERSEDED else None)
    if replaced is not None and replaced <= at:
        return False
    # An end that was known from the beginning ("until Friday"); one that came with a successor is looked at above.
    over = memory.expires_at or (memory.valid_until if replaced is None else None)
    return over is None or over > at


def end_of(text: str, now: datetime) -> datetime:
    """The last moment of a day, month or year that is told (2026-03-04, 2026-03, 2026), or the moment that is told.

    Raises:
        ValueError: when it is none, or there is no such day.
    """
    text = text.strip()
    if re.fullmatch(r"\d{4}(?:-\d\d){0,2}", text):
        year, month, day = (int(part) for part in (text + "-00-00").split("-")[:3])
        begin = datetime(year, month or 1, day or 1, tzinfo=now.tzinfo)
        return (begin + _DAY if day else months_later(begin, 1 if month else 12)) - timedelta(microseconds=1)
    at = datetime.fromisoformat(text)
    return at if at.tzinfo is not None else at.replace(tzinfo=now.tzinfo)


def _meant(how: str, begin: datetime, end: datetime) -> TimeInterval:
    if how in ("before", "until", "till", "up to"):
        return TimeInterval(None, begin if how == "before" else end)
    if how in ("since", "from", "after"):
        return TimeInterval(begin, None)
    return TimeInterval(begin, end)


def _span_of_named_time(named: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    """From when to when a named time lasts; None where there is no such day."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if named["iso"]:
            year, month, *day = (int(part) for part in named["iso"].split("-"))
            begin = midnight.replace(year=year, month=month, day=day[0] if day else 1)
            return begin, begin + _DAY if day else months_later(begin, 1)
        if named["month"]:
            return _of_month(named, midnight)
        if named["only"]:
            begin = midnight.replace(year=int(named["only"]), month=1, day=1)
            return begin, months_later(begin, 12)
        unit = named["unit"].lower()
        if unit == "year":
            begin = midnight.replace(year=now.year - 1, month=1, day=1)
            return begin, months_later(begin, 12)
        if unit in _SPANS:
            return midnight - timedelta(days=2 * _SPANS[unit]), midnight
        begin = midnight.replace(month=SEASONS[unit], day=1)
        begin = begin if begin < now else begin.replace(year=begin.year - 1)
        return begin, months_later(begin, 3)
    except ValueError:
        return None


def _of_month(named: re.Match[str], midnight: datetime) -> tuple[datetime, datetime] | None:
    month = MONTHS[named["month"].lower()]
    whole = named["day"] or named["day2"] or named["year"]
    if named["month"] in ("may", "march", "mar", "sep", "dec") and not whole and named["how"].lower() in ("by", "from"):
        return None  # More likely a verb than a month.
    year = int(named["year"]) if named["year"] else midnight.year
    day = int(named["day"] or named["day2"] or 0)
    begin = midnight.replace(year=year, month=month, day=day or 1)
    if begin > midnight and not named["year"]:
        begin = begin.replace(year=year - 1)
    return begin, begin + _DAY if day else months_later(begin, 1)
