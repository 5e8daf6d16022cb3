"""Sums over many turns: what was done in a day, what sessions with and without memory took, the pages they began with,
and how much of their daily quotas people and organisations have used.

The sums of turns that were read once are kept: a month has tens of thousands of receipts, and each day adds a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

import orjson

from memory.lru import LruDict
from memory.ports import Measured, ModelTotals
from memory.scope import Scope
from memory.stores.base import JournalPart
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES
from memory.stores.rows import stamp

PEOPLE = 64
"""Whose sums are kept."""

Group = tuple[str, str | None, str, bool, bool]


@dataclass(frozen=True, slots=True)
class Summed:
    """The sums of the ``receipts`` receipts behind ``after``, up to ``upto``."""

    after: int
    upto: int
    receipts: int
    sums: dict[Group, ModelTotals]


class Sums(JournalPart):
    """The part of the journal that adds up."""

    _summed: LruDict[Scope | None, Summed]

    async def sums(self, since: datetime, of: Scope | None = None) -> list[ModelTotals]:
        whose = None if of is None else Scope(of.org, of.user)

        def work(connection: Connection) -> Summed:
            before = connection.execute(QUERIES["sums_before"], (stamp(since),)).fetchone()
            after = before[0] if before else 0
            known = self._summed.get(whose)
            # What was forgotten, or has left the journal, is not in what was read before.
            if known is None or known.after > after or _receipts(connection, known) != known.receipts:
                known = Summed(after, after, 0, {})
            newest = max(connection.execute(QUERIES["receipts_last"]).fetchone()[0] or 0, known.upto)
            asked = (known.upto, whose is not None, whose and whose.org, whose and whose.user, newest)
            rows = connection.execute(QUERIES["sums_after"], asked).fetchall()
            new = (
                ModelTotals(**{**dict(row), "reported": bool(row["reported"]), "warm": bool(row["warm"])})
                for row in rows
            )
            told = Summed(known.after, newest, 0, _sums_by_group([*known.sums.values(), *new]))
            return replace(told, receipts=_receipts(connection, told))

        told = await self._db.read(work)
        self._summed.put(whose, told)
        return [each for each in told.sums.values() if each.day >= f"{since:%Y-%m-%d}"]

    async def measured(self, since: datetime, of: Scope) -> list[Measured]:
        def work(connection: Connection) -> list[Measured]:
            rows = connection.execute(QUERIES["measured"], (stamp(since), of.org, of.user)).fetchall()
            ids = (orjson.dumps([row["id"] for row in rows]).decode(),)
            corrections, repeats = (
                dict(connection.execute(QUERIES[name], ids).fetchall())
                for name in ("measured_corrections", "measured_repeats")
            )
            return [
                Measured(
                    session=row["id"],
                    held_out=bool(row["held_out"]),
                    turns=row["turns"],
                    tokens=row["tokens"] if not row["unreported"] else None,
                    corrections=corrections.get(row["id"], 0),
                    repeats=repeats.get(row["id"], 0),
                    added=row["added"],
                )
                for row in rows
            ]

        return await self._db.read(work)

    async def pages_given(self, of: Scope, limit: int) -> list[tuple[datetime, str]]:
        return await self._rows(
            "pages_given",
            lambda row: (datetime.fromisoformat(row["at"]), row["text"]),
            of.org,
            of.user,
            of.project,
            limit,
        )


def _receipts(connection: Connection, of: Summed) -> int:
    found: int = connection.execute(QUERIES["receipts_between"], (of.after, of.upto)).fetchone()[0]
    return found


def _sums_by_group(sums: Iterable[ModelTotals]) -> dict[Group, ModelTotals]:
    """The sums of each group; a day that has gone on has some of before and some of now."""
    found: dict[Group, ModelTotals] = {}
    for each in sums:
        group = (each.day, each.project, each.model, each.reported, each.warm)
        known = found.get(group)
        found[group] = each if known is None else _plus(known, each)
    return found


def _plus(one: ModelTotals, other: ModelTotals) -> ModelTotals:
    return replace(
        one,
        requests=one.requests + other.requests,
        degraded=one.degraded + other.degraded,
        added=one.added + other.added,
        shown=one.shown + other.shown,
        shorter=one.shorter + other.shorter,
        longer=one.longer + other.longer,
        input=one.input + other.input,
        cached=one.cached + other.cached,
        sheds=one.sheds + other.sheds,
        anew=one.anew + other.anew,
    )


Used = tuple[str, str]
"""An owner, and what of theirs is counted."""


class QuotaUseStore(JournalPart):
    """The part of the journal that counts what is used in a day. A day is written as ``2026-11-28``."""

    async def quota_uses(self, day: str, owners: Sequence[str]) -> dict[Used, int]:
        """What these owners have used on a day."""

        def work(connection: Connection) -> dict[Used, int]:
            return {
                (owner, row["kind"]): row["used"]
                for owner in owners
                for row in connection.execute(QUERIES["quota_uses_of"], (day, owner))
            }

        return await self._db.read(work)

    async def add_quota_uses(self, day: str, used: Mapping[Used, int]) -> dict[Used, int]:
        """Count more that was used on a day, on whichever server; how much each has used of it then. What was counted
        before the day before goes."""

        def work(connection: Connection) -> dict[Used, int]:
            # A clock that is ahead must not end the day of the others.
            connection.execute(QUERIES["quota_uses_end"], ((date.fromisoformat(day) - timedelta(days=1)).isoformat(),))
            now = {}
            for (owner, kind), more in sorted(used.items()):
                row = connection.execute(QUERIES["quota_uses_add"], (day, owner, kind, more)).fetchone()
                now[owner, kind] = int(row["used"])
            return now

        return await self._db.write(work, anywhere=True)
