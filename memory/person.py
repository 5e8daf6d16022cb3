"""What memory holds of one person, counted, and what of it others share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memory.fact import Fact


@dataclass(frozen=True, slots=True)
class PersonsShare:
    """What there is of a person.

    ``owners`` are theirs, ``rows`` counts what is theirs alone in each table, and ``kept`` what of theirs stays there.
    Of the facts that several share they bear those out ``alone`` that nobody else does; the others are ``with_others``.
    ``research`` are ids of what their sub-agents found, ``keys`` the names of keys that were issued to them, and
    ``tables`` those that are given out.
    """

    owners: tuple[str, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    alone: tuple[Fact, ...] = ()
    with_others: tuple[Fact, ...] = ()
    research: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there is nothing that could go."""
        return not (self.rows or self.alone or self.research)
