"""Memories as JSON tells them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from memory.fact import Fact, Passage, Sensitivity
from memory.provenance import QUARANTINE, owner_before
from memory.strength import effective

HIDDEN = "(restricted: ask for it by its id)"


def memory(held: Fact | Passage, now: datetime, *, by_id: bool = False) -> dict[str, Any]:
    """A memory. What is restricted shows its text only when it was asked for by its id."""
    told = asdict(held)
    if held.owner.startswith(QUARANTINE):
        told |= {"owner": owner_before(held.owner), "quarantined": True}
    told["sort"] = "fact" if isinstance(held, Fact) else "turn"
    if isinstance(held, Fact):
        told["strength"] = round(effective(held, now), 3)
    if held.sensitivity is Sensitivity.RESTRICTED and not by_id:
        told["text"] = HIDDEN
        told.pop("wrong", None)
        told.pop("entities", None)
    return told
