"""Relative dates in German and Spanish, as :mod:`memory.language.dates` reads them: each a pattern, and what is written
in its place, in the language of the words around it, with the day that it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memory.language.calendar import months_later
from memory.language.words import GERMAN, SPANISH, tokens, vocabulary

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


_APART: Final = r"(?<![\w/.@_'\"`-])(?:{})(?![\w/@_'\"`-]|\.\w)"
"""What is no part of a path, an address, a name or code."""
# "Am nächsten Morgen", "una mañana" and "por la mañana" name a part of the day, and a greeting names none.
_BEFORE_MORNING: Final = "".join(
    rf"(?<!\b{word} )"
    for word in (
        *("guten", "guter", "am", "zum", "beim", "jeden", "jeder", "der", "den", "dem", "einem", "eines", "diesem"),
        *("diesen", "heute", "gestern", "auf", "nächsten", "frühen", "späten", "folgenden", "selben", "anderen"),
        *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
        *("la", "una", "media", "cada", "esta", "pasado"),
    )
)
_PART: Final = rf"(?: (?P<part>{'|'.join(_GERMAN_PARTS)}))?"
_GERMAN_UNIT: Final = r"(?P<unit>tag|tagen|wochen?|monat|monaten|jahr|jahren)"
_SPANISH_UNIT: Final = r"(?P<unit>d[ií]as?|semanas?|mes|meses|años?)"
_IN_GERMAN: Final = (
    (r"vorgestern", _day(_GERMAN, -2)),
    (r"übermorgen", _day(_GERMAN, 2)),
    (rf"gestern{_PART}", _day(_GERMAN, -1)),
    (rf"heute{_PART}(?! auf morgen)", _day(_GERMAN, 0)),
    (rf"{_BEFORE_MORNING}morgen{_PART}(?!\s*(?:[,!]|zusammen\b|allerseits\b|leute\b|ihr\b))", _day(_GERMAN, 1)),
    (rf"vor {_NUMBER} {_GERMAN_UNIT}", _count(_GERMAN, -1)),
    (rf"(?<!alle )in (?!einem tag){_NUMBER} {_GERMAN_UNIT}(?! [A-ZÄÖÜ]?(?i:sprints?|takt))", _count(_GERMAN, 1)),
    (rf"(?:am )?(?:letzte[nm]|vorige[nm]|vergangene[nm]) {_DAY}", _weekday(_GERMAN, ahead=False)),
    (rf"(?:am )?(?:nächste[nm]|kommende[nm]|diese[nm]) {_DAY}", _weekday(_GERMAN, ahead=True)),
    (rf"(?P<lead>bis) (?:zum )?(?:(?:nächsten|kommenden|diesen) )?{_DAY}", _weekday(_GERMAN, ahead=True)),
    (r"(?:i[nm] (?:der )?)?(?:letzte|vorige|vergangene)[nrsm]? (?P<unit>woche|monat|jahr)", _span(_GERMAN, -1)),
    (r"(?:i[nm] )?diese[nrsm]? (?P<unit>woche|monat|jahr)", _span(_GERMAN, 0)),
    (r"(?:i[nm] (?:der )?)?(?:nächste|kommende)[nrsm]? (?P<unit>woche|monat|jahr)", _span(_GERMAN, 1)),
)
_IN_SPANISH: Final = (
    (r"anteayer|antes de ayer", _day(_SPANISH, -2)),
    (r"pasado mañana", _day(_SPANISH, 2)),
    (r"esta (?P<part>mañana|tarde|noche)", _day(_SPANISH, 0)),
    (r"ayer", _day(_SPANISH, -1)),
    (r"hoy(?! (?:en día|por hoy))", _day(_SPANISH, 0)),
    (rf"{_BEFORE_MORNING}mañana", _day(_SPANISH, 1)),
    (rf"hace {_NUMBER} {_SPANISH_UNIT}", _count(_SPANISH, -1)),
    (rf"dentro de {_NUMBER} {_SPANISH_UNIT}", _count(_SPANISH, 1)),
    (rf"(?:el )?{_DAY} pasado", _weekday(_SPANISH, ahead=False)),
    (rf"(?:el )?pasado {_DAY}", _weekday(_SPANISH, ahead=False)),
    (rf"(?:el )?(?:próximo|este) {_DAY}", _weekday(_SPANISH, ahead=True)),
    (rf"(?:el )?{_DAY} que viene", _weekday(_SPANISH, ahead=True)),
    (rf"(?P<lead>hasta el)(?: próximo)? {_DAY}", _weekday(_SPANISH, ahead=True)),
    (r"(?:en )?(?:la |el )?(?P<unit>semana|mes|año) pasad[ao]", _span(_SPANISH, -1)),
    (r"(?:en )?est[ae] (?P<unit>semana|mes|año)", _span(_SPANISH, 0)),
    (r"(?:en )?(?:la |el )?próxim[ao] (?P<unit>semana|mes|año)", _span(_SPANISH, 1)),
    (r"(?:en )?(?:la |el )?(?P<unit>semana|mes|año) que viene", _span(_SPANISH, 1)),
)
_OF_ENGLISH_TOO: Final = vocabulary(
    "am an die in so war was man will also hat her bin den im um er es da do no a me he ha has son te se si con la lo "
    "el de del los las y o u un una en al sea os"
)
_TIMES: Final = vocabulary(
    "gestern heute morgen vorgestern übermorgen woche wochen monat jahr tagen nächste nächsten letzte letzten ayer hoy "
    "mañana semana mes año pasado próximo próxima"
)


def _compiled(
    rows: Sequence[tuple[str, Meaning]], words: frozenset[str]
) -> tuple[frozenset[str], tuple[tuple[re.Pattern[str], Meaning], ...]]:
    return words, tuple(
        (re.compile(_APART.format(pattern), re.IGNORECASE), _unless_a_name(meaning)) for pattern, meaning in rows
    )


def _unless_a_name(meaning: Meaning) -> Meaning:
    """A meaning that leaves alone what is written like a name: with a capital, and no sentence begins there."""

    def told(found: re.Match[str], today: date) -> Written:
        before = found.string[: found.start()].rstrip()
        word = found[0].partition(" ")[0]
        if before and before[-1] not in ".!?:\n" and word[:1].isupper() and word.lower() in _TIMES:
            return None
        return meaning(found, today)

    return told


_LANGUAGES: Final = (_compiled(_IN_GERMAN, GERMAN), _compiled(_IN_SPANISH, SPANISH))


def relative(text: str) -> Iterator[tuple[re.Pattern[str], Meaning]]:
    """The patterns of the languages that a text is written in, in the order in which they are looked for. An English
    sentence with "Morgen" or "Hoy" in it speaks of a person."""
    said = {word.lower() for word in tokens(text)}
    for words, rows in _LANGUAGES:
        surely = said & words - _OF_ENGLISH_TOO
        if surely and len(said & (words | _TIMES)) > 1:
            yield from rows
