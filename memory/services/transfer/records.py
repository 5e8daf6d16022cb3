"""Memories as plain values, whole: what an export writes and an import reads.

A record is a mapping that goes into JSON: every field of the fact or the passage by its name, bytes as hexadecimal
digits, times in ISO 8601 with their offset, and ``sort``. A record of a later version may have fields that are not
known here; they are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from memory.fact import Fact, Passage

FORMAT = 1
"""The version of the records; a reader refuses a later one."""

FACT, PASSAGE = "fact", "passage"

Uses = Mapping[str, tuple[int, int, int]]
"""By session: how often a memory was shown in it, how often used, and how often said."""


_Counts = Annotated[list[int], Meta(min_length=2, max_length=3)]


class InvalidRecord(ValueError):
    """A record cannot be read. The message says which field is wrong, and how."""


def record_of(memory: Fact | Passage, uses: Uses | None = None) -> dict[str, Any]:
    """A memory as a record."""
    sort = FACT if isinstance(memory, Fact) else PASSAGE
    fields = {name: plain(value) for name, value in asdict(memory).items()}
    record: dict[str, Any] = {"sort": sort, **fields}
    if uses:
        record["uses"] = {session: list(counts) for session, counts in sorted(uses.items())}
    return record


def memory_of(record: Mapping[str, Any]) -> Fact | Passage:
    """The memory out of its record.

    Raises:
        NoRecord: when a field is missing or is not of its kind.
    """
    kind = {FACT: Fact, PASSAGE: Passage}.get(str(record.get("sort")))
    if kind is None:
        raise InvalidRecord(f"sort is {str(record.get('sort'))[:40]!r}; it is {FACT} or {PASSAGE}")
    fields = dict(record)
    try:
        fields["source"] = (
            bytes.fromhex(fields["source"]) if isinstance(fields.get("source"), str) else fields.get("source")
        )
        memory: Fact | Passage = msgspec.convert(fields, kind)
    except ValueError as error:
        raise InvalidRecord(str(error).replace("`$.", "`")) from None
    checked(memory)
    if not memory.id or not memory.text.strip() or not memory.owner:
        raise InvalidRecord("id, text and owner may not be empty")
    return memory


def uses_of(record: Mapping[str, Any]) -> dict[str, tuple[int, int, int]]:
    """By session how often the memory of a record was shown, used and said. Earlier versions did not tell the last:
    what was used without having been shown was said.

    Raises:
        NoRecord: when it is not told so.
    """
    try:
        by_session = msgspec.convert(record.get("uses") or {}, dict[str, _Counts])
    except ValueError as error:
        raise InvalidRecord(f"uses: {error}") from None
    return {
        session: (counts[0], counts[1], counts[2] if len(counts) > 2 else 0 if counts[0] else counts[1])
        for session, counts in by_session.items()
    }


def checked(value: Any) -> None:
    """Look at every field of what was read out of a record.

    Raises:
        NoRecord: when a time has no zone, or a number is out of its bounds.
    """
    for field in fields(value):
        _check(field.name, getattr(value, field.name))


def _check(name: str, value: object) -> None:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise InvalidRecord(f"{name} is a time without its zone: {value.isoformat()}")
    if isinstance(value, float) and not 0 <= value <= 1:
        raise InvalidRecord(f"{name} is {value:g}; it lies between 0 and 1")
    if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value < 2**53:
        raise InvalidRecord(f"{name} is {value}; it is no count")


def plain(value: object) -> object:
    """A field as it goes into JSON."""
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, tuple) else value
