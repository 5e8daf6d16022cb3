"""What a feature's route is asked, checked, and how it refuses; free of any word of HTTP but the status.

What an answer of our endpoints holds, where it is put together from the fields of several types.

What stands in a request to one of our endpoints, checked: whole, or refused with a sentence.

Memories as JSON tells them.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Generic, Literal, NotRequired, TypedDict, TypeVar

from memory.candidate import Candidate
from memory.fact import Fact, Passage, Sensitivity
from memory.member import Asker
from memory.provenance import QUARANTINE, owner_before
from memory.scope import ANY_PROJECT, ProjectReach, Scope
from memory.strength import effective

T = TypeVar("T")


class RouteRefused(Exception):
    """What was asked cannot be done; the message says why, in a sentence."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """An answer with a status of its own, and ``work`` that goes on when it has been given."""

    data: T
    status: int = 200
    work: Coroutine[Any, Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """``owners`` are those whose memories may be seen, as the server has built them, ``named`` whether the request says
    whose it means, and ``asker`` who asks, who may not change all that they see; ``names`` are the path's, ``body`` and
    ``query`` have no fields but those that the route names; ``reach`` are the projects into which may be looked."""

    scope: Scope
    owners: tuple[str, ...]
    limit: int
    now: datetime
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    named: bool = True
    asker: Asker = field(default_factory=Asker)
    reach: ProjectReach = ANY_PROJECT


class Fields:
    """Says of a dictionary which fields it has: ``Annotated[dict[str, Any], Fields("Name", Held, More)]``.

    ``of`` are dataclasses, TypedDicts, other dictionaries marked so, unions of these, of which a field that only some
    have may be missing, or functions that give the types of fields by their names. A later one's fields stand in the
    place of an earlier one's; those in ``without`` are not told. The description of our endpoints calls the whole
    ``name``.
    """

    def __init__(self, name: str, *of: Any, without: tuple[str, ...] = ()) -> None:
        self.name: Final = name
        self.of: Final = of
        self.without: Final = without


E = TypeVar("E", bound=StrEnum)

MAX_TEXT_CHARS: Final = 4000
"""Characters of a text to search for or to remember."""

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What no text holds: it cannot be stored, or it commands a terminal that shows it."""


def choices(text: str, key: str, of: type[E]) -> frozenset[E]:
    """Values of a list, as in ``decision,preference``; all of them where none is named."""
    text = text.strip()
    if text in ("", "all"):
        return frozenset(of)
    return frozenset(choice(each.strip(), key, of) for each in text.split(","))


def choice(value: Any, key: str, of: type[E]) -> E:
    """One value of a list."""
    try:
        return of(value)
    except ValueError:
        raise RouteRefused(f"{key} is {str(value)[:40]!r}; it is one of {', '.join(of)}", 422) from None


def checked_id(id: str) -> str:
    """An id, or the beginning of one."""
    if not 4 <= len(id) <= 64 or not id.isascii() or not id.isprintable():
        raise RouteRefused("an id, or the beginning of one, has from 4 to 64 characters", 422)
    return id


def checked_text(value: str, key: str, required: bool = False, longest: int = MAX_TEXT_CHARS) -> str:
    """A text of a bearable length, without characters that cannot be stored."""
    text = value.strip()
    if required and not text:
        raise RouteRefused(f"{key} is missing or empty", 422)
    if len(text) > longest:
        raise RouteRefused(f"{key} has {len(text)} characters; {longest} are allowed", 422)
    if CONTROLS.search(text) or not _encodable(text):
        raise RouteRefused(f"{key} holds characters that are no text (control characters, or half of one)", 422)
    return text


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


HIDDEN = "(restricted: ask for it by its id)"


class MemoryNow(TypedDict):
    """What is told of a memory beside what is kept of it: whether it is a fact or a turn of a talk, how strong a fact
    is now, and whether it is in quarantine. What would tell the text of a restricted one is missing."""

    sort: Literal["fact", "turn"]
    wrong: NotRequired[str]
    core: NotRequired[str]
    entities: NotRequired[tuple[str, ...]]
    strength: NotRequired[float]
    quarantined: NotRequired[bool]


MemoryJson = Annotated[dict[str, Any], Fields("Memory", Fact | Passage, MemoryNow)]
"""A memory as JSON."""


def shallow(held: Fact | Passage | Candidate) -> dict[str, Any]:
    """The fields of a flat value by their names. Lists have hundreds of them, and nothing of them is changed: that is
    no copy."""
    return {each.name: getattr(held, each.name) for each in fields(held)}


def memory(held: Fact | Passage, now: datetime, *, by_id: bool = False) -> MemoryJson:
    """A memory. What is restricted shows its text only when it was asked for by its id."""
    told = shallow(held)
    if held.owner.startswith(QUARANTINE):
        told |= {"owner": owner_before(held.owner), "quarantined": True}
    told["sort"] = "fact" if isinstance(held, Fact) else "turn"
    if isinstance(held, Fact):
        told["strength"] = round(effective(held, now), 3)
    if held.sensitivity is Sensitivity.RESTRICTED and not by_id:
        told["text"] = HIDDEN
        told.pop("wrong", None)
        told.pop("core", None)
        told.pop("entities", None)
    return told
