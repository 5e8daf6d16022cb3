"""The features of an open memory, by their names."""

from __future__ import annotations

from collections.abc import AsyncIterator

from memory.features.approvals.candidates import CandidateLookup
from memory.features.approvals.decisions import CandidateApprovals
from memory.features.approvals.feature import Approvals
from memory.features.nights.consolidation.diff import PlannedNight
from memory.features.nights.feature import Nights
from memory.features.nights.planner import plans
from memory.features.nights.runner import Job
from memory.features.subagents.feature import Subagents
from memory.parts import Memory


def nights(memory: Memory) -> Nights:
    """Consolidation."""
    return memory.features.of(Nights)


def approvals(memory: Memory) -> CandidateApprovals:
    """What a person decides."""
    return memory.features.of(Approvals).decisions


def candidates(memory: Memory) -> CandidateLookup:
    """What there is to decide."""
    return memory.features.of(Approvals).candidates


def subagents(memory: Memory) -> Subagents:
    """What sub-agents find out."""
    return memory.features.of(Subagents)


def plan_nights_here(memory: Memory) -> None:
    """Have nights planned in this process: the one of their own that they have in life takes half a second to begin.
    It is tried by ``tests/memory/features/nights/test_runner.py``."""
    nights(memory).runner._planner = lambda job: planned_here(memory, job)


async def planned_here(memory: Memory, job: Job) -> AsyncIterator[PlannedNight]:
    """What the process of its own would plan."""
    place = memory.settings.postgresql.url or memory.home / "journal.db"
    owners = None if job.owners is None else [*job.owners]
    for planned in plans(place, owners, job.now, memory.settings.night, job.since):
        yield planned
