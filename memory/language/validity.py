"""How long something is said to hold: "until 20 November", "through the end of the month", "only today".

All take a text and the moment at which it was said, in the zone of whoever said it; dates are those that
:mod:`memory.language.dates` has made absolute. Weeks begin on Monday. English, German and Spanish. Knows no clock.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from memory.language.calendar import MONTH, MONTHS, WEEKDAY, months_later

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
