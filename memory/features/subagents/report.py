"""Research as JSON tells it."""

from __future__ import annotations

from typing import Any

from memory.conversation import Part, ToolCall
from memory.fact import Passage, Sensitivity
from memory.hooks.serializers import HIDDEN
from memory.research import Research
from memory.services.tiers.content import whole

EXCERPT = 400
"""Characters of a report or a passage in a list."""


def line(found: Research) -> dict[str, Any]:
    """A research in short."""
    return {
        "id": found.id,
        "handle": found.handle,
        "title": found.title,
        "line": found.line,
        "owner": found.owner,
        "session": found.session,
        "parent": found.parent,
        "claimed_parent": found.claimed,
        "runtime": found.runtime,
        "model": found.model,
        "tool": found.tool,
        "agent": found.agent,
        "commit": found.commit,
        "began": found.began,
        "ended": found.ended,
        "seconds": round(found.seconds, 3),
        "requests": found.requests,
        "tokens": found.tokens,
        "written": found.written,
        "outcome": found.outcome.value,
        "delivery": found.delivery.value,
        "messages": len(found.trail),
        "sources": len(found.sources),
    }


def part_text(part: Part) -> str:
    """A part of a trail: of a call also which tool it was."""
    return f"{part.name} {part.arguments}" if isinstance(part, ToolCall) else whole(part)


def shown(passage: Passage) -> str:
    """What of a passage is shown in a list."""
    return HIDDEN if passage.sensitivity is Sensitivity.RESTRICTED else passage.text[:EXCERPT]
