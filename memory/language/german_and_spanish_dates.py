"""Relative dates in German and Spanish, as :mod:`memory.language.dates` reads them: each a pattern, and what is written
in its place, in the language of the words around it, with the day that it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memory.language.month_arithmetic import months_later

Written = tuple[str, date] | None
Meaning = Callable[[re.Match[str], date], Written]


@dataclass(frozen=True, slots=True)
class _Writing:
    """How a language writes a day, a week that begins on one, a month and a year."""

    day: str
    week: str
    month: str
    year: str


_GERMAN: Final = _Writing("am {}", "in der Woche vom {}", "im Monat {}", "im Jahr {}")
_SPANISH: Final = _Writing("el {}", "la semana del {}", "en {}", "en {}")
_UNITS: Final[Mapping[str, str]] = {
    word: unit
    for unit, words in {
        "day": "tag tage tagen día dia días dias",
        "week": "woche wochen semana semanas",
        "month": "monat monate monaten mes meses",
        "year": "jahr jahre jahren año años",
    }.items()
    for word in words.split()
}
_NUMBERS: Final[Mapping[str, int]] = {
    word: value
    for value, words in enumerate(
        (
            "ein eine einem einer einen un una",
            "zwei dos",
            "drei tres",
            "vier cuatro",
            "fünf cinco",
            "sechs seis",
            "sieben siete",
            "acht ocho",
            "neun nueve",
            "zehn diez",
            "elf once",
            "zwölf doce",
        ),
        1,
    )
    for word in words.split()
}
_WEEKDAYS: Final[Mapping[str, int]] = {
    name: day
    for day, names in enumerate(
        (
            "montag lunes",
            "dienstag martes",
            "mittwoch miércoles miercoles",
            "donnerstag jueves",
            "freitag viernes",
            "samstag sonnabend sábado sabado",
            "sonntag domingo",
        )
    )
    for name in names.split()
}
_NUMBER: Final = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_DAY: Final = rf"(?P<day>{'|'.join(_WEEKDAYS)})"
_GERMAN_PARTS: Final[Mapping[str, str]] = {
    "morgen": "morgens",
    "früh": "morgens",
    "vormittag": "vormittags",
    "mittag": "mittags",
    "nachmittag": "nachmittags",
    "abend": "abends",
    "nacht": "nachts",
}


def _cased(text: str, found: re.Match[str]) -> str:
    return text[:1].upper() + text[1:] if found[0][:1].isupper() else text


def _day(writing: _Writing, offset: int) -> Meaning:
    def meaning(found: re.Match[str], today: date) -> Written:
        day = today + timedelta(days=offset)
        part = found.groupdict().get("part")
        behind = "" if not part else f" {_GERMAN_PARTS.get(part.lower(), f'por la {part.lower()}')}"
        return _cased(writing.day.format(day.isoformat()), found) + behind, day

    return meaning


def _count(writing: _Writing, sign: int) -> Meaning:
    def meaning(found: re.Match[str], today: date) -> Written:
        word = found["n"].lower()
        count = sign * (int(word) if word.isdigit() else _NUMBERS[word])
        unit = _UNITS[found["unit"].lower()]
        if unit in ("day", "week"):
            day = today + timedelta(days=count * (7 if unit == "week" else 1))
            return _cased(writing.day.format(day.isoformat()), found), day
        return _month_or_year(writing, unit, count, found, today)

    return meaning


def _span(writing: _Writing, offset: int) -> Meaning:
    def meaning(found: re.Match[str], today: date) -> Written:
        unit = _UNITS[found["unit"].lower()]
        if unit == "week":
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
            return _cased(writing.week.format(monday.isoformat()), found), monday
        return _month_or_year(writing, unit, offset, found, today)

    return meaning


def _month_or_year(writing: _Writing, unit: str, count: int, found: re.Match[str], today: date) -> Written:
    if unit == "month":
        first = months_later(today.replace(day=1), count)
        return _cased(writing.month.format(f"{first:%Y-%m}"), found), first
    year = date(today.year + count, 1, 1)
    return _cased(writing.year.format(year.year), found), year


def _weekday(writing: _Writing, *, ahead: bool) -> Meaning:
    def meaning(found: re.Match[str], today: date) -> Written:
        wanted = _WEEKDAYS[found["day"].lower()]
        days = (wanted - today.weekday() - 1) % 7 + 1 if ahead else -((today.weekday() - wanted - 1) % 7 + 1)
        day = today + timedelta(days=days)
        lead = found.groupdict().get("lead")
        return (f"{lead} {day.isoformat()}" if lead else _cased(writing.day.format(day.isoformat()), found)), day

    return meaning


# "Guten Morgen", "am Morgen" and "por la mañana" name a part of the day.
_TOMORROW: Final = (
    r"(?<!\bguten )(?<!\bguter )(?<!\bam )(?<!\bjeden )(?<!\bder )(?<!\bden )(?<!\bdem )(?<!\bheute )(?<!\bgestern )"
    r"\bmorgen\b(?!\s*(?:[,!]|zusammen\b|allerseits\b|ihr\b))"
)
_MANANA: Final = r"(?<!\bla )(?<!\bcada )(?<!\besta )(?<!\bpasado )\bmañana\b"
_GERMAN_PART: Final = rf"(?P<part>{'|'.join(_GERMAN_PARTS)})"

RELATIVE: Final[tuple[tuple[re.Pattern[str], Meaning], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), meaning)
    for pattern, meaning in (
        (r"\bvorgestern\b", _day(_GERMAN, -2)),
        (r"\bübermorgen\b", _day(_GERMAN, 2)),
        (rf"\bgestern(?: {_GERMAN_PART})?\b", _day(_GERMAN, -1)),
        (rf"\bheute(?: {_GERMAN_PART})?\b", _day(_GERMAN, 0)),
        (rf"{_TOMORROW}(?: {_GERMAN_PART})?\b", _day(_GERMAN, 1)),
        (rf"\bvor {_NUMBER} (?P<unit>tag|tagen|woche|wochen|monat|monaten|jahr|jahren)\b", _count(_GERMAN, -1)),
        (rf"\bin {_NUMBER} (?P<unit>tag|tagen|woche|wochen|monat|monaten|jahr|jahren)\b", _count(_GERMAN, 1)),
        (rf"\b(?:am )?(?:letzten|vorigen|vergangenen) {_DAY}\b", _weekday(_GERMAN, ahead=False)),
        (rf"\b(?:am )?(?:nächsten|kommenden|diesen) {_DAY}\b", _weekday(_GERMAN, ahead=True)),
        (rf"\b(?P<lead>bis) (?:zum )?(?:(?:nächsten|kommenden|diesen) )?{_DAY}\b", _weekday(_GERMAN, ahead=True)),
        (r"\b(?:letzte[nrs]?|vorige[nrs]?|vergangene[nrs]?) (?P<unit>woche|monat|jahr)\b", _span(_GERMAN, -1)),
        (r"\bdiese[nrs]? (?P<unit>woche|monat|jahr)\b", _span(_GERMAN, 0)),
        (r"\b(?:nächste[nrs]?|kommende[nrs]?) (?P<unit>woche|monat|jahr)\b", _span(_GERMAN, 1)),
        (r"\b(?:anteayer|antes de ayer)\b", _day(_SPANISH, -2)),
        (r"\bpasado mañana\b", _day(_SPANISH, 2)),
        (r"\besta (?P<part>mañana|tarde|noche)\b", _day(_SPANISH, 0)),
        (r"\bayer\b", _day(_SPANISH, -1)),
        (r"\bhoy\b", _day(_SPANISH, 0)),
        (_MANANA, _day(_SPANISH, 1)),
        (rf"\bhace {_NUMBER} (?P<unit>d[ií]as?|semanas?|mes|meses|años?)\b", _count(_SPANISH, -1)),
        (rf"\b(?:en|dentro de) {_NUMBER} (?P<unit>d[ií]as?|semanas?|mes|meses|años?)\b", _count(_SPANISH, 1)),
        (rf"\b(?:el )?{_DAY} pasado\b", _weekday(_SPANISH, ahead=False)),
        (rf"\b(?:el )?pasado {_DAY}\b", _weekday(_SPANISH, ahead=False)),
        (rf"\b(?:el )?(?:próximo|este) {_DAY}\b", _weekday(_SPANISH, ahead=True)),
        (rf"\b(?:el )?{_DAY} que viene\b", _weekday(_SPANISH, ahead=True)),
        (rf"\b(?P<lead>hasta el)(?: próximo)? {_DAY}\b", _weekday(_SPANISH, ahead=True)),
        (r"\b(?:la |el )?(?P<unit>semana|mes|año) pasad[ao]\b", _span(_SPANISH, -1)),
        (r"\best[ae] (?P<unit>semana|mes|año)\b", _span(_SPANISH, 0)),
        (r"\b(?:la |el )?próxim[ao] (?P<unit>semana|mes|año)\b", _span(_SPANISH, 1)),
        (r"\b(?:la |el )?(?P<unit>semana|mes|año) que viene\b", _span(_SPANISH, 1)),
    )
)
"""In the order in which they are looked for."""
