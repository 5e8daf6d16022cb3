"""The candidates that there are, found by whose they are, by their ids, or as they were submitted; what bears them out;
and what was approved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from memory.candidate import Candidate, CandidateState
from memory.fact import Fact, Sensitivity
from memory.features.approvals.store import ApprovalStore
from memory.policy import PERSONAL, is_persons
from memory.scope import Layer, Scope, is_seen_from, place_of
from memory.services.person.commands import Ambiguous, NotFound

NOWHERE = Scope()


class CandidatesJournal(Protocol):
    """What this needs of the journal."""

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners."""

    async def bearing_out(self, candidate: Candidate) -> list[Fact]:
        """The facts that bear a candidate out as things stand."""

    async def submitted(
        self, to: str, states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """What was submitted to the maintainers of an organisation."""

    async def shared(self, owner: str) -> list[Fact]:
        """What persons have approved for all who share an owner."""


class CandidateLookup:
    """Finds candidates, and what was approved."""

    def __init__(self, journal: CandidatesJournal, store: ApprovalStore) -> None:
        self._journal = journal
        self._store = store

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners, those with the most evidence first."""
        return await self._journal.candidates(owners, states)

    async def submitted(
        self, scope: Scope, states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """What was submitted to the maintainers of a scope's organisation, of all its projects or of the scope's; what
        was submitted first comes first."""
        to = Scope(scope.org).owner(Layer.ORG)
        found = await self._journal.submitted(to, states) if to else []
        return [each for each in found if scope.project is None or project_of(each.owner) == scope.project]

    async def rules(self, owners: Sequence[str]) -> list[tuple[Fact, Candidate | None]]:
        """What was approved for all who share one of these owners, with the candidate that it was, which says by
        whom."""
        shared = [owner for owner in owners if not is_persons(owner)]
        facts = [fact for owner in shared for fact in await self._journal.shared(owner)]
        found = await self._store.became([fact.id for fact in facts]) if facts else []
        # One that was imported says what it likes: in an organisation only those count that were decided here.
        approved = [each for each in found if each.state is CandidateState.APPROVED]
        were = {each.fact: each for each in approved if each.submitted_to == (organisation_of(each) or "")}
        return [(fact, were.get(fact.id)) for fact in facts]

    async def candidate(self, id: str, owners: Sequence[str], scope: Scope = NOWHERE) -> Candidate:
        """The candidate of an id, or of the beginning of one, of these owners or submitted in the scope's organisation.

        Raises:
            NotFound: when there is none.
            Ambiguous: when several have it.
        """
        submitted = await self.submitted(Scope(scope.org))
        found = [each for each in await self._store.candidates_named([id]) if each.owner in owners]
        found = found or [each for each in submitted if each.id == id]
        if not found and id:
            # Only who types a beginning has all of them looked through.
            every = [*await self._journal.candidates(owners), *submitted]
            found = list({each.id: each for each in every if each.id.startswith(id)}.values())
        if not found:
            raise NotFound(f"there is no candidate {id!r}")
        if len(found) > 1:
            raise Ambiguous(id, [each.id for each in found[:5]])
        return found[0]

    async def evidence(self, candidate: Candidate, scope: Scope) -> tuple[list[Fact], int]:
        """The facts that bear a candidate out, the oldest first, as far as a person may see them, and how many there
        are besides: what others have said is theirs, of what many share neither what is confidential nor what is about
        people is shown, and what was changed or taken back since bears nothing out."""
        facts = [
            fact
            for fact in await self._journal.bearing_out(candidate)
            if is_seen_from(fact.owner, scope) and (is_persons(fact.owner) or not _is_private(fact))
        ]
        return sorted(facts, key=lambda fact: (fact.recorded_at, fact.id)), len(candidate.evidence) - len(facts)


def project_of(owner: str) -> str | None:
    """The project that an owner is of, if any."""
    place = place_of(owner)
    return place[0].project if place is not None else None


def organisation_of(candidate: Candidate) -> str | None:
    """The owner of what all in a candidate's organisation share; None where it is of none."""
    place = place_of(candidate.owner)
    return Scope(place[0].org).owner(Layer.ORG) if place is not None else None


def _is_private(fact: Fact) -> bool:
    return fact.sensitivity is not Sensitivity.NORMAL or fact.category in PERSONAL
