"""Memories and receipts as JSON tells them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from memory.hooks.telling import HIDDEN as HIDDEN
from memory.hooks.telling import memory as memory
from memory.session import Receipt


def receipt(held: Receipt) -> dict[str, Any]:
    """A receipt, whole."""
    return asdict(held)


def line(held: Receipt) -> dict[str, Any]:
    """A receipt in short."""
    told = asdict(held)
    del told["steps"]
    told["shown"] = len(held.shown)
    if held.shed is not None:
        told["shed"]["parts"] = len(held.shed.parts)
    told["milliseconds"] = held.steps.get("prepare", 0.0)
    return told
