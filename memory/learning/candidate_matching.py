"""What is put forward meets what was put forward before, and what a person has approved already.

The same thing is put forward night after night: it is one candidate. What a person has rejected stays rejected until
there is much more for it; what was deferred waits again when another session bears it out; what those whom it is meant
for have already is not put forward at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.candidate import Candidate, CandidateKind, CandidateState, Proposal
from memory.language.terms import words_of

SAME_WORDS = 0.85
"""Share of common stems from which two rules say the same."""
SAME_EVIDENCE = 0.5
"""Share of the smaller body of evidence that two candidates must have in common to be one."""


@dataclass(frozen=True, slots=True)
class NewCandidate:
    """It is new."""


@dataclass(frozen=True, slots=True)
class KnownCandidate:
    """It is the candidate ``id``. ``grown``: there is more for it now; ``waits``: it waits for the person again."""

    id: str
    grown: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class AlreadyHeld:
    """Those whom it is meant for have it already."""


def meet(
    proposal: Proposal, before: Sequence[Candidate], held: Iterable[str]
) -> NewCandidate | KnownCandidate | AlreadyHeld:
    """What becomes of a proposal. ``before`` are the candidates of the same owner, ``held`` the texts that a person
    has approved for those whom it is meant for."""
    marked = (each for each in before if (each.kind, each.mark) == (proposal.kind, proposal.mark))
    same = next(marked, None) or next((each for each in before if _same(proposal, each)), None)
    if same is None or same.state is not CandidateState.APPROVED:
        is_knowledge = proposal.kind is CandidateKind.KNOWLEDGE
        if is_knowledge and any(says_the_same(proposal.text, text) for text in held):
            return AlreadyHeld()
    if same is None:
        return NewCandidate()
    grown = same.state is CandidateState.WAITING and not _is_part_of_evidence(proposal, same)
    return KnownCandidate(same.id, grown, _waits_again(proposal, same))


def says_the_same(one: str, other: str) -> bool:
    """Whether two rules have their words in common, whatever their order."""
    first, second = words_of(one), words_of(other)
    if not (first and second):
        return one.casefold().strip() == other.casefold().strip()
    return len(first & second) >= SAME_WORDS * len(first | second)


def _same(proposal: Proposal, candidate: Candidate) -> bool:
    if proposal.kind is not candidate.kind:
        return False
    if proposal.kind in (CandidateKind.RETIREMENT, CandidateKind.LINE, CandidateKind.PROPOSED):
        # A skill that was approved anew may be retired anew, though the same bore it out; and each line is one.
        return False
    one, other = set(proposal.evidence), set(candidate.evidence)
    if one and other and len(one & other) > SAME_EVIDENCE * min(len(one), len(other)):
        return True
    # Two skills may share most of their words, and be two.
    return proposal.kind is CandidateKind.KNOWLEDGE and says_the_same(proposal.text, candidate.text)


def _is_part_of_evidence(proposal: Proposal, candidate: Candidate) -> bool:
    """Whether what is put forward is one of several things that bear a candidate out, which counts more already."""
    return (
        proposal.mark != candidate.mark
        and set(proposal.evidence) < set(candidate.evidence)
        and proposal.sources <= candidate.sources
        and proposal.sessions <= candidate.sessions
    )


def _waits_again(proposal: Proposal, candidate: Candidate) -> bool:
    """Whether a decided candidate is put before the person again."""
    if candidate.state is CandidateState.DEFERRED:
        return proposal.sessions > candidate.sessions_then
    return (
        candidate.state is CandidateState.REJECTED
        and proposal.sources >= proposal.again * candidate.sources_then
        and proposal.sessions >= proposal.again * candidate.sessions_then
    )
