"""Two facts that cannot both be so: the newer one takes the older one's place where it is clearly a change.

Else they know of each other, and both stay, until one of them is borne out by more sessions, and more lately, than the
other: evidence settles what words do not. What is about a part only of what the other is about ends nothing, and is
ended by nothing, for being borne out: each holds for what it names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.fact import Fact, FactKind, State, outlasts
from memory.features.nights.consolidation.diff import ChangeAction
from memory.features.nights.consolidation.snapshot import SimilarPair, WorkingFacts, trusted_as
from memory.language.claim import Claim
from memory.language.contradiction import CLASH, ContradictionVerdict, compared, settles
from memory.language.narrowing import one_of_several
from memory.language.terms import words_of

ALIKE = 0.6
"""Cosine from which on two facts may be about the same, where the newer one says in so many words what has changed."""
SAME = 0.75
"""Cosine from which on they are, whatever they say."""
_CLAUSES = re.compile(r",? but |[;:.] ")
"""Where a clause ends: "My id is 7, but I do not know yours" does not deny "My id is 7"."""
SEVERAL = 3
"""Rivals that a fact may have: what clashes with more than that is of one form with them, and no rival of theirs."""
_CHANGING = re.compile(r"\b(?:from|instead|rather|replaced|longer|over)\b", re.IGNORECASE)
"""Words without which nobody says in so many words what has changed: a look at them spares a comparison."""
_STATED_REASONS = frozenset({"change", "ended", "swapped", "correction"})
CHANGED = 0.5
BORNE_OUT = 2
"""Sessions that bear out a fact which wins over its rival without having said that something changed."""


def resolve(sheet: WorkingFacts, pairs: Sequence[SimilarPair], now: datetime) -> None:
    """Write on the sheet what follows what, and what contradicts what."""
    both: list[tuple[Fact, Fact, float]] = []
    around: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        around[pair.one].add(pair.other)
        around[pair.other].add(pair.one)
        one, other = sheet.active(pair.one), sheet.active(pair.other)
        if one is not None and other is not None and pair.cosine >= ALIKE:
            both.append((*((one, other) if _said_order(one) < _said_order(other) else (other, one)), pair.cosine))

    def beside(older: Fact, newer: Fact) -> list[str]:
        """The texts of what else is known that is like one of the two."""
        ids = (around[older.id] | around[newer.id]) - {older.id, newer.id}
        return [fact.text for id in sorted(ids) if (fact := sheet.active(id)) is not None]

    for first, second, cosine in sorted(both, key=lambda each: (_said_order(each[1]), _said_order(each[0]))):
        older, newer = sheet.active(first.id), sheet.active(second.id)
        if older is None or newer is None or older.id in newer.derived_from or newer.id in older.derived_from:
            continue
        if cosine < SAME and not newer.wrong and not _CHANGING.search(newer.text):
            continue
        verdict = _verdict(older, newer)
        if verdict.clash < CLASH or (cosine < SAME and verdict.why not in _STATED_REASONS):
            continue
        reason = f"{verdict.why}: clash {verdict.clash:.2f}, change {verdict.change:.2f}, cosine {cosine:.2f}"
        if not older.pinned and trusted_as(newer, older) and _changed(older, newer, verdict, beside(older, newer)):
            _supersede(sheet, older, newer, reason, now)
        elif not older.pinned and _outweighs(newer, older):
            _supersede(sheet, older, newer, f"{reason}; borne out by {newer.sessions} sessions", now)
        elif not newer.pinned and _outweighs(older, newer):
            _supersede(sheet, newer, older, f"{reason}; borne out by {older.sessions} sessions", now)
        elif _is_unrecorded(older, newer):
            sheet.write(ChangeAction.CONTRADICT, reason, _against(older, newer), _against(newer, older))


def _said_order(fact: Fact) -> tuple[datetime, datetime, str]:
    return fact.valid_from, fact.recorded_at, fact.id


def _verdict(older: Fact, newer: Fact) -> ContradictionVerdict:
    verdict = compared(older.text, newer.text)
    if verdict.why == "negation":
        verdict = compared(_closest_clause(older.text, newer.text), _closest_clause(newer.text, older.text))
    if verdict.clash >= CLASH or not newer.wrong:
        return verdict
    wrong, held = words_of(newer.wrong), words_of(older.text)
    if wrong and len(wrong) >= min(2, len(held)) and len(wrong & held) >= 0.8 * len(wrong):
        return ContradictionVerdict(0.75, 0.8, "correction")
    return verdict


def _closest_clause(text: str, other: str) -> str:
    """The clause of a text that has most to do with another text."""
    words = words_of(other)
    return max(_CLAUSES.split(text), key=lambda clause: len(words_of(clause) & words))


def _changed(older: Fact, newer: Fact, verdict: ContradictionVerdict, others: Iterable[str]) -> bool:
    if verdict.part or outlasts(older, newer):
        return False
    if one_of_several(Claim(older.text), Claim(newer.text), map(Claim, others)):
        return False
    return verdict.change >= CHANGED or newer.kind is FactKind.CORRECTION


def _outweighs(fact: Fact, rival: Fact) -> bool:
    return (
        trusted_as(fact, rival)
        and fact.sessions >= BORNE_OUT
        and fact.sessions > rival.sessions
        and (fact.used_at or fact.recorded_at) > (rival.used_at or rival.recorded_at)
        and settles(fact.text, rival.text)
        and not outlasts(rival, fact)
    )


def _supersede(sheet: WorkingFacts, gone: Fact, by: Fact, why: str, now: datetime) -> None:
    until = by.valid_from if by.valid_from > gone.valid_from else now
    sheet.write(
        ChangeAction.SUPERSEDE,
        why,
        replace(gone, state=State.SUPERSEDED, valid_until=gone.valid_until or until, superseded_at=now),
        replace(
            by,
            supersedes=tuple(dict.fromkeys((*by.supersedes, gone.id))),
            contradicts=tuple(id for id in by.contradicts if id != gone.id),
        ),
    )


def _is_unrecorded(older: Fact, newer: Fact) -> bool:
    if newer.id in older.contradicts and older.id in newer.contradicts:
        return False
    return len({*older.contradicts, newer.id}) <= SEVERAL and len({*newer.contradicts, older.id}) <= SEVERAL


def _against(fact: Fact, rival: Fact) -> Fact:
    return replace(fact, contradicts=tuple(dict.fromkeys((*fact.contradicts, rival.id))))
