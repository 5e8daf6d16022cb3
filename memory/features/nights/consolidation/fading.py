"""What has faded below the floor leaves recall, and drafts that nobody decided wait no longer; both stay in the store
and can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory.fact import State
from memory.features.nights.consolidation.diff import ChangeAction
from memory.features.nights.consolidation.snapshot import WorkingFacts
from memory.strength import effective


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
