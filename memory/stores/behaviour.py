"""How work is done, in the journal's database: steps, which facts hold what was observed, the keys of errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import orjson

from memory.behaviour import BehaviourRecord, KnownObservation, Remedy, StepKind, StepOutcome, WorkStep
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.messages import Redact
from memory.stores.queries import QUERIES, insert_several
from memory.stores.rows import fact_of, stamp

MAX_STEPS = 20_000
"""Steps of an owner that are kept, the newest; those of a busy half-year."""
ROUND = 64
"""One write in so many looks whether there are too many."""


class BehaviourStore(JournalPart):
    """The part of the journal that knows how work is done."""

    async def remedies(self, owners: Sequence[str], keys: Sequence[bytes]) -> list[Remedy]:
        def work(connection: Connection) -> list[Remedy]:
            rows = ask_many(connection, "remedies", keys, (orjson.dumps(list(owners)).decode(),))
            return [Remedy(fact_of(row), row["key"], row["failed"], bool(row["specific"])) for row in rows]

        return await self._db.look(work)

    async def steps(self, owner: str, limit: int) -> list[WorkStep]:
        def work(connection: Connection) -> list[WorkStep]:
            rows = connection.execute(QUERIES["steps_newest"], (owner, limit)).fetchall()
            return [_step_of(row) for row in reversed(rows)]

        return await self._db.read(work)

    async def known_steps(self, owner: str, marks: Sequence[bytes]) -> frozenset[bytes]:
        def work(connection: Connection) -> frozenset[bytes]:
            return frozenset(row["mark"] for row in ask_many(connection, "steps_known", marks, (owner,)))

        return await self._few(work, len(marks))

    async def observations(self, owner: str, subjects: Sequence[bytes] | None = None) -> list[KnownObservation]:
        def work(connection: Connection) -> list[KnownObservation]:
            if subjects is None:
                rows = connection.execute(QUERIES["observations_of"], (owner,)).fetchall()
            else:
                rows = ask_many(connection, "observations_named", subjects, (owner,))
            return [
                KnownObservation(row["owner"], row["subject"], row["sort"], row["memory"], row["detail"])
                for row in rows
            ]

        return await self._db.read(work)


def write_observed(connection: Connection, observed: BehaviourRecord, redact: Redact) -> None:
    """Write what was observed of how work is done, in a transaction that is under way."""
    owner = observed.owner
    rows: list[tuple[object, ...]] = [
        (
            owner,
            step.session,
            stamp(step.at),
            step.deed.value,
            redact(step.family),
            redact(step.shape),
            step.outcome.value,
            orjson.dumps(dict(step.traits)).decode() if step.traits else "",
            step.mark,
            step.source,
        )
        for step in observed.steps
    ]
    if rows and insert_several(connection, "step_write", rows) % ROUND < len(rows):
        connection.execute(QUERIES["steps_trim"], (owner, MAX_STEPS))
    for each in observed.known:
        row = (each.owner, each.subject, each.sort, each.memory, redact(each.detail))
        connection.execute(QUERIES["observation_write"], row)
    for memory in observed.retired:
        connection.execute(QUERIES["forget_observation"], (memory,))
    for memory, failure in observed.failures.items():
        for key in failure.keys:
            row_key = (key.hash, owner, memory, failure.family, key.specific)
            connection.execute(QUERIES["error_key_write"], row_key)


def forget_observed(connection: Connection, memories: Sequence[str], messages: Sequence[tuple[int, bytes]]) -> None:
    """Let go of what these facts held, and of the steps that stood in these messages (person, digest)."""
    for memory in memories:
        connection.execute(QUERIES["forget_observation"], (memory,))
        connection.execute(QUERIES["forget_error_keys"], (memory,))
    for person, source in messages:
        connection.execute(QUERIES["forget_steps"], (source, person))


def _step_of(row: Row) -> WorkStep:
    return WorkStep(
        StepKind(row["deed"]),
        row["family"],
        row["shape"],
        row["session"],
        datetime.fromisoformat(row["at"]),
        row["mark"],
        row["source"],
        StepOutcome(row["outcome"]),
        orjson.loads(row["traits"]) if row["traits"] else {},
    )
