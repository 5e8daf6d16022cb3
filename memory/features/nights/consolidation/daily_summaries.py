"""A day in a few lines: what each session was asked first, and what was learnt in it; after two days, in fewer.

Each line is made of one memory, so that it goes with it when that is forgotten. Only a person's own words and what was
learnt of them stand here, and nothing that is confidential.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from memory.edits import ContentTier
from memory.fact import Fact, Passage, Sensitivity, State
from memory.ports import SummaryLine

LINES = 12
"""Lines of a day."""
BRIEF = 3
"""Lines of a day in short."""
LONG = 160
SHORT = 100
"""Characters of a line."""
REST = timedelta(days=2)
"""After how long a day is put in short."""


def summarise(
    passages: Sequence[Passage], learned: Sequence[Fact], lines: Mapping[date, Sequence[SummaryLine]], now: datetime
) -> list[SummaryLine]:
    """The lines to be added for the days that are over. ``lines`` are those that there are."""
    today = now.date()
    days: dict[date, list[SummaryLine]] = defaultdict(list)
    for line in _first_requests(passages, now):
        days[line.day].append(line)
    for line in _learned(learned, now):
        days[line.day].append(line)
    added: list[SummaryLine] = []
    for day in sorted({*days, *lines}):
        if day >= today:
            continue
        known = [line for line in lines.get(day, ()) if line.tier is ContentTier.L1]
        sessions, memories = {line.session for line in known}, {line.memory for line in known}
        # The first asking of a session is told once, whenever the rest of the session comes.
        fresh = [
            line
            for line in days[day]
            if line.memory not in memories and (line.weight < 1 or line.session not in sessions)
        ]
        best = sorted(fresh, key=lambda line: (-line.weight, line.memory))[: max(LINES - len(known), 0)]
        chosen = [line for line in fresh if line in best]
        added += chosen
        if day <= today - REST and not any(line.tier is ContentTier.L0 for line in lines.get(day, ())):
            whole = sorted([*known, *chosen], key=lambda line: (-line.weight, line.memory))[:BRIEF]
            added += [
                SummaryLine(day, ContentTier.L0, line.session, shortened(line.text, SHORT), line.memory, line.weight)
                for line in whole
            ]
    return added


def shortened(text: str, most: int) -> str:
    """A text on one line, cut at a word."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    return plain[: most - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def _first_requests(passages: Sequence[Passage], now: datetime) -> list[SummaryLine]:
    """The first thing that was said in each session of each day."""
    first: dict[tuple[date, str], Passage] = {}
    for passage in sorted(passages, key=lambda each: (each.at, each.turn, each.piece, each.id)):
        if passage.origin.trusted and passage.sensitivity is Sensitivity.NORMAL and len(passage.text.split()) > 3:
            first.setdefault((passage.at.astimezone(now.tzinfo).date(), passage.session), passage)
    return [
        SummaryLine(day, ContentTier.L1, session, shortened(passage.text, LONG), passage.id, 1.0)
        for (day, session), passage in first.items()
    ]


def _learned(learned: Sequence[Fact], now: datetime) -> list[SummaryLine]:
    return [
        SummaryLine(
            fact.recorded_at.astimezone(now.tzinfo).date(),
            ContentTier.L1,
            fact.session,
            shortened(fact.text, LONG),
            fact.id,
            min(0.99, fact.importance),
        )
        for fact in sorted(learned, key=lambda each: (each.recorded_at, each.id))
        if fact.origin.trusted and fact.sensitivity is Sensitivity.NORMAL and fact.state is State.ACTIVE
    ]
