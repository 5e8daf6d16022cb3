"""The words behind a memory that is shown, and what it counts for, by what its checkout says. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memory.checkout import BranchStage, Checkout, CitationKind, LearnedAt
from memory.fact import Fact, Origin, Passage
from memory.features.checkouts.checking import CitationState, CitationVerdict
from memory.hooks.feature import MemoryMark

GONE: Final = 0.4
CHANGED: Final = 0.9
REVERTED: Final = 0.4
HALF_LIFE: Final = 7.0
"""Days after which what was learnt on a branch that was dropped counts for half."""
FADED: Final = 0.1
"""What counts for less is left out."""
SHORT: Final = 7
"""Characters of a commit that are shown."""
OWN_FILES: Final = 3
"""What a project's own files say that is shown at once."""
NAMES: Final = 2
"""Citations that are told of one memory."""

_ORDER: Final = {state: place for place, state in enumerate(CitationState)}
_PLAIN: Final = re.compile(r"[\w./@:+#() -]{1,120}")


def staged(learnt: LearnedAt, here: Checkout | None, own: frozenset[str], now: datetime) -> MemoryMark:
    """How a memory is shown that was learnt on a branch, to who works ``here``, with these commits of its ``own``; None
    where it is not known (any more) what is checked out there."""
    at = learnt.checkout
    if not at.staged or learnt.stage is BranchStage.MERGED:
        return MemoryMark()
    if here is not None and ((here.branch == at.branch and bool(here.branch)) or learnt.anchor in own):
        return MemoryMark()
    on = f"learnt on branch {at.branch}" if _PLAIN.fullmatch(at.branch) else "learnt on another branch"
    if learnt.stage is BranchStage.REVERTED:
        return MemoryMark(f"{on}, merged and reverted since", REVERTED)
    if learnt.stage is BranchStage.DROPPED:
        days = max((now - learnt.since).total_seconds() / 86_400, 0.0) if learnt.since else 0.0
        weight = 0.5 ** (1.0 + days / HALF_LIFE)
        return MemoryMark(f"{on}, dropped since", weight if weight >= FADED else 0.0)
    return MemoryMark(on, CHANGED) if here is None else MemoryMark("", 0.0)


def checked(verdicts: Sequence[CitationVerdict], learnt_at: str, now_at: str, *, more: bool = False) -> MemoryMark:
    """How a memory is shown whose citations were looked up. ``learnt_at`` and ``now_at`` are commits; ``more``: it
    names what is not there yet, so that it does not hold as a whole."""
    if not verdicts:
        return MemoryMark()
    worst = max((each.state for each in verdicts), key=_ORDER.__getitem__)
    of = [each for each in verdicts if each.state is worst]
    seen_at = of[0].cited.at or learnt_at
    since = f"since {seen_at[:SHORT]}" if seen_at else "since then"
    match worst:
        case CitationState.HOLDS:
            return MemoryMark(f"holds as of {now_at[:SHORT]}" if now_at and not more else "", sure=True)
        case CitationState.CHANGED:
            return MemoryMark(
                f"changed {since}{_describe(of)}", CHANGED if any(_counts_against(each) for each in of) else 1.0
            )
        case CitationState.MOVED:
            return MemoryMark(f"moved {since}{_describe(of)}")
        case CitationState.GONE:
            return MemoryMark(f"gone {since}{_describe(of)}", GONE)


def crowding(held: Sequence[Fact | Passage]) -> frozenset[str]:
    """Of memories, the best first, those that only say more of a project's own files: who asks how the tests are run
    shall not be told all that the files say. The two best stay, and what the best one's file says beside it."""
    own = [each for each in held if isinstance(each, Fact) and each.origin is Origin.FILE]
    file = _file_in_sentence(own[0]) if own else ""
    near = [each for at, each in enumerate(own) if at < 2 or _file_in_sentence(each) == file][:OWN_FILES]
    return frozenset(each.id for each in own) - frozenset(each.id for each in near)


def _file_in_sentence(fact: Fact) -> str:
    return fact.text.rpartition("(")[2]


def joined(*marks: MemoryMark) -> MemoryMark:
    """Several marks as one."""
    weight = 1.0
    for each in marks:
        weight *= each.weight
    worded = [each for each in marks if each.words]
    return MemoryMark("; ".join(each.words for each in worded), weight, all(each.sure for each in worded))


def _counts_against(verdict: CitationVerdict) -> bool:
    """Whether a change speaks against what was said: that a file has other lines does not."""
    return verdict.cited.sort is not CitationKind.FILE or bool(verdict.cited.line)


def _describe(verdicts: Sequence[CitationVerdict]) -> str:
    """What of it is gone, or where it is now."""
    names = []
    for each in verdicts[:NAMES]:
        name, now = each.cited.name, each.now
        if not _PLAIN.fullmatch(name) or (now and not _PLAIN.fullmatch(now)):
            continue
        if each.state is CitationState.MOVED:
            names.append(
                f"now {now}" if name in now or each.cited.sort is CitationKind.FILE else f"{name} is now in {now}"
            )
        elif now:
            names.append(now if each.cited.sort in (CitationKind.VERSION, CitationKind.FILE) else f"{name} is {now}")
        else:
            file = each.cited.file
            names.append(f"{name} in {file}" if file and file != name and _PLAIN.fullmatch(file) else name)
    return f": {', '.join(names)}" if names else ""
