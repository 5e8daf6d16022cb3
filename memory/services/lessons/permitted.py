"""Leave out of what an exchange taught what its organisation's policy does not let be kept."""

from __future__ import annotations

from collections.abc import Sequence

from memory.fact import Fact, FactDraft, Origin
from memory.language.words import stems
from memory.learning.lesson_result import Learned, PassageDraft
from memory.policy import PERSONAL, Policy
from memory.services.lessons import rules

SHARED_STEMS = 0.6
"""The part of a fact's stems that stand in a passage which says the same."""


def permitted(learned: Learned, policy: Policy) -> Learned:
    """What may be kept of it: a passage goes as well where it tells of people, whatever else it says."""
    if policy.keeps_all:
        return learned
    facts = tuple(each for each in learned.facts if not policy.forbids(each.draft.sensitivity, each.draft.category))
    told = [each.draft for each in learned.facts if each.draft.category in PERSONAL]
    pieces = tuple(
        piece
        for piece in learned.pieces
        if not policy.forbids(piece.sensitivity) and (policy.personal or not _tells_of_people(piece, told))
    )
    return Learned(facts, pieces, learned.withdrawals)


def permitted_facts(facts: Sequence[Fact], policy: Policy) -> tuple[Fact, ...]:
    """Those of some facts that may be kept."""
    return tuple(each for each in facts if not policy.forbids(each.sensitivity, each.category))


def _tells_of_people(piece: PassageDraft, told: Sequence[FactDraft]) -> bool:
    said = frozenset(stems(piece.text))
    for draft in told:
        words = frozenset(stems(draft.text))
        if words and len(words & said) >= SHARED_STEMS * len(words):
            return True
    # Somebody else's text is read by the same rules: what a model repeats of a person is about that person still.
    return any(draft.category in PERSONAL for draft in rules.drafts(piece.text, Origin.USER, piece.at))
