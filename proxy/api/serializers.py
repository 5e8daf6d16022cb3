"""Memories and receipts as JSON tells them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, TypedDict

from memory.hooks.answer_fields import Fields
from memory.hooks.serializers import HIDDEN as HIDDEN
from memory.hooks.serializers import MemoryJson as MemoryJson
from memory.hooks.serializers import memory as memory
from memory.session import Receipt, Shed


class ShedInShort(TypedDict):
    """``parts`` is how many were shed."""

    parts: int


ShedLine = Annotated[dict[str, Any], Fields("ShedLine", Shed, ShedInShort)]


class ReceiptInShort(TypedDict):
    """How many memories were shown, in the place of them; and how long the request was prepared."""

    shown: int
    shed: ShedLine | None
    milliseconds: float


ReceiptJson = Annotated[dict[str, Any], Fields("Receipt", Receipt)]
ReceiptLine = Annotated[dict[str, Any], Fields("ReceiptLine", Receipt, ReceiptInShort, without=("steps",))]


def receipt(held: Receipt) -> ReceiptJson:
    """A receipt, whole."""
    return asdict(held)


def line(held: Receipt) -> ReceiptLine:
    """A receipt in short."""
    fields = asdict(held)
    del fields["steps"]
    fields["shown"] = len(held.shown)
    if held.shed is not None:
        fields["shed"]["parts"] = len(held.shed.parts)
    fields["milliseconds"] = held.steps.get("prepare", 0.0)
    return fields
