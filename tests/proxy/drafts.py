"""A draft, as an import brings one into a running proxy."""

from __future__ import annotations

import uuid
from typing import Any

import orjson

from memory.fact import State
from memory.services.transfer.records import record_of
from tests.memory.context.making import fact

TEXT = "The porch sensor reads two degrees high"


def draft(owner: str, text: str = TEXT) -> dict[str, Any]:
    """The record of a draft of an owner."""
    held = fact(text, id=str(uuid.uuid4()), owner=owner, state=State.DRAFT, confidence=0.5)
    record: dict[str, Any] = orjson.loads(orjson.dumps(record_of(held)))
    return record
