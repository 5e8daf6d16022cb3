"""What a night changes, as a value that can be read, applied and taken back.

A change touches a few facts together, and of each it has what it was and what it becomes; so whoever applies it can
see whether something else has happened to a fact meanwhile, and whoever takes it back knows what to put there.

A planned night as bytes: from the process that plans to the one that owns the stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import orjson

from memory.candidate import CandidateKind, Proposal
from memory.edits import ContentTier as ContentTier
from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Sensitivity, Stability, State, Stream
from memory.features.nights.consolidation.compaction import ShortenedMemory, ShortenedPassage
from memory.ports import SummaryLine
from memory.scope import Layer


class ChangeAction(StrEnum):
    """What a change does."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    ARCHIVE = "archive"
    GIST = "gist"
    ASSIMILATE = "assimilate"
    CURATE = "curate"
    COMPACT = "compact"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Touch:
    """One fact of a change: None before where it is made, None after where it is taken away."""

    before: Fact | None
    after: Fact | None


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of some facts that belong together. ``why`` has numbers and no text of any memory, so that what is
    forgotten does not stay here."""

    action: ChangeAction
    why: str
    touched: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class DiscardedPass:
    """A pass that was thrown out whole: it would have taken ``lost`` of ``held`` active facts of a category."""

    name: str
    category: Category
    lost: int
    held: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A night of one owner."""

    owner: str
    changes: tuple[FactChange, ...] = ()
    lines: tuple[SummaryLine, ...] = ()
    candidates: tuple[Proposal, ...] = ()
    thrown: tuple[DiscardedPass, ...] = ()
    previews: tuple[ShortenedMemory, ...] = ()
    plain: tuple[ShortenedPassage, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write and nothing to tell."""
        return not (self.changes or self.lines or self.candidates or self.thrown or self.previews or self.plain)


def applied(facts: Mapping[str, Fact], changes: Iterable[FactChange]) -> dict[str, Fact]:
    """Some facts after some changes; a change of which a fact is no longer what it was is left out whole."""
    now = dict(facts)
    for change in changes:
        if all(touch.before is None or now.get(touch.before.id) == touch.before for touch in change.touched):
            for touch in change.touched:
                if touch.after is not None:
                    now[touch.after.id] = touch.after
                elif touch.before is not None:
                    del now[touch.before.id]
    return now


_ENUMS: Mapping[str, type[StrEnum]] = {
    "kind": FactKind,
    "category": Category,
    "stream": Stream,
    "layer": Layer,
    "origin": Origin,
    "tier": MemoryTier,
    "sensitivity": Sensitivity,
    "stability": Stability,
    "state": State,
}
# Looking a member up is a tenth of calling its class, and a first night reads millions of them.
_MEMBERS = {name: {each.value: each for each in of} for name, of in _ENUMS.items()}
_TIMES = ("recorded_at", "valid_from", "used_at", "valid_until", "superseded_at", "expires_at")
_LISTS = ("supersedes", "contradicts", "derived_from", "entities")


@dataclass(frozen=True, slots=True)
class PlannedNight:
    """A night of one owner as it was planned: what it changes, at which moment, how many facts were new, and how far
    it looked: the last fact's row, the last passage's of a day that is over, the last one's that was old, and the last
    one's in which courtesies were looked for."""

    diff: Diff
    at: datetime
    looked: int = 0
    fact: int = 0
    passage: int = 0
    unread: int = 0
    plain: int = 0


def written(planned: PlannedNight) -> bytes:
    """A planned night as JSON: all but its changes in the first line, and a line for each of these, because the one who
    reads a line holds up everybody else in the process."""
    head = replace(planned, diff=replace(planned.diff, changes=()))
    return b"\n".join(orjson.dumps(each, default=_plain) for each in (head, *planned.diff.changes))


def read(raw: bytes) -> PlannedNight:
    """The inverse of :func:`written`."""
    head, *changes = raw.split(b"\n")
    data = orjson.loads(head)
    diff = data["diff"]
    return PlannedNight(
        Diff(
            diff["owner"],
            tuple(_change(orjson.loads(change)) for change in changes),
            tuple(
                SummaryLine(**{**line, "day": date.fromisoformat(line["day"]), "tier": ContentTier(line["tier"])})
                for line in diff["lines"]
            ),
            tuple(map(_proposal, diff["candidates"])),
            tuple(DiscardedPass(**{**each, "category": Category(each["category"])}) for each in diff["thrown"]),
            tuple(ShortenedMemory(**each) for each in diff["previews"]),
            tuple(
                ShortenedPassage(each["memory"], tuple((start, end) for start, end in each["gaps"]))
                for each in diff["plain"]
            ),
        ),
        datetime.fromisoformat(data["at"]),
        data["looked"],
        data["fact"],
        data["passage"],
        data["unread"],
        data["plain"],
    )


def _change(data: Mapping[str, Any]) -> FactChange:
    touched = tuple(Touch(_fact(touch["before"]), _fact(touch["after"])) for touch in data["touched"])
    return FactChange(ChangeAction(data["action"]), data["why"], touched)


def _fact(data: Mapping[str, Any] | None) -> Fact | None:
    if data is None:
        return None
    fields: dict[str, Any] = dict(data)
    for name, members in _MEMBERS.items():
        fields[name] = members[fields[name]]
    for name in _TIMES:
        if fields[name] is not None:
            fields[name] = datetime.fromisoformat(fields[name])
    for name in _LISTS:
        fields[name] = tuple(fields[name])
    fields["source"] = bytes.fromhex(fields["source"])
    return Fact(**fields)


def _proposal(data: Mapping[str, Any]) -> Proposal:
    kind, layer = CandidateKind(data["kind"]), Layer(data["layer"])
    return Proposal(**{**data, "kind": kind, "layer": layer, "evidence": tuple(data["evidence"])})


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} does not go into JSON")
