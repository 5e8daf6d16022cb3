"""A planned night as bytes: from the process that plans to the one that owns the stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any

import orjson

from memory.candidate import CandidateKind, Proposal
from memory.consolidation.compaction import Preview
from memory.consolidation.diff import Action, Change, Diff, Line, Thrown, Touch
from memory.consolidation.plain import Plain
from memory.edits import Tier as ContentTier
from memory.fact import Category, Fact, Kind, Origin, Sensitivity, Stability, State, Stream, Tier
from memory.scope import Layer

_ENUMS: Mapping[str, type[StrEnum]] = {
    "kind": Kind,
    "category": Category,
    "stream": Stream,
    "layer": Layer,
    "origin": Origin,
    "tier": Tier,
    "sensitivity": Sensitivity,
    "stability": Stability,
    "state": State,
}
# Looking a member up is a tenth of calling its class, and a first night reads millions of them.
_MEMBERS = {name: {each.value: each for each in of} for name, of in _ENUMS.items()}
_TIMES = ("recorded_at", "valid_from", "used_at", "valid_until", "superseded_at", "expires_at")
_LISTS = ("supersedes", "contradicts", "derived_from", "entities")


@dataclass(frozen=True, slots=True)
class Planned:
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


def written(planned: Planned) -> bytes:
    """A planned night as JSON: all but its changes in the first line, and a line for each of these, because the one who
    reads a line holds up everybody else in the process."""
    head = replace(planned, diff=replace(planned.diff, changes=()))
    return b"\n".join(orjson.dumps(each, default=_plain) for each in (head, *planned.diff.changes))


def read(told: bytes) -> Planned:
    """The inverse of :func:`written`."""
    head, *changes = told.split(b"\n")
    said = orjson.loads(head)
    diff = said["diff"]
    return Planned(
        Diff(
            diff["owner"],
            tuple(_change(orjson.loads(change)) for change in changes),
            tuple(
                Line(**{**line, "day": date.fromisoformat(line["day"]), "tier": ContentTier(line["tier"])})
                for line in diff["lines"]
            ),
            tuple(map(_proposal, diff["candidates"])),
            tuple(Thrown(**{**each, "category": Category(each["category"])}) for each in diff["thrown"]),
            tuple(Preview(**each) for each in diff["previews"]),
            tuple(Plain(each["memory"], tuple((start, end) for start, end in each["gaps"])) for each in diff["plain"]),
        ),
        datetime.fromisoformat(said["at"]),
        said["looked"],
        said["fact"],
        said["passage"],
        said["unread"],
        said["plain"],
    )


def _change(said: Mapping[str, Any]) -> Change:
    touched = tuple(Touch(_fact(touch["before"]), _fact(touch["after"])) for touch in said["touched"])
    return Change(Action(said["action"]), said["why"], touched)


def _fact(said: Mapping[str, Any] | None) -> Fact | None:
    if said is None:
        return None
    told: dict[str, Any] = dict(said)
    for name, members in _MEMBERS.items():
        told[name] = members[told[name]]
    for name in _TIMES:
        if told[name] is not None:
            told[name] = datetime.fromisoformat(told[name])
    for name in _LISTS:
        told[name] = tuple(told[name])
    told["source"] = bytes.fromhex(told["source"])
    return Fact(**told)


def _proposal(said: Mapping[str, Any]) -> Proposal:
    kind, layer = CandidateKind(said["kind"]), Layer(said["layer"])
    return Proposal(**{**said, "kind": kind, "layer": layer, "evidence": tuple(said["evidence"])})


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} does not go into JSON")
