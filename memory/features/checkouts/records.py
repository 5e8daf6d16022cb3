"""Where memories were learnt, as records: written by an export, read by an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from memory.checkout import Checkout, Citation, Learnt, Stage
from memory.day.moving.records import NoRecord

LEARNT = "checkout"

_Text = Annotated[str, Meta(max_length=4096)]
_Commit = Annotated[str, Meta(pattern="^([0-9a-f]{40,64})?$")]


class _Record(msgspec.Struct):
    id: Annotated[str, Meta(min_length=1, max_length=64)]
    owner: _Text
    repository: _Text
    branch: _Text = ""
    commit: _Commit = ""
    anchor: _Commit = ""
    staged: bool = False
    cites: list[Citation] = []


def record_of(learnt: Learnt) -> dict[str, Any]:
    """Where a memory was learnt, as a record. What was merged since is the project's."""
    at = learnt.checkout
    told = _Record(
        learnt.memory,
        learnt.owner,
        at.repository,
        at.branch,
        at.commit,
        learnt.anchor,
        at.staged and learnt.stage is not Stage.MERGED,
        list(learnt.cites),
    )
    record: dict[str, Any] = msgspec.to_builtins(told)
    return {"sort": LEARNT, **record}


def learnt_of(record: Mapping[str, Any]) -> Learnt:
    """The inverse of :func:`record_of`.

    Raises:
        NoRecord: when a field is missing or is not of its kind.
    """
    try:
        told = msgspec.convert(dict(record), _Record)
    except ValueError as error:
        raise NoRecord(str(error).replace("`$.", "`")[:300]) from None
    here = Checkout(told.repository, told.branch, told.commit, told.staged)
    return Learnt(told.id, told.owner, here, told.anchor, tuple(told.cites), looked=bool(told.cites))
