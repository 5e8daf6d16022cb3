"""The times that a text names, as stretches: "on 3 June 2023", "in May", "last week", "between March and June",
"the week before 16 November", "this morning".

Where :mod:`memory.language.dates` writes the first day of a named time into what is learnt, a question needs to know
from when to when its time lasts, and which of its words say so. A month without a year is that month of any year,
unless it is said to be the last one. Weeks begin on Monday. English. Knows no clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from memory.language.calendar import BEGINNING, MONTH, MONTHS, SEASON, SEASONS, WEEKDAY, WEEKDAYS, months_later


@dataclass(frozen=True, slots=True)
class Span:
    """A time from ``begin`` to before ``end`` (aware). ``yearly``: of any year, the one given only being the latest."""

    begin: datetime
    end: datetime
    yearly: bool = False

    def distance(self, at: datetime) -> float:
        """Days from a moment to this time: 0 within it, negative before it, positive behind it."""
        if self.yearly:
            at = self._moved_to_its_year(at)
        if at < self.begin:
            return (at - self.begin) / _DAY
        return max((at - self.end) / _DAY, 0.0)

    def _moved_to_its_year(self, at: datetime) -> datetime:
        """A moment moved by whole years to where it lies within this time, or else as soon as possible behind it."""
        at = at.replace(day=min(at.day, 28))
        moved = [at.replace(year=year) for year in (self.begin.year, self.end.year, self.begin.year + 1)]
        return next((each for each in moved if self.begin <= each), moved[-1])


@dataclass(frozen=True, slots=True)
class Timed:
    """The times that a text names, in order, and the text without the words that say them."""

    spans: tuple[Span, ...]
    rest: str


_DAY: Final = timedelta(days=1)
_DAYS: Final = {"day": 1, "week": 7, "weekend": 7, "month": 31}
_NUMBERS: Final = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)  # noqa: SIM905
}
_PARTS: Final = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 28)}

_CUE: Final = re.compile(
    r"(?<![\w-])(?:19|20)\d\d|yesterday|today|tonight|\b(?:last|this|past) |ago\b|"
    rf"{WEEKDAY}|\b(?:{BEGINNING})",
    re.IGNORECASE,
)
"""A cheap look before anything else: most questions name no time."""

_YEAR: Final = r"(?:19|20)\d\d"
_POINT: Final = "|".join(
    (
        rf"(?P<iso>{_YEAR}-\d\d(?:-\d\d)?)(?!\d)",
        rf"(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?\.? (?:of )?(?P<m1>{MONTH})\b\.?(?:,? ?(?P<y1>{_YEAR})\b)?",
        rf"(?:(?:early|mid|late|(?:the )?(?:beginning|start|middle|end) of)[ -])?(?P<m2>{MONTH})\b\.?"
        rf"(?: (?P<d2>[0-3]?\d)(?:st|nd|rd|th)?\b(?!:))?(?:,? ?(?:of )?(?P<y2>{_YEAR})\b)?",
        rf"(?P<half>{SEASON}) (?:of )?(?P<y3>{_YEAR})\b",
        rf"(?P<only>{_YEAR})\b(?![-/.]\d)",
        rf"(?:last|this past) (?P<wd>{WEEKDAY})\b",
        rf"(?<=\bon )(?P<wd2>{WEEKDAY})\b",
        r"(?P<rel>the day before yesterday|yesterday|today|tonight|last night)(?! ?['’])"
        r"(?: (?P<daypart>morning|afternoon|evening|night))?",
        r"(?:earlier )?this (?P<now>morning|afternoon|evening|week|weekend|month|year)\b",
        rf"(?:last|(?:this |over the )?past) (?P<unit>week|weekend|month|year|{SEASON})\b",
        r"(?P<n>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) "
        r"(?P<ago>day|week|month|year)s? ago",
    )
)
_HOW: Final = (
    r"(?:\b(?:(?:the |last )?(?:(?P<count>\d{1,2}|one|two|three|four) )?(?P<width>day|week|weekend|month)s? "
    r"(?P<side>before|after)|(?P<prep>since|until|till|before|after|by)|as mentioned on|as of|towards? the end of"
    r"|in the (?:first|second|third|last) (?:week|half) of|between|from|during|around|about|back in|on|in|of|at)\s+)?"
    r"(?:the )?"
)
_NAMED: Final = re.compile(f"{_HOW}(?:{_POINT})", re.IGNORECASE)
_BEHIND: Final = re.compile(
    r"(?:in|since|until|till|before|after|during|by|from|between|and|to|back in|around|of)\b", re.IGNORECASE
)
_RANGE: Final = re.compile(r"(?:between|from)\b", re.IGNORECASE)
_JOIN: Final = re.compile(r"\s*(?:(?:and|to|-|–)\s*(?:the )?)?$", re.IGNORECASE)


@lru_cache(maxsize=16)  # one message is asked about several times
def spans(text: str, now: datetime) -> Timed:
    """The times that a text names; most texts name none and are given back as they are."""
    if not _CUE.search(text):
        return Timed((), text)
    found: list[tuple[int, int, Span]] = []
    for named in _NAMED.finditer(text):
        try:
            span = _meant(named, now)
        except (ValueError, OverflowError):
            continue
        if span is None:
            continue
        before = found[-1] if found else None
        if before is not None and _JOIN.match(text[before[1] : named.start()]) and _RANGE.match(text[before[0] :]):
            # "between 11 August and 15 August 2023": one time, and the year stands for both.
            found[-1] = (before[0], named.end(), _joined(before[2], span))
        else:
            found.append((named.start(), named.end(), span))
    if not found:
        return Timed((), text)
    rest, at = "", 0
    for start, end, _ in found:
        rest += text[at:start] + " "
        at = end
    return Timed(tuple(span for _, _, span in found), " ".join((rest + text[at:]).split()))


def _joined(first: Span, last: Span) -> Span:
    begin = first.begin
    if first.yearly and not last.yearly:
        begin = begin.replace(year=last.begin.year if begin.month <= last.begin.month else last.begin.year - 1)
    end = last.end if last.end > begin else last.end.replace(year=last.end.year + 1)
    return Span(begin, end, first.yearly and last.yearly)


def _meant(named: re.Match[str], now: datetime) -> Span | None:
    span = _point(named, now)
    if span is None:
        return None
    side, prep = (named["side"] or "").lower(), (named["prep"] or "").lower()
    if side:
        width = _width(named)
        if side == "before":
            return Span(span.begin - width, span.begin, span.yearly)
        return Span(span.end, span.end + width, span.yearly)
    if prep in ("before", "until", "till"):
        return Span(datetime.min.replace(year=1970, tzinfo=now.tzinfo), span.begin if prep == "before" else span.end)
    if prep in ("since", "after"):
        return Span(span.begin if prep == "since" else span.end, max(now, span.end) + _DAY)
    return span


def _width(named: re.Match[str]) -> timedelta:
    count = named["count"] or "one"
    return _DAYS[named["width"].lower()] * (_NUMBERS.get(count.lower()) or int(count)) * _DAY


def _point(named: re.Match[str], now: datetime) -> Span | None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if named["iso"]:
        year, month, *day = (int(part) for part in named["iso"].split("-"))
        return _days(midnight.replace(year=year, month=month, day=day[0] if day else 1), 0 if day else 1)
    if name := named["m1"] or named["m2"]:
        return _of_month(named, name, midnight)
    if (season := (named["half"] or named["unit"] or "").lower()) in SEASONS:
        begin = midnight.replace(month=SEASONS[season], day=1)
        if named["y3"]:
            begin = begin.replace(year=int(named["y3"]))
        elif begin >= midnight:
            begin = begin.replace(year=begin.year - 1)
        return Span(begin, months_later(begin, 3))
    if named["only"]:
        if not re.match(
            r"(?:in|since|until|till|before|after|during|by|from|between|and|to|back|around|of)\b", named[0], re.I
        ):
            return None  # "Cyberpunk 2077"
        begin = midnight.replace(year=int(named["only"]), month=1, day=1)
        return Span(begin, months_later(begin, 12))
    if weekday := named["wd"] or named["wd2"]:
        back = (midnight.weekday() - WEEKDAYS.index(weekday.lower()) - 1) % 7 + 1
        return _days(midnight - back * _DAY)
    if named["rel"]:
        word = named["rel"].lower()
        back = {"yesterday": 1, "last night": 1, "the day before yesterday": 2}.get(word, 0)
        part = "night" if word in ("last night", "tonight") else (named["daypart"] or "").lower()
        return _part(midnight - back * _DAY, part)
    if word := (named["now"] or "").lower():
        return _part(midnight, word) if word in _PARTS else _stretch(word, 0, midnight)
    if named["ago"]:
        count = _NUMBERS.get(named["n"].lower(), 1 if named["n"].lower() in ("a", "an") else 0) or int(named["n"])
        if named["ago"].lower() == "day":
            return _days(midnight - count * _DAY)
        if named["ago"].lower() == "week":
            return Span(midnight - (7 * count + 3) * _DAY, midnight - (7 * count - 4) * _DAY)
        return _stretch(named["ago"].lower(), -count, midnight)
    return _stretch(named["unit"].lower(), -1, midnight) if named["unit"] else None


def _of_month(named: re.Match[str], name: str, midnight: datetime) -> Span | None:
    day, year = named["d1"] or named["d2"], named["y1"] or named["y2"]
    verb = name.lower() in ("may", "march", "mar", "sep", "dec", "jun", "jan") and not (day or year)
    if verb and not (name[0].isupper() and _BEHIND.match(named[0])):
        return None
    begin = midnight.replace(month=MONTHS[name.lower()], day=int(day) if day else 1, year=int(year or midnight.year))
    if not year and begin > midnight:
        begin = begin.replace(year=begin.year - 1)
    span = _days(begin, 0 if day else 1)
    return Span(span.begin, span.end, yearly=not year)


def _part(midnight: datetime, part: str) -> Span:
    first, last = _PARTS.get(part, (0, 24))
    return Span(midnight + timedelta(hours=first), midnight + timedelta(hours=last))


def _stretch(unit: str, offset: int, midnight: datetime) -> Span:
    monday = midnight - midnight.weekday() * _DAY
    if unit == "week":
        return Span(monday + 7 * offset * _DAY, monday + 7 * (offset + 1) * _DAY)
    if unit == "weekend":
        begin = monday + (7 * offset + 5) * _DAY
        return Span(begin - timedelta(hours=8), begin + 2 * _DAY)
    first = midnight.replace(day=1)
    if unit == "month":
        begin = months_later(first, offset)
        return Span(begin, months_later(begin, 1))
    begin = first.replace(month=1, year=first.year + offset)
    return Span(begin, months_later(begin, 12))


def _days(begin: datetime, months: int = 0) -> Span:
    return Span(begin, months_later(begin, months) if months else begin + _DAY)
