"""The conversation's own time, where it states one: "Current date: 1:56 pm on 8 May, 2023", "Today's date: 2026-11-20".

Runtimes write the day into their environment block, and transcripts that are played again carry the day on which
they happened. Our own clock is finer than a stated day, so it is kept while the two agree to within two days.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from memory.conversation import Message, Role

_READ = 200_000
_CUE = re.compile(
    r"(?:\b(?:current|today's|todays|present|conversation|session)[ _](?:local )?(?:date(?:[ _](?:and|&)[ _]time)?|"
    r"time|datetime)|\btoday is|\bthe date is|\bit is now|<(?:current_?)?date(?:time)?>|^date)\b[>\s]{0,3}(?:is|:|"
    r"=|\()?[\s\"'*]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<day>\d{1,2})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? {_MONTH},? (?P<year>(?:19|20)\d\d)",
        rf"{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|"
        rf"th)?,? (?:\d{{1,2}}:\d\d(?::\d\d)? (?:\w{{1,5}} )?)?(?P<year>(?:19|20)\d\d)",
        r"(?P<m>\d{1,2})/(?P<day>\d{1,2})/(?P<year>(?:19|20)\d\d)",
    )
)
_TIME = re.compile(
    r"(?<!\d)(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?::(?P<s>[0-5]\d))?(?: ?(?P<half>[ap])\.?m\.?)?", re.IGNORECASE
)


def moment(messages: Sequence[Message], fallback: datetime, *, instructions: str = "") -> datetime:
    """When the conversation takes place: the date that it states last, else ``fallback`` (aware).

    Only system and developer messages, ``instructions`` and what a runtime wrote into a human message are read; what
    people, models and tools say about dates is no clock. The result is in the zone of ``fallback``.
    """
    for message in reversed(messages):
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            text = message.text
        elif message.role is Role.USER and message.text.strip() != message.spoken.strip():
            text = message.text.replace(message.spoken, " ") if message.spoken else message.text
        else:
            continue
        if (time := stated(text, fallback)) is not None:
            return _plausible(time, fallback)
    time = stated(instructions, fallback)
    return fallback if time is None else _plausible(time, fallback)


def stated(text: str, fallback: datetime) -> datetime | None:
    """The last date that a text states as the present one, in the zone of ``fallback``; a day without a time is its
    noon."""
    found = None
    for cue in _CUE.finditer(text[:_READ]):
        found = _read(text[cue.end() : cue.end() + 60], fallback) or found
    return found


def _plausible(time: datetime, fallback: datetime) -> datetime:
    return fallback if abs(time - fallback) < timedelta(days=2) else time


def _read(text: str, fallback: datetime) -> datetime | None:
    text = text.split("\n", 1)[0]
    for pattern in _DATES:
        day = pattern.search(text)
        if day is None or day.start() > 30:
            continue
        groups = day.groupdict()
        month = int(groups["m"]) if groups.get("m") else _MONTHS.index(groups["month"].lower()[:3]) + 1
        clock = _TIME.search(text)
        hour, minute, second = (int(clock["h"]), int(clock["min"]), int(clock["s"] or 0)) if clock else (12, 0, 0)
        if clock and clock["half"]:
            hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
        try:
            return datetime(
                int(groups["year"]), month, int(groups["day"]), hour, minute, second, tzinfo=fallback.tzinfo
            )
        except ValueError:
            return None
    return None
