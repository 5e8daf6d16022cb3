"""An exchange as the journal will hold it: made beside the writer, written by it, or set aside until it can be."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from memory.conversation import Usage
from memory.edits import Entry
from memory.session import Receipt, RequestKind, Session
from memory.stores.messages import PackedMessage
from memory.stores.rows import receipt_of, receipt_text

VERSION = 1
SMALL = 2**16
"""Bytes that all but the messages of an exchange takes, as a rule."""

_NAME = b"palimpsest\x00"
_BEGIN = _NAME + bytes([VERSION])


@dataclass(frozen=True, slots=True)
class ExchangeDraft:
    """All that is written of an exchange. ``history`` are the digests of its request's messages, joined; ``messages``
    are those that were not stored when the draft was made; ``forms`` are the digests under which the reply may come
    back; ``placed`` says whether its session is known: else one that was made up stands in its place; ``behind`` is
    how many messages stand behind the request's newest, which are no part of its trail; ``tools`` whether the request
    offered some. Only the receipt may still hold secrets, which leave it when it is written."""

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
    messages: tuple[PackedMessage, ...]
    reply: bytes | None
    forms: tuple[tuple[bytes, ...], ...]
    complete: bool
    stop: str
    usage: Usage | None
    receipt: Receipt
    behind: int = 0
    tools: bool = False
    placed: bool = True


class Damaged(ValueError):
    """A record is not whole, or not one of ours."""


class LaterVersion(ValueError):
    """A record was made by a later version than this one."""


Texts = Mapping[str, Sequence[str]]
"""What memories say, by their ids."""


class _SpillRecord(msgspec.Struct, array_like=True):
    draft: ExchangeDraft
    receipt: str
    entries: tuple[Entry, ...]
    texts: dict[str, tuple[str, ...]] = {}


_ENCODER = msgspec.json.Encoder()


def dump(draft: ExchangeDraft, entries: Sequence[Entry], redact: Callable[[str], str], texts: Texts) -> bytes:
    """A draft, entries of its session's ledger, and what memories that these hold say, as bytes without secrets;
    :func:`load` is the inverse."""
    receipt = receipt_text(draft.receipt, redact)
    plain = replace(draft, receipt=Receipt("", draft.at, "", draft.kind, ""))
    # JSON: times keep their UTC offset in it.
    at_rest = tuple(entry.at_rest() for entry in entries)
    record = _SpillRecord(plain, receipt, at_rest, {id: tuple(texts_of_part) for id, texts_of_part in texts.items()})
    # Room beforehand for all that may be large: where memory runs out while msgspec asks for more, the process ends.
    packed = bytearray(2 * sum(len(message.body) for message in draft.messages) + SMALL)
    _ENCODER.encode_into(record, packed)
    return b"".join((_BEGIN, zlib.crc32(packed).to_bytes(4, "big"), packed))


def load(data: bytes) -> tuple[ExchangeDraft, tuple[Entry, ...], Texts]:
    """The draft, the entries and the texts that were dumped.

    Raises:
        OfALaterVersion: when a later version made it.
        Damaged: when it is not whole, or was not made by :func:`dump`.
    """
    if data.startswith(_NAME) and data[len(_NAME) : len(_BEGIN)] > _BEGIN[-1:]:
        raise LaterVersion("a later version made it")
    begin, packed = data[: len(_BEGIN) + 4], data[len(_BEGIN) + 4 :]
    if begin != _BEGIN + zlib.crc32(packed).to_bytes(4, "big"):
        raise Damaged("it is not whole")
    try:
        record = msgspec.json.decode(packed, type=_SpillRecord)
        return replace(record.draft, receipt=receipt_of(record.receipt)), record.entries, record.texts
    except (msgspec.DecodeError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"it cannot be read: {error}") from error
