"""What a person decided of facts, kept in the journal so that it can be taken back, whatever has been restarted since.

Of a fact only what the decision changed is kept, never its text: what is forgotten leaves nothing here.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Protocol, get_type_hints

import msgspec

from memory.fact import Fact
from memory.ports import FACT_DECISIONS

DECISIONS: Final = 500
"""Decisions about an owner's facts that can be taken back: the oldest makes room."""

_TEXTS: Final = frozenset({"text", "wrong", "core", "entities"})
"""Fields that say what a fact says, which no decision changes."""


class FactDecisionKind(StrEnum):
    """What was said of a fact."""

    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    REFUTED = "refuted"
    UNLEARNED = "unlearned"


class FactChange(msgspec.Struct, frozen=True):
    """What a decision made of one fact: of each field what it was and what it became. ``mark`` names what a person
    decides of a fact as it stood then."""

    fact: str
    fields: dict[str, tuple[Any, Any]]
    mark: bytes


class FactDecision(msgspec.Struct, frozen=True):
    """What was said of a fact, and of all that this changed, the fact itself first. ``dismissal`` is the hash under
    which it does not come back, empty where it may."""

    kind: FactDecisionKind
    at: datetime
    changes: tuple[FactChange, ...]
    dismissal: bytes = b""

    @property
    def fact(self) -> str:
        """The id of the fact that was decided about."""
        return self.changes[0].fact


class NamedValues(Protocol):
    """What keeping decisions needs of the journal."""

    def key(self) -> bytes:
        """The key of all keyed hashes."""

    async def meta(self, name: str) -> bytes | None:
        """What stands under a name."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """From now on this stands under a name."""


class FactDecisions:
    """The last decision of each fact, by the owner of the fact. Who changes them has learning rest meanwhile: what is
    forgotten takes its decisions with it, and they must not be written back."""

    def __init__(self, journal: NamedValues) -> None:
        self._journal = journal
        self._one_at_a_time = asyncio.Lock()

    async def all(self, owners: Sequence[str]) -> list[FactDecision]:
        """Those about facts of some owners, the newest last."""
        every = [each for owner in dict.fromkeys(owners) for each in await self._kept_decisions(owner)]
        return sorted(every, key=lambda each: each.at)

    async def of(self, fact: str, owner: str) -> FactDecision | None:
        """That of an owner's fact, by its id; None where there is none."""
        return next((each for each in await self._kept_decisions(owner) if each.fact == fact), None)

    async def keep(self, decision: FactDecision, owner: str) -> None:
        """This is the last decision of its fact, which is this owner's."""
        await self._replace(decision.fact, owner, decision)

    async def drop(self, fact: str, owner: str) -> None:
        """There is none any more of an owner's fact."""
        await self._replace(fact, owner, None)

    async def _kept_decisions(self, owner: str) -> list[FactDecision]:
        kept = await self._journal.meta(FACT_DECISIONS + owner)
        return msgspec.json.decode(kept, type=list[FactDecision]) if kept else []

    async def _replace(self, fact: str, owner: str, decision: FactDecision | None) -> None:
        async with self._one_at_a_time:
            before = await self._kept_decisions(owner)
            others = [each for each in before if each.fact != fact]
            if decision is not None:
                others = [*others, decision][-DECISIONS:]
            elif len(others) == len(before):
                return
            await self._journal.set_meta(FACT_DECISIONS + owner, msgspec.json.encode(others))

    def change(self, before: Fact, after: Fact) -> FactChange:
        """What became of a fact."""
        was, became = _stored_fields(before), _stored_fields(after)
        changed = {name: (was[name], became[name]) for name in was if was[name] != became[name]}
        return FactChange(after.id, changed, self._decision_mark(after))

    def stands(self, decision: FactDecision, now: dict[str, Fact]) -> bool:
        """Whether the facts of a decision, which are here by their ids, stand as it left them."""
        return all(each.fact in now and self._decision_mark(now[each.fact]) == each.mark for each in decision.changes)

    def _decision_mark(self, fact: Fact) -> bytes:
        """Names what a person decides of a fact; how often it was used since changes nothing of that."""
        until = fact.valid_until.timestamp() if fact.valid_until else None
        settled = (fact.state, fact.text, fact.origin, fact.supersedes, fact.contradicts, until)
        return hashlib.blake2b(msgspec.json.encode(settled), digest_size=16, key=self._journal.key()[:64]).digest()


def as_before(now: Fact, change: FactChange) -> Fact:
    """A fact as it stands ``now``, but that what has not changed since a decision is as it was before that."""
    stands = _stored_fields(now)
    back = {name: was for name, (was, became) in change.fields.items() if stands.get(name) == became}
    hints = get_type_hints(Fact)
    return replace(now, **{name: msgspec.convert(was, hints[name]) for name, was in back.items()})


def involved(decisions: Sequence[FactDecision]) -> list[str]:
    """The ids of all facts that some decisions changed."""
    return list(dict.fromkeys(change.fact for each in decisions for change in each.changes))


def _stored_fields(fact: Fact) -> dict[str, Any]:
    names = [each.name for each in fields(Fact) if each.name not in _TEXTS]
    kept = msgspec.json.encode({name: _utc_text(getattr(fact, name)) for name in names})
    values: dict[str, Any] = msgspec.json.decode(kept)
    return values


def _utc_text(value: Any) -> Any:
    """A time as it is told apart from others, whatever zone it was read in."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value
