"""The pieces by which a research is found, as passages: the four by which questions are compared and those of the trail
on shelves of their own, and one line among the memories of its owner, so that a talk comes upon it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from memory.context.prior_findings import mention
from memory.conversation import Message
from memory.fact import Origin, Passage
from memory.learning.hearsay import without_orders
from memory.learning.research import pieces
from memory.learning.sensitivity import sensitivity
from memory.research import QUESTIONS, TRAILS, Research

SPACE = uuid.UUID("0f2d2c5e-7a0e-5d83-9a53-5a3b6f0c9d11")
"""The namespace of the ids of research and of its pieces."""

MENTIONED = "research"
"""The speaker of the line by which a talk comes upon a research; its session is the research."""


def passages_of(research: Research, trail: Sequence[Message]) -> list[Passage]:
    """All of them, under ids that writing them again does not change."""
    found = []
    for piece in pieces(research, trail):
        collection = TRAILS if piece.name in ("passage", "trail") else QUESTIONS
        id = str(uuid.uuid5(SPACE, f"{research.id}\0{piece.name}\0{piece.turn}\0{piece.piece}"))
        found.append(
            Passage(
                id,
                piece.text,
                collection + research.owner,
                Origin.SUBAGENT,
                piece.name,
                research.id,
                piece.source,
                research.ended,
                piece.turn,
                piece.piece,
                sensitivity=sensitivity(piece.text[:2000]),
            )
        )
    if research.report:
        id = str(uuid.uuid5(SPACE, f"{research.id}\0line"))
        line = mention(research, without_orders(research.report))
        # A line that says something of the report is as guarded as that.
        found.append(
            Passage(
                id, line, research.owner, Origin.SUBAGENT, MENTIONED, research.id, b"", research.ended, 0,
                sensitivity=sensitivity(line),
            )
        )  # fmt: skip
    return found
