"""Where memories were learnt, as records: written by an export, read by an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

import msgspec
from msgspec import Meta

from memory.checkout import BranchStage, Checkout, Citation, LearnedAt
from memory.hooks.route_request import Fields
from memory.services.transfer.records import InvalidRecord

LEARNT = "checkout"

_Text = Annotated[str, Meta(max_length=4096)]
_Commit = Annotated[str, Meta(pattern="^([0-9a-f]{40,64})?$")]


class _AnchorRecord(msgspec.Struct):
    """Where a memory was learnt. ``id`` is the memory's, ``anchor`` the first commit of its branch by which others know
    it; ``staged`` says that it holds on that branch only; ``cites`` are the places in the code that it names."""

    id: Annotated[str, Meta(min_length=1, max_length=64)]
    owner: _Text
    repository: _Text
    branch: _Text = ""
    commit: _Commit = ""
    anchor: _Commit = ""
    staged: bool = False
    cites: list[Citation] = []


class RecordSort(TypedDict):
    """What sort of record it is."""

    sort: Literal["checkout"]


CheckoutRecord = Annotated[dict[str, Any], Fields("CheckoutRecord", _AnchorRecord, RecordSort)]


def record_of(learnt: LearnedAt) -> CheckoutRecord:
    """Where a memory was learnt, as a record. What was merged since is the project's."""
    at = learnt.checkout
    anchor_record = _AnchorRecord(
        learnt.memory,
        learnt.owner,
        at.repository,
        at.branch,
        at.commit,
        learnt.anchor,
        at.staged and learnt.stage is not BranchStage.MERGED,
        list(learnt.cites),
    )
    record: dict[str, Any] = msgspec.to_builtins(anchor_record)
    return {"sort": LEARNT, **record}


def learnt_of(record: Mapping[str, Any]) -> LearnedAt:
    """The inverse of :func:`record_of`.

    Raises:
        NoRecord: when a field is missing or is not of its kind.
    """
    try:
        record_fields = msgspec.convert(dict(record), _AnchorRecord)
    except ValueError as error:
        raise InvalidRecord(str(error).replace("`$.", "`")[:300]) from None
    here = Checkout(record_fields.repository, record_fields.branch, record_fields.commit, record_fields.staged)
    return LearnedAt(
        record_fields.id,
        record_fields.owner,
        here,
        record_fields.anchor,
        tuple(record_fields.cites),
        looked=bool(record_fields.cites),
    )
