"""The same thing said again becomes one canonical fact, which has been used and borne out by all of them together.

The one that says more stays, and only where it is trusted at least as much as the other. Two facts that differ in
words on both sides are two facts, however alike they are: "before you push to staging" is not "to production".

What has faded below the floor leaves recall, and drafts that nobody decided wait no longer; both stay in the store
and can be asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from memory.fact import Fact, MemoryTier, Sensitivity, State
from memory.features.nights.consolidation.diff import ChangeAction
from memory.features.nights.consolidation.snapshot import SimilarPair, WorkingFacts, trust_of, trusted_as
from memory.language.contradiction import CLAIMS, clashing
from memory.language.terms import words_of
from memory.strength import effective

ALIKE = 0.85
"""Cosine of two facts of which one holds all words of the other."""
HELD = 0.6
"""The least share of the longer one's words that the shorter one has."""
_SENSITIVITY = {sensitivity: place for place, sensitivity in enumerate(Sensitivity)}


def merge(sheet: WorkingFacts, pairs: Sequence[SimilarPair]) -> None:
    """Write on the sheet what becomes one."""
    beside: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        if pair.cosine >= ALIKE:
            beside[pair.one].append(pair.other)
            beside[pair.other].append(pair.one)
    # What says most comes first, so that nothing is taken in by what is taken in itself.
    known = [fact for id in beside if (fact := sheet.active(id)) is not None]
    order = [fact.id for fact in sorted(known, key=_canonical)]
    place = {id: number for number, id in enumerate(order)}
    for id in order:
        for other in sorted((each for each in beside[id] if place.get(each, -1) > place[id]), key=place.__getitem__):
            whole, part = sheet.active(id), sheet.active(other)
            if whole and part and _covers(whole, part):
                share = len(_words(part.text)) / max(len(_words(whole.text)), 1)
                why = "letter for letter the same" if whole.text == part.text else f"has {share:.0%} of the words"
                sheet.write(ChangeAction.MERGE, why, _merged(whole, part), replace(part, state=State.ARCHIVED))


def _canonical(fact: Fact) -> tuple[object, ...]:
    lasting = fact.tier in (MemoryTier.LONG_TERM, MemoryTier.SHARED)
    trust = trust_of(fact)
    return (
        -len(_words(fact.text)),
        not fact.wrong,
        not lasting,
        trust,
        not fact.pinned,
        -fact.access,
        fact.recorded_at,
        fact.id,
    )


_words = lru_cache(maxsize=CLAIMS)(words_of)


def _covers(whole: Fact, part: Fact) -> bool:
    words, held = _words(whole.text), _words(part.text)
    if not held or not held <= words or len(held) < HELD * len(words) or (len(held) < 3 and held != words):
        return False
    if not trusted_as(whole, part) or part.tier in (MemoryTier.LONG_TERM, MemoryTier.SHARED) or part.pinned:
        return False
    if (whole.sensitivity is Sensitivity.RESTRICTED) is not (part.sensitivity is Sensitivity.RESTRICTED):
        return False
    if (whole.expires_at, whole.valid_until) != (part.expires_at, part.valid_until):
        return False
    if part.wrong and words_of(part.wrong) != words_of(whole.wrong):
        return False
    return not clashing(part.text, whole.text)


def _merged(whole: Fact, part: Fact) -> Fact:
    same = words_of(whole.text) == words_of(part.text)
    # Hearsay bears nobody out.
    bears = part.origin.counts_as(whole.origin)
    used = [at for at in (whole.used_at, part.used_at, max(whole.recorded_at, part.recorded_at)) if at is not None]
    names = tuple(id for id in dict.fromkeys((*whole.contradicts, *part.contradicts)) if id not in (whole.id, part.id))
    return replace(
        whole,
        access=whole.access + part.access if bears else whole.access,
        sessions=whole.sessions + part.sessions - (whole.session == part.session) if bears else whole.sessions,
        used_at=max(used) if bears else whole.used_at,
        recorded_at=min(whole.recorded_at, part.recorded_at) if same else whole.recorded_at,
        valid_from=min(whole.valid_from, part.valid_from) if same else whole.valid_from,
        confidence=max(whole.confidence, part.confidence),
        importance=max(whole.importance, part.importance),
        sensitivity=max(whole.sensitivity, part.sensitivity, key=_SENSITIVITY.__getitem__),
        supersedes=(*whole.supersedes, part.id),
        contradicts=names,
    )


def fade(sheet: WorkingFacts, fading: Sequence[str], now: datetime, floor: float) -> None:
    """Write on the sheet what is archived: of ``fading`` what is weaker than ``floor`` and not pinned."""
    for id in sorted(fading):
        fact = sheet.active(id)
        if fact is None or fact.pinned:
            continue
        strength = effective(fact, now)
        if strength < floor:
            sheet.write(ChangeAction.ARCHIVE, f"strength {strength:.4f}", replace(fact, state=State.ARCHIVED))


def end_drafts(sheet: WorkingFacts, drafts: Sequence[str], now: datetime) -> None:
    """Write on the sheet that these ``drafts`` are archived: nobody said them again, decided them or pinned them."""
    for id in sorted(drafts):
        fact = sheet.facts.get(id)
        if fact is not None and fact.state is State.DRAFT and not fact.pinned:
            days = (now - fact.recorded_at).days
            sheet.write(ChangeAction.ARCHIVE, f"a draft for {days} days", replace(fact, state=State.ARCHIVED))
