"""Nights in the journal's database: applied whole in one transaction, told, and taken back.

A change of which a fact is no longer what it was when the night was planned is passed over. Taking a night back puts
every column that it changed to what it was, as far as nothing else has changed it since; what was counted meanwhile
stays counted, and what a person has had forgotten does not come back, because nothing here holds its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson

from memory.candidate import Candidate, CandidateState
from memory.fact import Fact
from memory.features.nights.consolidation.diff import ChangeAction, Diff, FactChange, PlannedNight, Touch
from memory.hooks.route_request import RouteRefused
from memory.learning.tombstones import tombstone_of
from memory.ports import SummaryLine
from memory.stores.base import ask_many
from memory.stores.candidates import candidate_of, put_forward
from memory.stores.connection import Connection, Row
from memory.stores.derived_facts import COLUMNS, make_fact, unmake_fact, write_columns
from memory.stores.journal import FeaturePart
from memory.stores.listing import line_of
from memory.stores.queries import QUERIES, many
from memory.stores.rows import fact_of, fact_row, gaps_row, stamp, when

LAST = "night"
"""The name under which it is kept when there was a night last."""
_COUNTED = ("access", "sessions")
_EVIDENCE = ("sources", "sessions", "state")
_LISTED = ("supersedes", "contradicts", "derived_from")


class NotUndone(RouteRefused):
    """A night cannot be taken back; the message says why, and what to do first."""


@dataclass(frozen=True, slots=True)
class Night:
    """A night of an owner in short: how many changes of each kind, lines of days and candidates it made."""

    number: int
    owner: str
    at: datetime
    looked: int
    passed_over: int
    thrown: tuple[Mapping[str, Any], ...]
    undone_at: datetime | None
    changes: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0
    candidates: int = 0


@dataclass(frozen=True, slots=True)
class NightChange:
    """What a night did to one fact. ``fields`` has of each column what it was and what it became."""

    place: int
    action: str
    why: str
    memory: str
    made: bool
    fields: Mapping[str, Sequence[Any]]


class NightStore(FeaturePart):
    """The part of the journal that keeps nights."""

    async def apply_night(self, planned: PlannedNight) -> int:
        """Write a night, whole or not at all; its number, 0 where there was nothing to write but how far it looked."""
        return await self._db.write(lambda connection: self._apply_night(connection, planned))

    async def undo_night(self, number: int, at: datetime) -> frozenset[str]:
        """Take a night back; the owners whose facts changed.

        Raises:
            NotUndone: when there is no such night, it was taken back already, or a later one builds on it.
        """
        return await self._db.write(lambda connection: self._undo_night(connection, number, at))

    async def nights(self, owners: Sequence[str], limit: int = 100) -> list[Night]:
        """The nights of some owners, the newest first."""

        def work(connection: Connection) -> list[Night]:
            rows = connection.execute(many("nights_all", len(owners)), (*owners, limit)).fetchall()
            counted: dict[int, dict[str, int]] = defaultdict(dict)
            for row in ask_many(connection, "nights_counted", [row["number"] for row in rows]):
                counted[row["night"]][row["action"]] = row["changes"]
            return [
                Night(
                    row["number"],
                    row["owner"],
                    datetime.fromisoformat(row["at"]),
                    row["looked"],
                    row["passed_over"],
                    tuple(orjson.loads(row["thrown"])),
                    when(row["undone_at"]),
                    counted[row["number"]],
                    row["lines"],
                    row["candidates"],
                )
                for row in rows
            ]

        return await self._db.read(work) if owners else []

    async def night_changes(self, number: int) -> tuple[list[NightChange], list[SummaryLine], list[Candidate]]:
        """What a night changed, in order; the lines of days that it wrote; what it put forward."""

        def work(connection: Connection) -> tuple[list[NightChange], list[SummaryLine], list[Candidate]]:
            changes = [
                NightChange(
                    row["place"],
                    row["action"],
                    row["why"],
                    row["memory"],
                    bool(row["made"]),
                    orjson.loads(row["fields"]),
                )
                for row in connection.execute(QUERIES["night_changes_get"], (number,))
            ]
            lines = [line_of(row) for row in connection.execute(QUERIES["night_lines"], (number,))]
            rows = connection.execute(QUERIES["night_candidates_get"], (number,))
            return changes, lines, [candidate_of(row) for row in rows]

        return await self._db.read(work)

    async def night_candidates(self, number: int) -> list[Candidate]:
        """What a night put forward."""
        return await self._rows("night_candidates_get", candidate_of, number)

    async def mark_night(self, at: datetime) -> None:
        """There was a night of everybody."""

        def work(connection: Connection) -> None:
            upto = connection.execute(QUERIES["snapshot_upto"]).fetchone()["passage"]
            connection.execute(QUERIES["meta_set"], (LAST, orjson.dumps({"at": at, "passage": upto})))

        await self._db.write(work)

    async def last_night(self) -> tuple[datetime | None, int]:
        """When there was a night of everybody last, and how many passages were said since."""

        def work(connection: Connection) -> tuple[datetime | None, int]:
            row = connection.execute(QUERIES["meta_get"], (LAST,)).fetchone()
            data: dict[str, Any] = orjson.loads(row["value"]) if row else {"at": None, "passage": 0}
            upto = connection.execute(QUERIES["snapshot_upto"]).fetchone()["passage"]
            return when(data["at"]), upto - data["passage"]

        return await self._db.read(work)

    def _apply_night(self, connection: Connection, planned: PlannedNight) -> int:
        diff = planned.diff
        cursor = (diff.owner, planned.fact, planned.passage, planned.unread, planned.plain, stamp(planned.at))
        connection.execute(QUERIES["night_cursor_set"], cursor)
        if diff.empty:
            return 0
        night_row = {
            "owner": diff.owner,
            "at": stamp(planned.at),
            "looked": planned.looked,
            "passed_over": 0,
            "thrown": orjson.dumps(diff.thrown).decode(),
        }
        night = connection.execute(QUERIES["night_add"], night_row).lastrowid or 0
        passed_over = 0
        for place, change in enumerate(diff.changes):
            if not self._apply_change(connection, night, place, change, diff.owner):
                passed_over += 1
        self._shorten_previews(connection, night, diff)
        self._hide_courtesies(connection, night, diff)
        known = {
            row["id"]
            for name in ("facts_get", "passages_get")
            for row in ask_many(connection, name, [line.memory for line in diff.lines])
        }
        for line in diff.lines:
            if line.memory in known:
                row = (night, diff.owner, line.day.isoformat(), line.tier.value, line.session)
                text = self._redact.of_owner(diff.owner)(line.text)
                connection.execute(QUERIES["summary_add"], (*row, text, line.memory, line.weight))
        redact = self._redact.of_owner(diff.owner)
        put = [put_forward(connection, diff.owner, each, planned.at, redact) for each in diff.candidates]
        for id, (is_new, fields) in _outcome_by_candidate(filter(None, put)).items():
            connection.execute(QUERIES["night_candidate_add"], (night, id, is_new, orjson.dumps(fields).decode()))
        if replace(diff, candidates=()).empty and not any(put):
            # What waits for the person already is no news.
            connection.execute(QUERIES["night_drop"], (night,))
            return 0
        connection.execute(QUERIES["night_passed_over"], (passed_over, night))
        return night

    def _shorten_previews(self, connection: Connection, night: int, diff: Diff) -> None:
        for place, preview in enumerate(diff.previews, len(diff.changes)):
            columns = {"id": preview.memory, "owner": diff.owner, "from": 0, "to": preview.characters}
            if self._set_preview(connection, columns):
                why = f"unread, {preview.characters} characters are shown"
                fields = orjson.dumps({"preview": [0, preview.characters]}).decode()
                row = (night, place, ChangeAction.COMPACT.value, why, preview.memory, False, fields)
                connection.execute(QUERIES["night_change_add"], row)

    def _hide_courtesies(self, connection: Connection, night: int, diff: Diff) -> None:
        for place, each in enumerate(diff.plain, len(diff.changes) + len(diff.previews)):
            gaps = gaps_row(each.gaps)
            columns = {"id": each.memory, "owner": diff.owner, "from": "", "to": gaps}
            if connection.execute(QUERIES["night_plain"], columns).rowcount:
                fields = orjson.dumps({"gaps": ["", gaps]}).decode()
                row = (night, place, ChangeAction.PLAIN.value, "courtesies are left out", each.memory, False, fields)
                connection.execute(QUERIES["night_change_add"], row)

    def _set_preview(self, connection: Connection, row: Mapping[str, Any]) -> bool:
        """Have recall show so much of a memory, a passage or a fact; False where it shows something else by now."""
        names = ("night_preview_passage", "night_preview_fact")
        return any(connection.execute(QUERIES[name], row).rowcount for name in names)

    def _apply_change(self, connection: Connection, night: int, place: int, change: FactChange, owner: str) -> bool:
        """Carry out a change; False where a fact is not what it was, and nothing is done."""
        ids = [touch.before.id for touch in change.touched if touch.before is not None]
        rows = {row["id"]: row for row in ask_many(connection, "facts_get", ids)}
        to_write: list[tuple[Row | None, Fact]] = []
        for touch in change.touched:
            after = _rebased_fact(touch, rows)
            if (
                after is None
                or after.owner != owner
                or (touch.before is None and self._was_forgotten(connection, after))
            ):
                return False
            to_write.append((rows.get(after.id), after))
        for before, after in to_write:
            fields: dict[str, Any] = {}
            if before is None:
                make_fact(connection, after, self._redact.of_owner(owner), self._terms)
            else:
                row = fact_row(after, str)
                fields = {name: [before[name], row[name]] for name in COLUMNS if before[name] != row[name]}
                write_columns(connection, row, before["state"])
            columns = (night, place, change.action.value, change.why, after.id, before is None)
            connection.execute(QUERIES["night_change_add"], (*columns, orjson.dumps(fields).decode()))
        return True

    def _was_forgotten(self, connection: Connection, fact: Fact) -> bool:
        """Whether a person has had forgotten what a night would draw anew."""
        hash = tombstone_of(self._key, fact.owner, fact.text)
        return bool(ask_many(connection, "tombstone_find", [hash]))

    def _undo_night(self, connection: Connection, number: int, at: datetime) -> frozenset[str]:
        night = connection.execute(QUERIES["night_get"], (number,)).fetchone()
        if night is None:
            raise NotUndone(f"there is no night {number}")
        if night["undone_at"] is not None:
            raise NotUndone(f"night {number} was taken back already")
        later = connection.execute(QUERIES["night_later"], {"night": number}).fetchone()["night"]
        if later is not None:
            raise NotUndone(f"night {later} changed the same memories after night {number}: take that one back first")
        for change in reversed(connection.execute(QUERIES["night_changes_get"], (number,)).fetchall()):
            if change["action"] == ChangeAction.COMPACT:
                before, after = orjson.loads(change["fields"])["preview"]
                self._set_preview(
                    connection, {"id": change["memory"], "owner": night["owner"], "from": after, "to": before}
                )
                continue
            if change["action"] == ChangeAction.PLAIN:
                before, after = orjson.loads(change["fields"])["gaps"]
                columns = {"id": change["memory"], "owner": night["owner"], "from": after, "to": before}
                connection.execute(QUERIES["night_plain"], columns)
                continue
            row = connection.execute(many("facts_get", 1), (change["memory"],)).fetchone()
            if row is None:
                continue
            if change["made"]:
                unmake_fact(connection, fact_of(row), self._terms)
            else:
                fields = orjson.loads(change["fields"])
                put = {name: row[name] for name in ("id", *COLUMNS)}
                put |= {name: _restored_value(name, row[name], *sides) for name, sides in fields.items()}
                if "contradicts" in fields:
                    put["contradicts"] = _without_forgotten(connection, put["contradicts"])
                write_columns(connection, put, row["state"])
        _withdraw(connection, number)
        connection.execute(QUERIES["night_lines_drop"], (number,))
        connection.execute(QUERIES["night_undone"], (stamp(at), number))
        return frozenset({night["owner"]})


def _withdraw(connection: Connection, night: int) -> None:
    """Take back what a night put forward, but for what a person has decided since."""
    for row in connection.execute(QUERIES["night_candidates_get"], (night,)).fetchall():
        if row["made"]:
            if row["state"] == CandidateState.WAITING:
                connection.execute(QUERIES["candidate_drop"], (row["id"],))
            continue
        fields: dict[str, list[Any]] = orjson.loads(row["fields"])
        put = {name: row[name] for name in ("id", *_EVIDENCE)}
        put |= {name: was for name, (was, became) in fields.items() if row[name] == became}
        connection.execute(QUERIES["candidate_counted"], put)
    connection.execute(QUERIES["night_candidates_drop"], (night,))


def _rebased_fact(touch: Touch, rows: Mapping[str, Row]) -> Fact | None:
    """What a fact becomes, given what it is now: what was only counted meanwhile is counted in. None where something
    else has happened to it."""
    before, after = touch.before, touch.after
    if before is None or after is None:
        return after
    row = rows.get(before.id)
    if row is None:
        return None
    now = fact_of(row)
    if now == before:
        return after
    counted = replace(now, access=before.access, sessions=before.sessions, used_at=before.used_at)
    if counted != before:
        return None
    used = [at for at in (now.used_at, after.used_at) if at is not None]
    return replace(
        after,
        access=after.access + now.access - before.access,
        sessions=after.sessions + now.sessions - before.sessions,
        used_at=max(used, default=None),
    )


def _restored_value(name: str, now: Any, before: Any, after: Any) -> Any:
    """What a column becomes when a change of it is taken back, whatever else has changed it since."""
    if now == after:
        return before
    if name in _COUNTED:
        return now - after + before
    if name in _LISTED:
        was, became, held = (orjson.loads(each) for each in (before, after, now))
        restored = [id for id in held if id in was or id not in became]
        return orjson.dumps([*restored, *(id for id in was if id not in became and id not in restored)]).decode()
    return now


def _without_forgotten(connection: Connection, ids: str) -> str:
    named = orjson.loads(ids)
    known = {row["id"] for row in ask_many(connection, "facts_get", named)}
    return ids if known >= set(named) else orjson.dumps([id for id in named if id in known]).decode()


def _outcome_by_candidate(
    put: Iterable[tuple[str, bool, dict[str, list[Any]]]],
) -> dict[str, tuple[bool, dict[str, list[Any]]]]:
    """What became of each candidate in all, where several things that one night puts forward are one."""
    found: dict[str, tuple[bool, dict[str, list[Any]]]] = {}
    for id, is_new, fields in put:
        before_new, before = found.get(id, (is_new, {}))
        whole = before | {name: [before.get(name, was)[0], was[1]] for name, was in fields.items()}
        found[id] = before_new, {} if before_new else whole
    return found
