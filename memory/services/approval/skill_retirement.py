"""An approved skill that is followed no longer leaves the folder that runtimes read; it is kept beside it, and comes
back when that is taken back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from memory.candidate import Candidate, CandidateDecision, CandidateState, retires
from memory.services.approval.skills import Skills
from memory.services.approval.write_plan import ApprovalRefused, WritePlan

WHY = "retired: its steps are not carried through any more"


class KnownCandidates(Protocol):
    """What this needs of the journal."""

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners."""


class Retirements:
    """Plans how a skill is retired, see :class:`memory.services.approval.write_plan.Crystallizer`. The skill waits for
    the person again when more sessions bear it out."""

    def __init__(self, journal: KnownCandidates, skills: Skills) -> None:
        self._journal = journal
        self._skills = skills

    async def planned(self, candidate: Candidate, retire: bool = False) -> WritePlan:
        """See :class:`memory.services.approval.write_plan.Crystallizer`."""
        every = await self._journal.candidates([candidate.owner])
        skill = next((each for each in every if each.id == retires(candidate)), None)
        if skill is None:
            raise ApprovalRefused("the skill that it would retire is not there any more")
        if (candidate.text, candidate.layer) != (skill.text, skill.layer):
            raise ApprovalRefused("a skill is retired as it was approved: there is nothing to put in other words")
        if retire:
            files = await self._skills.brought_back(skill)
            return WritePlan(tuple(files), decided=(CandidateDecision(skill, CandidateState.APPROVED),))
        if CandidateState.APPROVED not in (skill.state, candidate.state):
            raise ApprovalRefused(f"the skill is not approved, it is {skill.state}: there is nothing to retire")
        changes, left = await self._skills.set_aside(skill)
        return WritePlan(tuple(changes), tuple(left), decided=(CandidateDecision(skill, CandidateState.DEFERRED, WHY),))
