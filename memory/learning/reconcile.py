"""A draft meets what is already known: reinforce, merge, add, supersede, or record the contradiction.

The answer is a value; a shell carries it out. What is known already is not written again. A contradiction replaces
the older fact only when it is clearly a change and comes from somebody who is trusted at least as much; otherwise
both stay and know of each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.fact import Fact, FactDraft, FactKind, State, outlasts
from memory.language.claim import Claim
from memory.language.contradiction import NONE, ContradictionVerdict, compare
from memory.language.narrowing import one_of_several, takes_over
from memory.language.words import STOP, stem, words
from memory.understanding.encoder import Relation

SAME_WORDS = 0.9
"""Share of common stems from which two texts say the same."""
_FROM_A_DAY = re.compile(
    r"(?:\b(?:as of|starting|beginning|effective|from) (?:(?:from|on|in|the week of) ){0,3}|"
    r"^(?:on|in) )(?P<day>(?:19|20)\d\d-\d\d(?:-\d\d)?)(?! to\b)",
    re.IGNORECASE,
)
NEAR_WORDS = 0.6
NEAR_MEANING = 0.9
"""Cosine from which texts with :data:`NEAR_WORDS` in common say the same."""
CLASH = 0.6
CHANGED = 0.5
AGREED = 0.9
"""How likely a model must read that one statement replaces another with which its words clash, to be a change."""
READ = "at odds"
"""The ground of what only a model reads: it marks both, and ends neither."""
AT_ODDS = 0.6
"""How likely two statements must be read as not holding together, in whatever way, for both to be marked. To end one
takes its words: the model takes a few things that merely share a subject for a change. Of authors it was not fitted to
it marks nine of a thousand pairs that one session tells of different things (15 from .4 on), and .47 of the changes."""


@dataclass(frozen=True, slots=True)
class Reinforce:
    """It is known: the fact ``id`` is confirmed."""

    id: str


@dataclass(frozen=True, slots=True)
class Merge:
    """It is known, and the draft says more: the fact ``id`` gets ``text``."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class New:
    """It is new. ``surprise`` in 0..1: 1 when nothing like it is known."""

    surprise: float


@dataclass(frozen=True, slots=True)
class Supersede:
    """It replaces the facts ``ids``, which held until now, and contradicts the facts ``contradicts``."""

    ids: tuple[str, ...]
    surprise: float = 0.8
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradict:
    """It is written beside the facts ``ids``, which it contradicts; they are marked too."""

    ids: tuple[str, ...]
    surprise: float = 0.7


@dataclass(frozen=True, slots=True)
class AlreadySuperseded:
    """It held until the fact ``id`` took its place: it was said before that one, and is only learned of now."""

    id: str
    surprise: float = 0.5


@dataclass(frozen=True, slots=True)
class Vouch:
    """It is known by hearsay as the fact ``id``, and now somebody says it whose word counts: it becomes theirs."""

    id: str
    surprise: float = 0.3


Decision = Reinforce | Merge | New | Supersede | Contradict | AlreadySuperseded | Vouch


