"""What machines of one person have written for each other, and what follows from it for this one.

Each machine writes one file and no other, so that nothing is ever written by two: everything that it remembers, a JSON
object a line, and what was forgotten, by its id alone. ``clock`` says when a record came to be as it is, by the machine
that changed it; a change always has a later clock than what it changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from proxy.cli.faults import CommandError

FORMAT = 1
FOLDER = "palimpsest"
_OWN = ("owner", "uses", "access", "sessions", "used_at", "preview", "gaps", "device", "tier")
"""Fields that each machine has for itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory as a machine has it, or that it was forgotten (``record`` is None)."""

    id: str
    clock: str
    record: Mapping[str, Any] | None = None

    @property
    def content(self) -> bytes:
        """What is the same on all machines that have it so."""
        return content_of(self.record) if self.record is not None else b""


@dataclass(slots=True)
class Machine:
    """What a machine has written. ``name`` is for people, ``id`` is its file's."""

    id: str
    name: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)


@dataclass(slots=True)
class Plan:
    """What this machine takes from the others: records that are ``new`` to it, those that were ``changed`` elsewhere
    since, and what is ``gone`` because it was forgotten elsewhere."""

    new: dict[str, Entry] = field(default_factory=dict)
    changed: dict[str, Entry] = field(default_factory=dict)
    gone: dict[str, Entry] = field(default_factory=dict)


def content_of(record: Mapping[str, Any]) -> bytes:
    """A digest of what is the same on all machines: not whose it is by name, nor what each counts for itself."""
    kind, _, names = str(record.get("owner", "")).partition(":")
    place = (kind, names.rpartition("/")[2] if kind == "up" else "")
    kept = {key: _sorted(value) for key, value in record.items() if key not in _OWN}
    return hashlib.blake2b(orjson.dumps([place, kept], option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def plan(mine: Mapping[str, Mapping[str, Any]], known: Machine, others: Iterable[Machine], lost: Iterable[str]) -> Plan:
    """What follows from what the others wrote. ``mine`` is what stands here, by id; ``known`` what this machine wrote
    the last time, of which what is ``lost`` was forgotten here since.

    A memory that was forgotten anywhere is forgotten. What was changed elsewhere and not here is taken; of two changes
    that of this machine stands, unless the other one has ended the memory."""
    told = Plan()
    for other in others:
        for entry in other.entries.values():
            if entry.record is None:
                told.gone[entry.id] = _later(told.gone.get(entry.id), entry)
            elif entry.id not in mine:
                told.new[entry.id] = _later(told.new.get(entry.id), entry)
            elif _is_newer(entry, mine[entry.id], known.entries.get(entry.id)):
                told.changed[entry.id] = _later(told.changed.get(entry.id), entry)
    dead = {*told.gone, *lost, *(id for id, entry in known.entries.items() if entry.record is None)}
    told.new = {id: entry for id, entry in told.new.items() if id not in dead}
    told.changed = {id: entry for id, entry in told.changed.items() if id not in dead}
    return told


def _is_newer(entry: Entry, here: Mapping[str, Any], before: Entry | None) -> bool:
    content = content_of(here)
    if entry.record is None or entry.content == content:
        return False
    if before is None:
        return True
    if entry.clock <= before.clock:
        return False
    ended = entry.record.get("state") == "superseded" and here.get("state") == "active"
    return before.content == content or ended


def written(
    mine: Mapping[str, Mapping[str, Any]],
    known: Machine,
    others: Iterable[Machine],
    gone: Iterable[str],
    now: datetime,
) -> dict[str, Entry]:
    """What this machine writes: all it has, each with the clock of who made it so, and what was forgotten."""
    machines = [known, *others]
    latest = max((entry.clock for machine in machines for entry in machine.entries.values()), default="")
    new = clock(now, latest, known.id)
    entries: dict[str, Entry] = {}
    for id, record in mine.items():
        content, before = content_of(record), known.entries.get(id)
        stood = before.clock if before is not None else ""
        same = [
            each.clock
            for machine in machines
            if (each := machine.entries.get(id)) is not None and each.content == content and each.clock >= stood
        ]
        entries[id] = Entry(id, max(same, default=new), record)
    for machine in machines:
        for id, entry in machine.entries.items():
            if entry.record is None and id not in entries:
                entries[id] = _later(entries.get(id), entry)
    for id in gone:
        entries[id] = Entry(id, new)
    return entries


def clock(now: datetime, latest: str, machine: str) -> str:
    """A moment that comes behind every one that is known, also where another machine's clock is ahead of this one's."""
    at = now.astimezone(UTC)
    if latest:
        at = max(at, datetime.fromisoformat(latest.partition("/")[0]) + timedelta(milliseconds=1))
    return f"{at.isoformat(timespec='milliseconds')}/{machine}"


def read(folder: Path) -> list[Machine]:
    """What all machines have written.

    Raises:
        Fault: when a file is damaged, or of a later version: what it says cannot be guessed.
    """
    return [_machine(file) for file in sorted(folder.glob("*.jsonl"))]


def write(folder: Path, machine: Machine) -> None:
    """Put a machine's file in its place, whole, readable for its owner only. What is the same is not written again."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = [orjson.dumps({"sort": "machine", "format": FORMAT, "id": machine.id, "name": machine.name})]
    for id in sorted(machine.entries):
        entry = machine.entries[id]
        record = {"record": entry.record} if entry.record is not None else {"gone": True}
        lines.append(orjson.dumps({"id": id, "clock": entry.clock, **record}, option=orjson.OPT_SORT_KEYS))
    data = b"\n".join(lines) + b"\n"
    file = folder / f"{machine.id}.jsonl"
    if file.exists() and file.read_bytes() == data:
        return
    new = folder / f".{machine.id}.{os.getpid()}.new"
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(data)
    os.replace(new, file)


def _machine(file: Path) -> Machine:
    lines = file.read_bytes().splitlines()
    try:
        head = orjson.loads(lines[0])
        if head["sort"] != "machine" or head["id"] != file.stem:
            raise CommandError(f"{file} was not written by a palimpsest of this machine's name")
        if head["format"] > FORMAT:
            raise CommandError(f"{file} was written by a newer version: upgrade here first")
        machine = Machine(head["id"], str(head.get("name", "")))
        for line in lines[1:]:
            told = orjson.loads(line)
            datetime.fromisoformat(told["clock"].partition("/")[0])
            record = None if told.get("gone") else dict(told["record"])
            machine.entries[str(told["id"])] = Entry(str(told["id"]), told["clock"], record)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CommandError(f"{file} is damaged, or still being copied: {error}") from None
    return machine


def _later(one: Entry | None, other: Entry) -> Entry:
    return other if one is None or other.clock > one.clock else one


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else value
