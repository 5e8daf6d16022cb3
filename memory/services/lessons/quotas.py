"""How much may be learnt of an organisation and of each of its people.

Whose memories are as many as they may be is taught nothing more, until there are fewer or more are allowed; what a
person tells to remember is kept all the same, and no model call is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memory.scope import Layer, Scope
from memory.settings import QuotaSettings

ANY = "*"
"""Stands for an organisation that is not named, and for people of none."""


class TextCounts(Protocol):
    """What this needs of the journal."""

    async def texts_below(self, owners: Sequence[str], beginnings: Sequence[str]) -> int:
        """How many memories can be found of these owners, and of all whose name begins so."""


class Quotas:
    """Whether somebody's quota is full, asked before each exchange that is learnt. Where none is set nothing is
    counted."""

    def __init__(self, settings: Mapping[str, QuotaSettings], counts: TextCounts) -> None:
        self._settings = settings
        self._counts = counts
        self._full: set[Scope] = set()

    async def full(self, scope: Scope) -> bool:
        """Whether nothing more may be learnt of a place, since its person's quota or its organisation's is full."""
        # All are looked at, so that each is told of.
        return any([await self._reached(of, most) for of, most in self._limits(scope)])

    def limited(self, scope: Scope) -> bool:
        """Whether there is any quota of memories for a place."""
        return any(most is not None for _, most in self._limits(scope))

    def known_full(self, scope: Scope) -> str:
        """Why nothing more was to be learnt of a place when that was looked at last; empty where something was."""
        if any(of in self._full for of, _ in self._limits(scope)):
            return "nothing more is learnt, there are as many memories as may be (memory.quotas)"
        return ""

    def _limits(self, scope: Scope) -> list[tuple[Scope, int | None]]:
        quota = quota_of(self._settings, scope)
        if quota is None:
            return []
        own = quota.users.get(scope.user or "")
        most = own.memories if own is not None and own.memories is not None else quota.memories_per_user
        person = [(Scope(scope.org, scope.user), most)] if scope.user else []
        return person + ([(Scope(scope.org), quota.memories)] if scope.org else [])

    def told(self) -> list[str]:
        """What is wrong, in a sentence that names nobody."""
        people = sum(each.user is not None for each in self._full)
        counted = [
            f"{count} {name if count == 1 else names}"
            for count, name, names in (
                (people, "person", "people"),
                (len(self._full) - people, "organisation", "organisations"),
            )
            if count
        ]
        return [f"nothing more is learnt of {' and '.join(counted)}: memory.quotas"] if counted else []

    async def _reached(self, of: Scope, most: int | None) -> bool:
        reached = most is not None and await self._counts.texts_below(*_owners_and_prefixes(of)) >= most
        (self._full.add if reached else self._full.discard)(of)
        return reached


def quota_of(settings: Mapping[str, QuotaSettings], scope: Scope) -> QuotaSettings | None:
    """The quotas of a place: its organisation's own, or those of all others."""
    return settings.get(scope.org or ANY) or settings.get(ANY)


def _owners_and_prefixes(of: Scope) -> tuple[list[str], list[str]]:
    """The owners that are a person's or an organisation's, and how the names of all others of theirs begin."""
    user, org = of.owner(Layer.USER), of.owner(Layer.ORG)
    if user is not None:
        return [user], [f"up:{user.removeprefix('u:')}/"]
    assert org is not None
    name = org.removeprefix("o:")
    return [org], [f"{layer}:{name}/" for layer in ("u", "up", "p")]
