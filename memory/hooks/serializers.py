"""Memories as JSON tells them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from memory.fact import Fact, Passage, Sensitivity
from memory.hooks.answer_fields import Fields
from memory.provenance import QUARANTINE, owner_before
from memory.strength import effective

HIDDEN = "(restricted: ask for it by its id)"


class MemoryNow(TypedDict):
    """What is told of a memory beside what is kept of it: whether it is a fact or a turn of a talk, how strong a fact
    is now, and whether it is in quarantine. What would tell the text of a restricted one is missing."""

    sort: Literal["fact", "turn"]
    wrong: NotRequired[str]
    core: NotRequired[str]
    entities: NotRequired[tuple[str, ...]]
    strength: NotRequired[float]
    quarantined: NotRequired[bool]


MemoryJson = Annotated[dict[str, Any], Fields("Memory", Fact | Passage, MemoryNow)]
"""A memory as JSON."""


def memory(held: Fact | Passage, now: datetime, *, by_id: bool = False) -> MemoryJson:
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
