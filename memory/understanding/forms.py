"""Forms that say something of a statement whatever it is about: how far it reaches, and what it hangs on.

The words lie in ``forms.toml``.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

TABLE: Final = tomllib.loads(Path(__file__).with_name("forms.toml").read_text("utf-8"))
_EVERYWHERE: Final = TABLE["everywhere"]


def _any_of(words: str) -> str:
    return "|".join(map(re.escape, words.split()))


# Between the two stand at most three others, that say whose they are or how many: "all of my own three projects".
_REACH: Final = re.compile(
    rf"\b(?:{_any_of(_EVERYWHERE['every'])})\b(?:[ -](?:{_any_of(_EVERYWHERE['whose'] + ' ' + _EVERYWHERE['number'])}))"
    rf"{{0,3}}[ -](?:{_any_of(_EVERYWHERE['work'])})\b"
    rf"|{_EVERYWHERE['only_here'].strip()}",
    re.IGNORECASE,
)
_ANYWHERE: Final = re.compile(
    rf"\b(?:{'|'.join(_EVERYWHERE['anywhere'])})\b(?:{_EVERYWHERE['ends'].strip()})", re.IGNORECASE
)
_OWN: Final = re.compile(rf"\b(?:{_EVERYWHERE['own'].strip()})\b", re.IGNORECASE)
_WITHIN: Final = re.compile(_EVERYWHERE["within"].strip("\n"), re.IGNORECASE)
_HERE: Final = re.compile(TABLE["here"]["form"].strip(), re.IGNORECASE)
_LEANS: Final = re.compile(TABLE["leans"]["form"].strip(), re.IGNORECASE)
_POINTS: Final = re.compile(TABLE["points_back"]["form"].strip(), re.IGNORECASE)
_PERMITS: Final = re.compile(TABLE["permits"]["form"].strip(), re.IGNORECASE)
_IDLE_LEAVE: Final = re.compile(TABLE["permits"]["idle"].strip(), re.IGNORECASE)
_TAKES_BACK: Final = re.compile(TABLE["takes_back"]["form"].strip(), re.IGNORECASE)
_TAKES_BACK_ABOUT: Final = re.compile(TABLE["takes_back"]["about"].strip(), re.IGNORECASE)
_NO_TOPIC: Final = re.compile(TABLE["takes_back"]["no_topic"].strip(), re.IGNORECASE)
_FOR_NOW: Final = re.compile(TABLE["for_now"]["form"].strip(), re.IGNORECASE)
_LIMITS: Final = frozenset(TABLE["limits"]["words"].split())
_BY_THE_WAY: Final = re.compile(TABLE["limits"]["by_the_way"].strip(), re.IGNORECASE)
_EXCEPTIONS: Final = frozenset(TABLE["exceptions"]["words"].split())
_NEGATIONS: Final = frozenset(TABLE["negations"]["words"].split())
_CONCLUSIONS: Final = frozenset(TABLE["anew"]["conclusions"].split())
_CONDITIONS: Final = frozenset(TABLE["anew"]["conditions"].split())
_ORDERS: Final = frozenset(TABLE["anew"]["orders"].split())
_NOT: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")
_RELATIVE: Final = re.compile(rf"(?:{_any_of(TABLE['relative']['words'])})\b", re.IGNORECASE)


def is_everywhere(text: str) -> bool:
    """Whether a statement is said to hold in all of somebody's projects."""
    if (found := _REACH.search(text)) is not None:
        return _WITHIN.match(text, found.end()) is None
    return _ANYWHERE.search(text) is not None and _OWN.search(text) is not None and not is_here(text)


def is_relative(clause: str) -> bool:
    """Whether a clause begins as one that says something of what stands before it."""
    return _RELATIVE.match(clause) is not None


def is_here(text: str) -> bool:
    """Whether a statement is said to hold in the project at hand."""
    return _HERE.search(text) is not None


def leans(text: str) -> bool:
    """Whether a statement points at something among its first words that it does not name."""
    return _LEANS.match(text) is not None


def points_back(text: str) -> bool:
    """Whether a statement begins by pointing at what was said before it."""
    return _POINTS.match(text) is not None


def permits(clause: str) -> bool:
    """Whether a clause says that something is allowed."""
    return not negates(clause) and _PERMITS.search(clause) is not None and _IDLE_LEAVE.search(clause) is None


def takes_back(sentence: str) -> str:
    """The words with which a sentence begins that says of what its author had said that it does not hold any more;
    nothing where it says no such thing."""
    found = _TAKES_BACK.match(sentence.replace("’", "'"))
    return found[0] if found else ""


def topic_taken_back(sentence: str) -> str:
    """What it was about that the author of a sentence had said, and that does not hold any more; empty where the
    sentence names nothing, or only puts it off. ``sentence`` begins with such words."""
    said = sentence.replace("’", "'")
    found = _TAKES_BACK_ABOUT.search(said, 0)
    lead = _TAKES_BACK.match(said)
    if found is None or lead is None or found.start() > lead.end():
        return ""
    topic = next(filter(None, found.groups()), "")
    return "" if _NO_TOPIC.search(topic) or is_for_now(topic) else topic


def is_for_now(text: str) -> bool:
    """Whether a statement says that it holds, or is left, for the moment only."""
    return _FOR_NOW.search(text) is not None


def may_take_back(text: str) -> bool:
    """Whether such words stand anywhere in a text: to be asked first, of every message."""
    return _TAKES_BACK.search(text.replace("’", "'")) is not None


def limits(part: str) -> bool:
    """Whether a part of a sentence may say when the rest of it does not hold, or take it back."""
    return any(word.lower() in _LIMITS for word in _WORD.findall(_BY_THE_WAY.sub(" ", part)))


def excepts(part: str) -> bool:
    """Whether a part of a sentence may say where the rest of it does not hold."""
    return any(word.lower() in _EXCEPTIONS for word in _WORD.findall(part))


def negates(part: str) -> bool:
    """Whether a part of a sentence may turn what follows into its opposite, or into what is only supposed."""
    return _NOT.search(part) is not None or any(word.lower() in _NEGATIONS for word in _WORD.findall(part))


def begins_anew(before: str, after: str, *, marked: bool) -> bool:
    """Whether a part of a sentence that begins with one word, behind another and a mark or none, is an order or a
    conclusion of its own."""
    last, first = before.lower(), after.lower()
    concludes = first in _CONCLUSIONS if marked else last in _CONCLUSIONS and first in _ORDERS
    return concludes or (marked and first in _ORDERS)


def says_when(part: str) -> bool:
    """Whether a part of a sentence may say when or where the rest of it holds."""
    return any(word.lower() in _CONDITIONS for word in _WORD.findall(part))
