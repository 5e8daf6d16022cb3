"""Relative dates made absolute: "yesterday" means nothing a month later.

:func:`resolve` reads a text against the moment at which it was said, in the speaker's time zone, writes the day in
ISO form where a relative word stood, and tells the first moment that the text names. "Last Tuesday" is the latest
one before that day, "next Tuesday" the first one after it, a bare "Tuesday" is only read behind "by", "until" and
"this". Weeks begin on Monday. English, German and Spanish. Knows no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from memory.language.calendar import BEGINNING, MONTH, MONTHS, months_later
from memory.language.german_and_spanish_dates import relative


@dataclass(frozen=True, slots=True)
class Resolved:
    """``text`` with absolute dates; ``moment`` the first one named, at the start of its day, month or year (aware,
    in the zone of the moment given), or None; ``future`` whether it lies after the day of speaking."""

    text: str
    moment: datetime | None = None
    future: bool = False


_NUMBERS = {
    word: value
    for value, words in enumerate(
        ("a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        start=1,
    )
    for word in words.split()
}
_WEEKDAYS = {
    name: day
    for day, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs", "friday fri", "saturday sat",
         "sunday sun")
    )
    for name in names.split()
}  # fmt: skip

_NUMBER = r"(?:\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_DAY_NAME = "|".join(sorted((n for n in _WEEKDAYS if len(n) > 4), key=len, reverse=True)) + "|mon|tues|thurs|fri"
_UNIT = r"(?P<unit>day|week|month|year|weekend|night|fortnight)s?"
_SPANS = "week|weekend|month|year"
_PART = r"(?:morning|afternoon|evening|night)"

# A cheap look before any pattern runs: most sentences name no date at all.
_CUE = re.compile(
    r"(?:day|morrow|night|week|month|year|fortnight|ago|morning|evening|afternoon|gestern|heute|morgen|vor |woche|"
    rf"monat|jahr|\d|{BEGINNING}|mon|tue|fri|sat|sun|wed|thu|tag|mittwoch|ayer|hoy|mañana|semana|"
    r"\bhace |\bmes|año|lunes|martes|i[eé]rcoles|jueves|viernes|s[aá]bado|domingo|tarde\b|noche\b)",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<![\w./-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])-(?P<d>0[1-9]|[12]\d|3[01])(?![\w/-])")
_NAMED = re.compile(
    rf"(?<![\w./-])(?:(?P<m1>{MONTH})\.? (?P<d1>[0-3]?\d)(?:st|nd|rd|th)?|(?P<d2>[0-3]?\d)(?:st|nd|rd|th|"
    rf"\.)? (?:of )?(?P<m2>{MONTH}))\b(?:,? (?P<y>(?:19|20)\d\d)\b)?(?![./-]\w)",
    re.IGNORECASE,
)
_EXAMPLE_CHARS: Final = 24
# What stands right before an example.
_SHOWN = re.compile(
    r"\b(?:(?:looks?|written|spel(?:t|led)|formatted|shown|displayed) like|such as|as in|e\.\s?g\.|for example|wie|"
    r"z\.\s?b\.|zum beispiel|como|p\.\s?ej\.|por ejemplo),? [\"'`“„«]?$",
    re.IGNORECASE,
)

# What parts two manners of writing of which one is wanted.
_RATHER = re.compile(r"\b(?:not|never|rather than|instead of|nicht|nie|statt|no|nunca|en vez de)\b", re.IGNORECASE)

# "since yesterday" became "since on 2026-…", "seit gestern" "seit am 2026-…".
_DOUBLED = re.compile(
    r"\b(on|in|of|since|from|until|till|by|for|before|after|until|between|than) (?:on|in) (?=\d{4}\b|the (?:week|"
    r"weekend|morning|afternoon|evening|night) of \d{4})",
    re.IGNORECASE,
)

_DOUBLED_GERMAN = re.compile(
    r"\b(seit|ab|bis|von|vor|nach|für|zwischen|und|erst|am|in) (?:am|in|im) (?=\d{4}-|der Woche|Monat \d|Jahr \d)",
    re.IGNORECASE,
)

# "Del año pasado" became "del en 2025".
_DOUBLED_SPANISH = re.compile(r"\b(de|a)l? (?:en|el) (?=\d{4})", re.IGNORECASE)


# "The last Friday of every month" is no day of last week, and "tonight" in quotation marks is only a word.
_EACH_BEFORE = re.compile(r"\b(?:every|each|any|jede[nmrs]?|cada)\s+(?:on )?$", re.IGNORECASE)
_THE_BEFORE = re.compile(r"^(?!.*\b(?:met|was|were|did|had|\w{2,20}ed)\b).*\bthe\s+$", re.IGNORECASE | re.DOTALL)
_LAST = re.compile(r"last |(?:am )?(?:letzte|vorige)[nmrs]? |(?:la |el )?(?:últim[oa]|semana pasada)", re.IGNORECASE)
_LAST_DAY = re.compile(rf"last (?:{_DAY_NAME})$", re.IGNORECASE)
_OF_EACH = re.compile(
    r"\s+(?:of|in|im|des|der|jede[nmrs]?|del?)\s+(?:(?:the|every|each|any|a|eine[sr]|jede[nmrs]?|de[rs]|cada|el|la)\s+)?"
    rf"(?:months?|quarters?|years?|semesters?|monats?|quartals?|jahre?s?|mes|trimestre|año|{MONTH})\b"
    r"|\s+of\s+(?:the|every|each|a|our)\s+sprint\b",
    re.IGNORECASE,
)
_LONGER = re.compile(r".*(?:month|year|monat|jahr|mes|año)$", re.IGNORECASE)
_MARKS_AROUND = ('""', "''", "``", "“”", "„“", "«»", "‘’")
_BEFORE: Final = 40
"""Characters before such words that are looked at."""


def _is_no_day(found: re.Match[str]) -> bool:
    """Whether words that look like a day name one of each month or the like, or are only mentioned."""
    text, start, end = found.string, found.start(), found.end()
    if text[max(0, start - 1) : start] + text[end : end + 1] in _MARKS_AROUND:
        return True
    before = text[max(0, start - _BEFORE) : start]
    if _EACH_BEFORE.search(before):
        return True
    if not _LAST.match(found[0]) or _LONGER.match(found[0]):
        return False
    return _OF_EACH.match(text, end) is not None or bool(_LAST_DAY.match(found[0]) and _THE_BEFORE.search(before))


def resolve(text: str, at: datetime) -> Resolved:
    """The text with its relative dates made absolute against ``at`` (aware), and the first moment that it names."""
    if not _CUE.search(text):
        return Resolved(text)
    today = at.date()
    named: list[tuple[int, date]] = []

    def replaced(pattern: re.Pattern[str], meaning: Callable[[re.Match[str], date], tuple[str, date] | None]) -> None:
        nonlocal text

        def write(found: re.Match[str]) -> str:
            if _is_no_day(found):
                return found[0]
            try:
                absolute = meaning(found, today)
            except (ValueError, OverflowError):
                return found[0]
            if absolute is None:
                return found[0]
            named.append((found.start(), absolute[1]))
            return absolute[0]

        text = pattern.sub(write, text)

    for found in _ISO.finditer(text):
        try:
            named.append((found.start(), date(int(found["y"]), int(found["m"]), int(found["d"]))))
        except ValueError:
            continue
    spelt = _dates_in_several_formats(text)
    replaced(_NAMED, lambda found, day: None if _is_example(found, spelt) else _named_day(found, day))
    for pattern, meaning in (*_RELATIVE, *relative(text)):
        replaced(pattern, meaning)
    if not named:
        return Resolved(text)
    for doubled in (_DOUBLED, _DOUBLED_GERMAN, _DOUBLED_SPANISH):
        text = doubled.sub(r"\1 ", text)
    first = min(named)[1]
    moment = at if first == today else datetime.combine(first, time(), tzinfo=at.tzinfo)
    return Resolved(text, moment, first > today)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _month_and_day(found: re.Match[str]) -> tuple[int, int]:
    return MONTHS[(found["m1"] or found["m2"]).lower()], int(found["d1"] or found["d2"])


def _dates_in_several_formats(text: str) -> set[tuple[int, int]]:
    """The month and day of dates that a text writes in one manner and not in another: it speaks of how they are
    written."""
    if not _RATHER.search(text):
        return set()
    ways: dict[tuple[int, int], set[str]] = {}
    for found in _NAMED.finditer(text):
        ways.setdefault(_month_and_day(found), set()).add(found[0].lower())
    return {day for day, spelt in ways.items() if len(spelt) > 1}


def _is_example(found: re.Match[str], spelt: set[tuple[int, int]]) -> bool:
    """Whether a date only shows how dates look, by its words before it or by being written in several ways."""
    before = found.string[max(0, found.start() - _EXAMPLE_CHARS) : found.start()]
    return _month_and_day(found) in spelt or _SHOWN.search(before) is not None


def _named_day(found: re.Match[str], today: date) -> tuple[str, date] | None:
    name = found["m1"] or found["m2"]
    # "may 3 of them" is no date: the month that is a verb must look like a name.
    if name in ("may", "mar", "march", "sep", "dec"):
        return None
    month, day = _month_and_day(found)
    if found["y"]:
        return found[0], date(int(found["y"]), month, day)
    years = (today.year - 1, today.year, today.year + 1)
    nearest = min((date(year, month, day) for year in years), key=lambda each: abs(each - today))
    return f"{found[0]} ({nearest.isoformat()})", nearest


def _day(offset: int, part: str = "") -> Callable[[re.Match[str], date], tuple[str, date]]:
    def meaning(found: re.Match[str], today: date) -> tuple[str, date]:
        day = today + timedelta(days=offset)
        return _on(day, part, found), day

    return meaning


def _on(day: date, part: str, found: re.Match[str]) -> str:
    capital = "On" if found[0][:1].isupper() else "on"
    return f"{capital} the {part} of {day.isoformat()}" if part else f"{capital} {day.isoformat()}"


def _in(word: str, found: re.Match[str]) -> str:
    return ("In " if found[0][:1].isupper() else "in ") + word


def _part_of_day(offset: int) -> Callable[[re.Match[str], date], tuple[str, date]]:
    def meaning(found: re.Match[str], today: date) -> tuple[str, date]:
        day = today + timedelta(days=offset)
        return _on(day, found["part"].lower(), found), day

    return meaning


def _ago(found: re.Match[str], today: date) -> tuple[str, date] | None:
    return _moved(found, today, -1)


def _ahead(found: re.Match[str], today: date) -> tuple[str, date] | None:
    return _moved(found, today, 1)


def _within(found: re.Match[str], today: date) -> tuple[str, date] | None:
    """What somebody has to do within some time; that a support answers within a day tells of no day."""
    moved = _moved(found, today, 1) if _TO_BE_DONE.search(found.string[: found.start()]) else None
    return None if moved is None else (moved[0].replace("on ", "by ", 1).replace("in ", "by ", 1), moved[1])


_TO_BE_DONE = re.compile(
    r"\b(?:i|we) (?:still )?(?:have to|need to|must|(?:have )?got to|will|shall|should|promised to|want to)\b"
    r"|\b(?:i|we)['’]ll\b|\bplease\b",
    re.IGNORECASE,
)


def _moved(found: re.Match[str], today: date, sign: int) -> tuple[str, date] | None:
    count, unit = _count(found["n"]) * sign, found["unit"].lower()
    if unit in ("day", "night"):
        day = today + timedelta(days=count)
        return _on(day, "", found), day
    if unit in ("week", "fortnight"):
        day = today + timedelta(weeks=count * (2 if unit == "fortnight" else 1))
        return _on(day, "", found), day
    if unit == "month":
        day = months_later(today, count).replace(day=1)
        return _in(f"{day:%Y-%m}", found), day
    if unit == "year":
        return _in(str(today.year + count), found), date(today.year + count, 1, 1)
    return None


def _span(offset: int) -> Callable[[re.Match[str], date], tuple[str, date] | None]:
    def meaning(found: re.Match[str], today: date) -> tuple[str, date] | None:
        unit = found["unit"].lower()
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
        if unit == "week":
            return _in(f"the week of {monday.isoformat()}", found), monday
        if unit == "weekend":
            day = monday + timedelta(days=5)
            return ("On" if found[0][:1].isupper() else "on") + f" the weekend of {day.isoformat()}", day
        if unit == "month":
            day = months_later(today.replace(day=1), offset)
            return _in(f"{day:%Y-%m}", found), day
        if unit == "year":
            return _in(str(today.year + offset), found), date(today.year + offset, 1, 1)
        if unit == "night" and offset < 0:
            day = today - timedelta(days=1)
            return _on(day, "night", found), day
        return None

    return meaning


def _weekday_before(found: re.Match[str], today: date) -> tuple[str, date]:
    back = (today.weekday() - _WEEKDAYS[found["day"].lower()] - 1) % 7 + 1
    return _on(today - timedelta(days=back), "", found), today - timedelta(days=back)


def _weekday_after(found: re.Match[str], today: date) -> tuple[str, date]:
    ahead = (_WEEKDAYS[found["day"].lower()] - today.weekday() - 1) % 7 + 1
    day = today + timedelta(days=ahead)
    lead = found["lead"].lower() if "lead" in found.re.groupindex and found["lead"] else ""
    return (f"{found['lead']} {day.isoformat()}" if lead in ("by", "until") else _on(day, "", found)), day


_RELATIVE: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], tuple[str, date] | None]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), meaning)
    for pattern, meaning in (
        (r"\b(?:the )?day before yesterday\b", _day(-2)),
        (r"\b(?:the )?day after tomorrow\b", _day(2)),
        (rf"\byesterday (?P<part>{_PART})\b", _part_of_day(-1)),
        (rf"\btomorrow (?P<part>{_PART})\b", _part_of_day(1)),
        (rf"\b(?:earlier )?this (?P<part>{_PART})\b", _part_of_day(0)),
        (r"\byesterday\b(?!')", _day(-1)),
        (r"\btomorrow\b(?!')", _day(1)),
        (r"\btonight\b", _day(0, "evening")),
        (r"\b(?:earlier )?today\b(?!')", _day(0)),
        (rf"\b(?:about |around )?(?P<n>{_NUMBER}) {_UNIT} (?:ago|back)\b", _ago),
        # "In a day" mostly tells how much of something, or how soon.
        (
            rf"\bin (?:about |around )?(?!(?:an?|one|1) (?:day|night)\b)(?P<n>{_NUMBER}) {_UNIT}"
            r"(?!['’\w]| (?:of|later|earlier|or)\b)",
            _ahead,
        ),
        (rf"\bwithin (?:about |around )?(?P<n>{_NUMBER}) {_UNIT}(?!['’\w]| of\b)", _within),
        (rf"\b(?P<n>{_NUMBER}) {_UNIT} from (?:now|today)\b", _ahead),
        (rf"\b(?:this past|last|this previous) (?P<day>{_DAY_NAME})\b", _weekday_before),
        (rf"\b(?:next|this coming|this) (?P<day>{_DAY_NAME})\b", _weekday_after),
        (rf"\b(?P<lead>by|until) (?:end of (?:day )?)?(?P<day>{_DAY_NAME})\b", _weekday_after),
        (rf"\b(?:last|this past) (?P<unit>{_SPANS}|night)\b(?!['’])", _span(-1)),
        (rf"\b(?:next|the coming) (?P<unit>{_SPANS})\b(?!['’])", _span(1)),
        (r"\bthis (?P<unit>week|weekend|month|year)\b(?!['’])", _span(0)),
    )
)  # fmt: skip
