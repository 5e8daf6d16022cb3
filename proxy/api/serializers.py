"""Memories and receipts as JSON tells them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from memory.hooks.serializers import HIDDEN as HIDDEN
from memory.hooks.serializers import memory as memory
from memory.session import Receipt


def receipt(held: Receipt) -> dict[str, Any]:
    """A receipt, whole."""
    return asdict(held)


def line(held: Receipt) -> dict[str, Any]:
    """A receipt in short."""
    fields = asdict(held)
    del fields["steps"]
    fields["shown"] = len(held.shown)
    if held.shed is not None:
        fields["shed"]["parts"] = len(held.shed.parts)
    fields["milliseconds"] = held.steps.get("prepare", 0.0)
    return fields
