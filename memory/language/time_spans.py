"""The times that a text names, as stretches: "on 3 June 2023", "in May", "last week", "between March and June",
"the week before 16 November", "this morning".

Where :mod:`memory.language.dates` writes the first day of a named time into what is learnt, a question needs to know
from when to when its time lasts, and which of its words say so. A month without a year is that month of any year,
unless it is said to be the last one. Weeks begin on Monday. English. Knows no clock.

How long something is said to hold: "until 20 November", "through the end of the month".
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


_UNTIL: Final = re.compile(
    r"\b(?:until|till|through|bis) (?:(?:and including|at least|about|around|on|zum) )?"
    r"(?:(?:the )?(?P<end>end of )?(?:the )?(?:(?:[\w ]{0,20}? of )|(?:[\w.,’' ]{3,24} \())?"
    r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b(?![-'’])"
    rf"|the end of (?:the|this) (?P<unit>week|month|year)\b|(?:the )?(?:end of )?(?P<month>{MONTH})\b(?! \d{{1,2}}\b)"
    r"(?: (?P<year>(?:19|20)\d\d))?)",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:every|each|always|usually|daily|weekly|monthly|not (?:until|till))\b"
    rf"|\b{WEEKDAY}s? (?:until|till|through) \d",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    r"(?:[;,]|\b(?:and|but|while))(?:,? (?:and|but|then|so))? (?:(?:my|our|the) \w{1,20} |[\w-]{1,20}ly )?"
    r"(?:i|we|you|he|she|it|they)?(?:['’](?:m|s|re|ve|ll))?\b ?"
    r"(?:am|is|are|was|were|has|have|had|do|does|will|can|cannot|must|lives?|works?|leads?|owns?|uses?|likes?|prefers?"
    r"|hates?|runs?)\b"
    r"|\b(?:then|after(?:wards?| that)|from then on|later)\b|[;,] (?:and )?\S.* (?:after|from) ",
    re.IGNORECASE,
)
"""What stands in a text that says something beside what ends, or what comes behind the end."""
_TERM: Final = re.compile(
    r"\b(?:valid|good|paid(?: for)?|insured|guaranteed|licen[sc]ed|supported|covered|under warranty)"
    r" (?:until|till|through)\b",
    re.IGNORECASE,
)
"""Of what is asked for when its end has passed: whether it has."""
_VALIDITY_NAMED: Final = re.compile(
    r"(?P<week>week(?:end)? of |woche vom |semana del )?(?<![\w/.-])(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?"
    r"(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
"""A day, a week or a month in figures."""
_FROM: Final = re.compile(
    r"\b(?:since|from|as of|as|like|starting|beginning|by|after|before|until|effective|seit|ab|von|bis|nach|vor|erst|"
    r"wie|desde|a partir del?|para|después del?|antes del?|tras|como) (?:(?:on|in|the|am|dem|der|el|la) ){0,3}$",
    re.IGNORECASE,
)
"""Before a time from which on something holds, or by which it is to be done."""
_OPEN: Final = re.compile(r"\b(?:until|till|unless|as long as|bis|solange|hasta|mientras|jusqu)", re.IGNORECASE)
"""Behind it stands what ends it."""
_WEEK: Final = re.compile(r"\bthe week(?:end)? of ", re.IGNORECASE)


_COUNTED: Final = {
    number: count
    for count, names in enumerate(
        (
            "one ein eine einen einem einer un una",
            "two couple zwei paar dos par",
            "three few drei tres",
            "four vier cuatro",
            "five fünf cinco",
            "six sechs seis",
            "seven sieben siete",
            "eight acht ocho",
            "nine neun nueve",
            "ten zehn diez",
        ),
        1,
    )
    for number in names.split()
}
_HOURS: Final = {
    name: hours
    for hours, names in (
        (1, "hour hours stunde stunden hora horas"),
        (24, "day days tag tage tagen día días"),
        (7 * 24, "week weeks woche wochen semana semanas sprint sprints"),
        (30 * 24, "month months monat monate monaten mes meses"),
    )
    for name in names.split()
}
_SPAN: Final = re.compile(
    r"\b(?:(?:for|over|during|in|für|in den|durante|por) )?(?:the |die |den |los |las )?"
    r"(?:next|coming|nächsten|kommenden|próxim[oa]s) (?:(?P<count>\d{1,3}|"
    rf"{'|'.join(_COUNTED)}) (?:of |more )?)?(?P<unit>{'|'.join(_HOURS)})\b",
    re.IGNORECASE,
)
"""For how long from now on: "for the next three days"."""
_WEEKEND: Final = re.compile(
    r"\b(?:(?:over|for|during) the weekend|(?:über(?:s| das)?|für(?:s| das)?|dieses) wochenende|"
    r"(?:durante |para |por )?este fin de semana)\b",
    re.IGNORECASE,
)
"""The coming weekend, or the one that it is; to somebody who tells of what was, the last one."""
_ALL_OF_IT: Final = re.compile(r"(?:for|over|during|für|durante|die|den) ", re.IGNORECASE)


_EVERY: Final = re.compile(
    r"\b(?:immer|jede[snmr]?|siempre|cada|todos los|todas las)\b"
    r"|\b(?:never|nie|niemals|nunca)\b.{0,60}\b(?:weekend|wochenende|fin de semana)\b",
    re.IGNORECASE,
)
"""Of what happens again and again, beside :data:`_AGAIN`."""
_WHENEVER: Final = re.compile(
    r"\b(?:after|before|when(?:ever)?|once|whoever|new|any|each|every|nach|bevor|wenn|sobald|jede[rsnm]?|neue[rsnm]?|"
    r"después|antes|cuando|cada|nuev[oa]s?)\b",
    re.IGNORECASE,
)
"""Of what begins anew with each of something: a span counted from then, and not from now."""


def lasts(text: str, at: datetime) -> datetime | None:
    """When something is over that is said ``at`` a moment to hold for some days, weeks or months from then on; None
    where no such span is told."""
    found = _SPAN.search(text)
    if found is None or any(each.search(text) for each in (_AGAIN, _WHENEVER)) or found[0].lower().startswith("in "):
        return None
    if not (found["count"] or _ALL_OF_IT.match(found[0])):
        return None
    said = (found["count"] or "1").lower()
    count = int(said) if said.isdigit() else _COUNTED[said]
    return at + timedelta(hours=count * _HOURS[found["unit"].lower()])


def holds_until(text: str, at: datetime) -> datetime | None:
    """The first moment at which what was said ``at`` a moment (aware) holds no more, in its zone; None where no end is
    told, or none that lies ahead, or where not all of it ends then."""
    found = _UNTIL.search(text)
    if found is None or any(pattern.search(text) for pattern in (_AGAIN, _MORE, _TERM)):
        return None
    try:
        end = _end(found, at.replace(hour=0, minute=0, second=0, microsecond=0))
    except (ValueError, OverflowError):
        return None
    return end if end > at else None


def time_is_over(text: str, at: datetime) -> datetime | None:
    """When the last time is over that a text names, whose dates are absolute ("on the afternoon of 2026-11-25", "in the
    week of 2026-11-23"). None where all that it names lie behind the moment ``at`` which it was said, or something
    holds from one of them on, or again and again."""
    if any(each.search(text) for each in (_AGAIN, _EVERY, _TERM, _PAST, _NOT_ONLY)):
        return None
    if _WEEKEND.search(text):
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + timedelta(days=7 - midnight.weekday())
    named = list(_VALIDITY_NAMED.finditer(text))
    if any(_FROM.search(text, 0, each.start()) for each in named):
        return None
    return max((end for each in named if (end := _end_of_named(each, at)) and end > at), default=None)


_ONLY_THEN: Final = re.compile(
    r"(?<!not )(?<!nicht )(?<!immer )(?<!\bno )(?<!always )\b(?:only|just|nur|bloß|lediglich|solo|sólo|solamente) "
    r"(?:(?:for|on|in|für|am|an|im|por|de[rmn]|dieser|el|la|the|morning|afternoon|evening|night|week|weekend|woche|"
    r"semana|of|vom|del) ){0,5}$",
    re.IGNORECASE,
)
"""Before the only time in which something holds."""
_FOR_THEN: Final = re.compile(
    r"^(?:(?:ok(?:ay)?|please|bitte|so|also),? )?(?:for|für|por) (?:(?:am|el|the|week|of) ){0,3}$", re.IGNORECASE
)
"""Before the time that a statement begins with."""
_NOT_ONLY: Final = re.compile(
    r"\b(?:onwards?|sondern|siempre|immer|always|from now on|ab jetzt|in general|forever|auch (?:morgen|danach))\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|met|went|came|got|made|took|told|said|began|became|left|chose|found|gave|agreed|freed|\w{1,20}[^\We]ed|"
    r"(?:ha(?:ve|s|d)|['’]ve) (?:\w{1,12} ){0,2}?\w{2,20}(?:ed|en|ne|wn)|"
    r"(?:hab|habe|haben|hat|hatten?|ist|sind|war|waren|wurden?) (?:\S{1,24} ){0,8}?"
    r"(?:\w{0,8}ge\w{2,16}(?:t|en)|\w{3,16}iert)|"
    r"(?:he|ha|hemos|han|había) \w{2,16}(?:ado|ido|to|cho)|\w{2,16}(?:aron|ieron|ó))\b",
    re.IGNORECASE,
)
"""What tells of what was: its time only dates it."""


def only_then(text: str, at: datetime) -> datetime | None:
    """When the time is over to which a text, whose dates are absolute, says that it is limited: "only on 2026-11-25",
    "for 2026-11-25 …". None where it names none so, or where that is over."""
    named = list(_VALIDITY_NAMED.finditer(text))
    before = [text[: each.start()] for each in named]
    limited = any(map(_ONLY_THEN.search, before)) or (len(named) == 1 and _FOR_THEN.match(before[0]))
    return time_is_over(text, at) if limited else None


def _end_of_named(named: re.Match[str], at: datetime) -> datetime | None:
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        begin = midnight.replace(year=int(named["y"]), month=int(named["m"]), day=int(named["d"] or 1))
    except ValueError:
        return None
    if not named["d"]:
        return months_later(begin.replace(day=1), 1)
    if not named["week"]:
        return begin + timedelta(days=1)
    return begin + timedelta(days=2 if "end" in named["week"].lower() else 7)


def is_over(text: str, at: datetime, otherwise: timedelta) -> datetime | None:
    """When something is over that is said ``at`` a moment to hold for a while: behind the last day that its text, whose
    dates are absolute, names and that lies ahead; where it names none, after a time that is usual. None where what ends
    it is no day ("until we have CI"), and of what happens again and again."""
    if _AGAIN.search(text) or _TERM.search(text):
        return None
    ahead = [end for named in _VALIDITY_NAMED.finditer(text) if (end := _end_of_named(named, at)) and end > at]
    return max(ahead) if ahead else None if _OPEN.search(text) else at + otherwise


def _end(found: re.Match[str], midnight: datetime) -> datetime:
    if found["y"]:
        begin = midnight.replace(year=int(found["y"]), month=int(found["m"]), day=int(found["d"] or 1))
        if not found["d"]:
            return months_later(begin.replace(day=1), 1)
        return begin + timedelta(days=7 if _WEEK.search(found[0]) else 1)
    if found["unit"]:
        match found["unit"].lower():
            case "week":
                return midnight + timedelta(days=7 - midnight.weekday())
            case "month":
                return months_later(midnight.replace(day=1), 1)
        return midnight.replace(year=midnight.year + 1, month=1, day=1)
    month = MONTHS[found["month"].lower()]
    year = int(found["year"]) if found["year"] else midnight.year + (month < midnight.month)
    return months_later(midnight.replace(year=year, month=month, day=1), 1)
