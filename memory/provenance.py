"""Where memories came from, and the shelf on which those lie that are in quarantine.

A memory in quarantine belongs to an owner whom nobody's scope reaches: it is found by nothing, stands on no page, and
is not consolidated, until it is released or forgotten.

Who asked what of memory, for the audit log: no text of any memory, and none that was looked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.fact import Fact, Origin, Passage
from memory.member import Releaser

QUARANTINE = "quarantine/"
"""With this begins the owner of what is in quarantine; behind it stands who may release it, and whose it is."""


SHELVES = tuple(f"{QUARANTINE}{each}" for each in Releaser)
"""How the owners begin of all that is in quarantine."""


class SelectedBy(StrEnum):
    """By what memories are chosen."""

    SESSION = "session"
    PROGRAM = "program"
    CREDENTIAL = "credential"
    REQUEST = "request"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories by where they came from: all that is said must hold. ``by`` gives a value for each thing; what is empty
    holds for any. ``sessions`` are ids as they are here, whole."""

    by: dict[SelectedBy, str] = field(default_factory=dict)
    origins: frozenset[Origin] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    sessions: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether it would choose everything."""
        return not (self.by or self.origins or self.since or self.until or self.sessions)


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where a memory came from. ``credential`` is a keyed hash, ``request`` the id of the request's receipt; what is
    not known is empty: a person wrote it down by hand, a night drew it from others, or its request has left the
    journal."""

    memory: str
    origin: Origin
    program: str = ""
    credential: str = ""
    session: str = ""
    client_session: str = ""
    project: str = ""
    request: str = ""
    model: str = ""
    at: datetime | None = None
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectedMemories:
    """What a selection comes to: the memories that came from there, the facts that were ``derived`` from them, and how
    much research. ``approved`` are ids among them that a person has approved as rules for others; ``ended`` are ids of
    facts elsewhere that these took the place of."""

    memories: tuple[Fact | Passage, ...] = ()
    derived: tuple[Fact, ...] = ()
    research: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the memories and what was derived from them."""
        return (*(each.id for each in self.memories), *(each.id for each in self.derived))


@dataclass(frozen=True, slots=True)
class QuarantinedSession:
    """How much of what was learnt in a session is in quarantine."""

    session: str
    facts: int
    passages: int


def owner_before(owner: str) -> str:
    """Whose a memory is, in quarantine or not."""
    for shelf in reversed(SHELVES):
        owner = owner.removeprefix(shelf)
    return owner


def shelf_of(owner: str) -> str:
    """What stands before an owner in quarantine, by who may release it; empty outside it."""
    return owner.removesuffix(owner_before(owner))


def highest_shelf(owners: Iterable[str]) -> str:
    """The shelf of some owners that the fewest may release; empty where none of them is in quarantine."""
    return max(map(shelf_of, owners), key=("", *SHELVES).index, default="")


def quarantined(owners: Iterable[str], by: Iterable[Releaser] = Releaser) -> tuple[str, ...]:
    """The owners as they are named in quarantine, by who may release it."""
    shelves = tuple(f"{QUARANTINE}{each}" for each in by)
    return tuple(shelf + owner for owner in owners for shelf in shelves)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One question to our own endpoints. ``what`` is its method and path without names, ``memory`` the id in it,
    ``user`` whom the token is for, empty for everybody."""

    at: datetime
    who: str
    what: str
    memory: str = ""
    user: str = ""
    status: int = 200
