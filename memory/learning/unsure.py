"""What was read with doubt: what is known bears it out, or it waits as a draft.

That something changes what is known, or says it again, is the best sign that it was meant to last: "landing is 4400
now" alone may be the state of a build, and is a change where memory holds another port.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.fact import Fact, FactDraft, State
from memory.language.contradiction import WHO_LEFT, compare
from memory.language.leaving import leavers
from memory.language.words import content
from memory.learning.lesson_result import Taught
from memory.learning.outcome import drafted
from memory.learning.reconcile import CLASH, same_letters
from memory.ports import Journaled, MemoryUse
from memory.understanding.encoder import Relation

UNSURE: Final = 0.35
"""How likely something must be worth keeping to wait as a draft at all: what is less sure counts only where it changes
what is known."""
CHANGES: Final = 0.4
"""How likely a statement must be read as not holding beside what is known, to be borne out by it."""
SAYS_AGAIN: Final = 0.6
"""How likely it must be read as saying what is known."""
SURELY_AGAIN: Final = 0.9
"""And how likely where it has no word in common with that."""
BORNE_OUT: Final = 0.75
"""The least confidence of what is borne out."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What becomes of something taught before it is reconciled: ``taught`` goes on, where it is sure or borne out;
    ``facts`` are drafts, new or changed; ``uses`` count what was said again; ``waited`` are the drafts that it says
    again, and stands for from now on."""

    taught: Taught | None
    facts: tuple[Fact, ...] = ()
    uses: tuple[MemoryUse, ...] = ()
    waited: tuple[Fact, ...] = ()


def weighed(
    taught: Taught,
    known: Sequence[Fact],
    related: Mapping[str, Relation],
    journaled: Journaled,
    owner: str,
    new_id: Callable[[], str],
) -> Weighed:
    """What becomes of something taught, beside what is ``known``; ``related`` says how it stands to some of that."""
    draft = taught.draft
    if not draft.origin.trusted:
        return Weighed(taught)
    if not draft.unsure:
        waiting = [fact for fact in known if fact.state is State.DRAFT and _says_again(fact, draft, related)]
        return _standing_for(taught, waiting)
    if draft.confidence < UNSURE:
        changes = any(_surely_changes(draft, fact, related.get(fact.id)) for fact in known)
        return Weighed(replace(taught, draft=_sure(draft)) if changes else None)
    by, changed = _best_support(draft, taught.source, known, related)
    if by is not None and changed and by.state is State.DRAFT:
        # That a thing was told twice, and otherwise, shows that both were meant to last.
        return Weighed(replace(taught, draft=_sure(draft)), (replace(by, state=State.ARCHIVED),))
    if by is None:
        waits = replace(drafted(draft, new_id(), owner, taught.source, journaled), state=State.DRAFT)
        return Weighed(None, (waits,))
    if changed:
        return Weighed(replace(taught, draft=_sure(draft)))
    if by.source == taught.source:
        return Weighed(None)
    if by.state is State.DRAFT:
        # It is reconciled like anything that is sure: something else may have been said of it meanwhile.
        return _standing_for(replace(taught, draft=_sure(draft)), [by])
    return Weighed(None, (), (MemoryUse(by.id, journaled.session.id, journaled.at, said=True, used=False),))


def _surely_changes(draft: FactDraft, fact: Fact, relation: Relation | None) -> bool:
    """Whether something hardly worth keeping by itself changes what is known: their words clash, and the reader reads
    it so, too."""
    if fact.state is not State.ACTIVE or not fact.origin.trusted:
        return False
    verdict = compare(fact.text, draft.text)
    if verdict.why == WHO_LEFT or relation is None:
        return verdict.why == WHO_LEFT
    return verdict.clash >= CLASH and relation.replaces + relation.contradicts >= CHANGES


def _standing_for(taught: Taught, waiting: Sequence[Fact]) -> Weighed:
    return Weighed(taught, tuple(replace(fact, state=State.ARCHIVED) for fact in waiting), waited=tuple(waiting))


def _sure(draft: FactDraft) -> FactDraft:
    return replace(draft, unsure=False, confidence=max(draft.confidence, BORNE_OUT))


_HELD: Final = (State.ACTIVE, State.DRAFT)


def _best_support(
    draft: FactDraft, source: bytes, known: Sequence[Fact], related: Mapping[str, Relation]
) -> tuple[Fact | None, bool]:
    """The fact that bears a draft out best, if one does, and whether by being changed rather than said again."""
    best, by, changed = 0.0, None, False
    somebody_left = bool(leavers(draft.text))
    for fact in known:
        if not fact.origin.trusted:
            continue
        if somebody_left and fact.state is State.ACTIVE and compare(fact.text, draft.text).why == WHO_LEFT:
            return fact, True
        if fact.state in _HELD and same_letters(fact.text, draft.text):
            return fact, False
        relation = related.get(fact.id)
        if relation is None or fact.state not in _HELD:
            continue
        if compare(fact.text, draft.text).clash >= CLASH:
            return fact, True
        if relation.same > best and _says_again(fact, draft, related):
            best, by, changed = relation.same, fact, False
        odds = relation.replaces + relation.contradicts
        if fact.source != source and odds >= max(CHANGES, best):
            best, by, changed = odds, fact, True
    return by, changed


def is_draft_put_away(fact: Fact, draft: FactDraft) -> bool:
    """Whether a fact, which no night has archived, is a draft of these letters that was put away: all that is left of
    a dismissal by a release that kept no tombstones of them."""
    put_away = fact.state is State.ARCHIVED and fact.confidence < BORNE_OUT and fact.access == 1
    return put_away and fact.origin.trusted and same_letters(fact.text, draft.text)


def _says_again(fact: Fact, draft: FactDraft, related: Mapping[str, Relation]) -> bool:
    """Whether a draft says a fact again: it must be the surer of two that have no word in common."""
    if same_letters(fact.text, draft.text):
        return True
    if (relation := related.get(fact.id)) is None:
        return False
    return relation.same >= (SURELY_AGAIN if content(fact.text).isdisjoint(content(draft.text)) else SAYS_AGAIN)
