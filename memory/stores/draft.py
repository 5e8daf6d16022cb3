"""An exchange as the journal will hold it: made beside the writer, written by it, or set aside until it can be."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec
import orjson

from memory.conversation import Usage
from memory.edits import Entry
from memory.session import Receipt, RequestKind, Session
from memory.stores.messages import Sealed
from memory.stores.rows import receipt_of, receipt_text

VERSION = 1
_BEGIN = b"palimpsest\x00" + bytes([VERSION])


@dataclass(frozen=True, slots=True)
class Draft:
    """All that is written of an exchange. ``history`` are the digests of its request's messages, joined; ``messages``
    are those that were not stored when the draft was made; ``forms`` are the digests under which the reply may come
    back. Only the receipt may still hold secrets, which leave it when it is written."""

    id: str
    session: Session
    kind: RequestKind
    extends: bool
    namespace: str
    at: datetime
    dialect: str
    model: str
    status: int
    history: bytes
    messages: tuple[Sealed, ...]
    reply: bytes | None
    forms: tuple[tuple[bytes, ...], ...]
    complete: bool
    stop: str
    usage: Usage | None
    receipt: Receipt


class _Record(msgspec.Struct, array_like=True):
    draft: Draft
    receipt: str
    entries: tuple[Entry, ...]


def dump(draft: Draft, entries: Sequence[Entry], redact: Callable[[str], str]) -> bytes:
    """A draft, and entries of its session's ledger, as bytes without secrets; :func:`load` is the inverse."""
    receipt = receipt_text(draft.receipt, redact)
    plain = replace(draft, receipt=Receipt("", draft.at, "", draft.kind, ""))
    # JSON: times keep their UTC offset in it.
    packed = msgspec.json.encode(_Record(plain, receipt, tuple(entries)))
    return _BEGIN + zlib.crc32(packed).to_bytes(4, "big") + packed


def load(data: bytes) -> tuple[Draft, tuple[Entry, ...]]:
    """The draft and the entries that were dumped.

    Raises:
        ValueError: when the data is not whole, or was not made by :func:`dump` of this version.
    """
    begin, packed = data[: len(_BEGIN) + 4], data[len(_BEGIN) + 4 :]
    if begin != _BEGIN + zlib.crc32(packed).to_bytes(4, "big"):
        raise ValueError("it is not whole, or of another version")
    try:
        record = msgspec.json.decode(packed, type=_Record)
        return replace(record.draft, receipt=receipt_of(record.receipt)), record.entries
    except (msgspec.DecodeError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"it cannot be read: {error}") from error
