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
    fields = asdict(held)
    if held.owner.startswith(QUARANTINE):
        fields |= {"owner": owner_before(held.owner), "quarantined": True}
    fields["sort"] = "fact" if isinstance(held, Fact) else "turn"
    if isinstance(held, Fact):
        fields["strength"] = round(effective(held, now), 3)
    if held.sensitivity is Sensitivity.RESTRICTED and not by_id:
        fields["text"] = HIDDEN
        fields.pop("wrong", None)
        fields.pop("core", None)
        fields.pop("entities", None)
    return fields