def reconcile(
    draft: FactDraft,
    neighbours: Sequence[tuple[Fact, float, float]],
    now: datetime,
    clock: datetime | None = None,
    *,
    related: Mapping[str, Relation] | None = None,
) -> Decision:
    """What to do with a draft. ``neighbours`` are facts of the same owner with cosine and lexical coverage, in 0..1;
    those that are not active, or that ended before ``now``, are passed over. ``now`` is when the draft was said, which
    may be before some of them were (a session that is imported). ``clock`` is what the clock says: what was recorded
    after that, was so by one that had run ahead, and nothing is said before it. ``related`` says how the draft stands
    to some of the facts, by their ids, as a model reads both."""
    related = related or {}
    known = [
        (fact, cosine, lexical)
        for fact, cosine, lexical in neighbours
        if fact.state is State.ACTIVE and not (fact.valid_until and fact.valid_until <= now)
    ]
    draft_stems = _stems(draft.text)
    clashing: dict[str, str] = {}
    gone: dict[str, float] = {}
    for fact, cosine, _ in sorted(known, key=lambda each: -max(each[1], each[2])):
        vouched = draft.origin.trusted and not fact.origin.trusted
        if same_letters(fact.text, draft.text):
            return Vouch(fact.id) if vouched else Reinforce(fact.id)
        late = now < fact.valid_from and not (clock and clock < fact.recorded_at)
        relation = None if late else related.get(fact.id)
        verdict = compare(draft.text, fact.text) if late else _verdict_with_relation(_verdict(fact, draft), relation)
        if verdict.clash >= CLASH:
            if late and _came_later(fact, draft, verdict):
                return AlreadySuperseded(fact.id)
            if not late and _replaces(
                fact, draft, verdict, [each.text for each, _, _ in known if each is not fact], now
            ):
                if not gone or takes_over(Claim(fact.text), Claim(draft.text)):
                    gone[fact.id] = verdict.clash
                else:
                    clashing[fact.id] = verdict.why
                continue
            clashing[fact.id] = verdict.why
            continue
        if gone or fact.expires_at != draft.expires_at:
            # What is said without an end, or with another one, is not borne out by what ends: it would end with it.
            continue
        held = _stems(fact.text)
        alike = len(draft_stems & held) / len(draft_stems | held) if draft_stems or held else 0.0
        contained = bool(held) and held <= draft_stems and len(held) > 2 and len(draft_stems) <= 2 * len(held)
        if alike >= SAME_WORDS or (alike >= NEAR_WORDS and cosine >= NEAR_MEANING):
            if vouched:
                return Vouch(fact.id)
            return (
                Merge(fact.id, draft.text)
                if len(draft_stems) > len(held) and _may_rewrite(fact, draft)
                else Reinforce(fact.id)
            )
        if contained and cosine >= 0.8 and _may_rewrite(fact, draft):
            return Vouch(fact.id) if vouched else Merge(fact.id, draft.text)
        if draft_stems and draft_stems <= held and cosine >= 0.8:
            # Half of a hearsay, said by the person, is the person's own word and no more.
            return New(0.3) if vouched else Reinforce(fact.id)
    if gone:
        # What bears the name of what has gone may stay as it is, once it is known what that was.
        rivals = tuple(id for id, why in clashing.items() if why != "named")
        return Supersede(tuple(gone), round(0.5 + 0.5 * max(gone.values()), 3), rivals)
    if clashing:
        return Contradict(tuple(clashing))
    nearest = max((max(cosine, lexical) for _, cosine, lexical in known), default=0.0)
    return New(round(min(1.0, max(0.0, 1.0 - nearest)), 3))


def _verdict(fact: Fact, draft: FactDraft) -> ContradictionVerdict:
    verdict = compare(fact.text, draft.text)
    if verdict is not NONE or not draft.wrong:
        return verdict
    # A correction whose wrong side is what this fact holds.
    wrong, held = _stems(draft.wrong), _stems(fact.text)
    if wrong and len(wrong & held) / len(wrong) >= 0.8 and len(wrong) >= min(2, len(held)):
        return ContradictionVerdict(0.75, 0.8, "correction")
    return verdict


def _verdict_with_relation(verdict: ContradictionVerdict, relation: Relation | None) -> ContradictionVerdict:
    """What the words say of two statements; where they say nothing, whether a model reads that both cannot hold. What
    clashes in words without a word of change is one where the model surely reads it so."""
    if relation is not None and verdict.clash >= CLASH and not verdict.part and relation.replaces >= AGREED:
        return replace(verdict, change=max(verdict.change, CHANGED))
    if relation is None or verdict is not NONE:
        return verdict
    odds = relation.replaces + relation.contradicts
    if odds < max(AT_ODDS, relation.same):
        return verdict
    return ContradictionVerdict(max(odds, CLASH), 0.0, READ)


def _replaces(
    fact: Fact, draft: FactDraft, verdict: ContradictionVerdict, others: Sequence[str], now: datetime
) -> bool:
    """Whether it is clearly a change, said by somebody whose word counts as much. ``others`` is what else is known."""
    if fact.pinned or verdict.part or not draft.origin.counts_as(fact.origin) or outlasts(fact, draft):
        return False
    if verdict.why == READ:
        return False
    if one_of_several(Claim(fact.text), Claim(draft.text), map(Claim, others)) or _holds_later(draft.text, now):
        return False
    return verdict.change >= CHANGED or draft.kind is FactKind.CORRECTION


def _holds_later(text: str, now: datetime) -> bool:
    """Whether a text whose dates are absolute says that it holds from a day on that has not come yet."""
    found = _FROM_A_DAY.search(text)
    return found is not None and found["day"] > now.date().isoformat()


def _came_later(fact: Fact, draft: FactDraft, verdict: ContradictionVerdict) -> bool:
    """Whether a fact that was said after the draft is clearly a change of it, by somebody whose word counts as much."""
    if draft.pinned or verdict.part or not fact.origin.counts_as(draft.origin):
        return False
    return verdict.change >= CHANGED or fact.kind is FactKind.CORRECTION


def _may_rewrite(fact: Fact, draft: FactDraft) -> bool:
    """A text may only be replaced by one that is trusted as much, and never a pinned one."""
    return not fact.pinned and draft.origin.counts_as(fact.origin)


def same_letters(one: str, other: str) -> bool:
    """Whether two texts are the same but for case, spaces and marks."""
    return [c for c in one.lower() if c.isalnum()] == [c for c in other.lower() if c.isalnum()]


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOP)
