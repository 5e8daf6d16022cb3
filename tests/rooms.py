"""The features of an open memory, by their names."""

from __future__ import annotations

from memory.features.approvals.decisions import CandidateApprovals
from memory.features.approvals.feature import Approvals
from memory.features.nights.feature import Nights
from memory.features.subagents.feature import Subagents
from memory.parts import Memory


def nights(memory: Memory) -> Nights:
    """Consolidation."""
    return memory.features.of(Nights)


def approvals(memory: Memory) -> CandidateApprovals:
    """What a person decides."""
    return memory.features.of(Approvals).decisions


def subagents(memory: Memory) -> Subagents:
    """What sub-agents find out."""
    return memory.features.of(Subagents)
