"""What an organisation decides for its people: what is kept of what they say, how long, and whom they may ask.

:class:`Policies` is the one place that says what holds for a caller, or for the owner of a memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from memory.fact import Category, Sensitivity
from memory.scope import Layer, Scope, place_of
from memory.settings import KeepingSettings, NumberKind, PolicySettings

ANY = "*"
"""Stands for an organisation that is not named, and for people of none."""

PERSONAL = frozenset({Category.PERSON, Category.PEOPLE})
"""What is about people and not about their work."""


class NotKept(ValueError):
    """An organisation's policy does not let something be kept."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for one person, or for what an organisation shares. ``name`` is under which it is set; ``upstreams``
    are addresses, None for any; the days are None for ever; ``private_projects`` take no part in ``share_research``."""

    name: str = ANY
    personal: bool = True
    restricted: bool = True
    redact: frozenset[NumberKind] = frozenset()
    upstreams: tuple[str, ...] | None = None
    keep_days: int | None = None
    keep_memories_days: int | None = None
    keep_kinds_days: tuple[tuple[str, int], ...] = ()
    share_research: bool = False
    private_projects: frozenset[str] = frozenset()

    def days_of(self, kind: str) -> int | None:
        """How many days memories of a kind are kept; None for ever."""
        return dict(self.keep_kinds_days).get(kind, self.keep_memories_days)

    @property
    def keeps_all(self) -> bool:
        """Whether everything that is said may be kept."""
        return self.personal and self.restricted

    def forbids(self, sensitivity: Sensitivity, category: Category | None = None) -> str:
        """Why something may not be kept, in words; empty where it may."""
        if not self.restricted and sensitivity is Sensitivity.RESTRICTED:
            return f"nothing restricted is kept (memory.policies.{self.name}.restricted)"
        if not self.personal and category in PERSONAL:
            return f"nothing about people is kept (memory.policies.{self.name}.personal)"
        return ""

    def shares_research(self, project: str) -> bool:
        """Whether research of a project is offered in the organisation's other projects, and theirs in it."""
        return self.share_research and project not in self.private_projects

    def check(self, sensitivity: Sensitivity, category: Category) -> None:
        """Whether a fact may be kept.

        Raises:
            NotKept: when it may not, with why.
        """
        if why := self.forbids(sensitivity, category):
            raise NotKept(why)

    def allows(self, address: str) -> bool:
        """Whether a request may go to an address, or over a bridge to a model by litellm's name."""
        return self.upstreams is None or any(_is_below(allowed, address) for allowed in self.upstreams)


@dataclass(frozen=True, slots=True)
class Unkept:
    """What is to go of an owner: what was learnt ``before`` a time, of one ``kind`` of facts where one is named, and
    whether what is restricted, or about people, goes however new it is. ``person`` is the owner of what is known of the
    same person in all projects."""

    owner: str
    before: datetime | None = None
    restricted: bool = False
    personal: bool = False
    person: str = ""
    kind: str = ""


class Policies:
    """What holds for whom. ``keep_days`` holds for messages where no policy says anything else."""

    def __init__(self, settings: Mapping[str, PolicySettings], keep_days: int | None = None) -> None:
        self._settings = settings
        self._keep_days = keep_days
        self._otherwise = Policy(keep_days=keep_days)

    @property
    def any_deleted(self) -> bool:
        """Whether there is anything that is ever to be deleted."""
        return self._keep_days is not None or any(
            not (each.personal and each.restricted)
            or any(
                one.keep_days or one.keep_memories_days or one.keep_kinds_days for one in (each, *each.users.values())
            )
            for each in self._settings.values()
        )

    def of(self, scope: Scope) -> Policy:
        """What holds for a caller."""
        name = scope.org if scope.org in self._settings else ANY
        settings = self._settings.get(name or ANY)
        if settings is None:
            return self._otherwise
        user = settings.users.get(scope.user or "", KeepingSettings())
        # What is said of a person goes before what is said of all, of one kind as of every kind.
        kinds = {} if user.keep_memories_days else dict(settings.keep_kinds_days)
        return Policy(
            name or ANY,
            settings.personal,
            settings.restricted,
            frozenset(settings.redact),
            settings.upstreams,
            user.keep_days or settings.keep_days or self._keep_days,
            user.keep_memories_days or settings.keep_memories_days,
            tuple(sorted((kinds | dict(user.keep_kinds_days)).items())),
            settings.share_research,
            frozenset(settings.private_projects),
        )

    def of_owner(self, owner: str) -> Policy:
        """What holds for the owner of a memory, on whatever shelf it lies."""
        return self.of(scope_of_owner(owner))


@lru_cache(maxsize=1024)
def scope_of_owner(owner: str) -> Scope:
    """Whose memories an owner's are; nobody's where it is no owner."""
    shelf, _, rest = owner.partition("/")
    while rest and ":" not in shelf:
        owner = rest
        shelf, _, rest = owner.partition("/")
    place = place_of(owner)
    return place[0] if place is not None else Scope()


def is_persons(owner: str) -> bool:
    """Whether a memory is a person's own, and not shared."""
    place = place_of(owner)
    return place is not None and place[1] in (Layer.USER, Layer.USER_PROJECT)


def _is_below(allowed: str, address: str) -> bool:
    """Whether an address lies at or below one that is allowed, part for part; ``*`` stands for anything in the name of
    a bridged model."""
    if "://" not in allowed or "://" not in address:
        return "://" not in allowed and "://" not in address and fnmatchcase(address, allowed)
    wanted, given = urlsplit(allowed), urlsplit(address)
    if (wanted.scheme, wanted.hostname, _port(wanted.port, wanted.scheme)) != (
        given.scheme,
        given.hostname,
        _port(given.port, given.scheme),
    ):
        return False
    below = wanted.path.rstrip("/")
    return given.path.rstrip("/") == below or given.path.startswith(f"{below}/")


def _port(port: int | None, scheme: str) -> int:
    return port or (443 if scheme == "https" else 80)
