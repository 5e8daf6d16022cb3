"""What is learnt on a branch holds on it, and becomes the project's when the branch is merged.

How somebody works, and whatever a person wants kept, holds wherever it was said: only what tells of the code waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memory.checkout import BranchStage, Checkout, LearnedAt
from memory.fact import Category, Fact, FactDraft, FactKind, Passage
from memory.learning.citations import tells_of_a_place
from memory.learning.reconcile import AlreadySuperseded, Contradict, Decision, Merge, New, Reinforce, Supersede, Vouch
from memory.scope import Layer

_OF_THE_CODE: Final = frozenset(
    (Category.PROJECTS, Category.TECHNICAL, Category.ENTITIES, Category.WORKFLOWS, Category.PREFERENCES)
)
_HOW_TO_WORK: Final = frozenset((FactKind.PREFERENCE, FactKind.CONVENTION, FactKind.CORRECTION))


def tells_of_code(fact: Fact | FactDraft) -> bool:
    """Whether something may hold on a branch only."""
    in_project = fact.layer is Layer.USER_PROJECT and not fact.pinned
    return in_project and fact.kind not in _HOW_TO_WORK and fact.category in _OF_THE_CODE


def holding_on_branch(
    facts: Sequence[Fact], passages: Sequence[Passage], changed: frozenset[str], here: Checkout
) -> dict[str, bool]:
    """Of all that is new, whether it holds on the branch only: a passage does with a fact that its message taught, and
    where it names a place in the code."""
    new = {fact.id: here.staged and tells_of_code(fact) for fact in facts if fact.id not in changed}
    sources = {fact.source for fact in facts if new.get(fact.id)}
    return new | {
        passage.id: here.staged and (passage.source in sources or tells_of_a_place(passage.text))
        for passage in passages
    }


def apart(facts: Iterable[Fact], learnt: Mapping[str, LearnedAt], here: Checkout, staged: bool) -> frozenset[str]:
    """Those of some known facts that what is said ``here`` cannot end or change: what holds on another branch only, and
    for what is ``staged`` itself also what holds for the whole project."""
    found = set[str]()
    for fact in facts:
        row = learnt.get(fact.id)
        on_branch = row is not None and row.checkout.staged and row.stage is not BranchStage.MERGED
        same = row is not None and (row.checkout.repository, row.checkout.branch) == (here.repository, here.branch)
        if (on_branch and not (staged and same)) or (staged and not on_branch and tells_of_code(fact)):
            found.add(fact.id)
    return frozenset(found)


def touches(decision: Decision, others: frozenset[str]) -> bool:
    """Whether a decision would change one of these facts."""
    match decision:
        case Supersede(ids, _, contradicts):
            return not others.isdisjoint((*ids, *contradicts))
        case Merge(id, _) | AlreadySuperseded(id, _) | Vouch(id, _):
            return id in others
        case Contradict(ids, _):
            return not others.isdisjoint(ids)
        case Reinforce() | New():
            return False
