"""A night, planned: the passes one after the other, each of them thrown out whole where it would take too much.

A day in a few lines: what each session was asked first, and what was learnt in it; after two days, in fewer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from memory.edits import ContentTier
from memory.fact import Category, Fact, Passage, Sensitivity, State
from memory.features.nights.consolidation.compaction import compact, plain
from memory.features.nights.consolidation.contradictions import resolve
from memory.features.nights.consolidation.cross_project import OtherProjects, recur
from memory.features.nights.consolidation.diff import Diff, DiscardedPass
from memory.features.nights.consolidation.duplicates import end_drafts, fade, merge
from memory.features.nights.consolidation.gist import Clusters, draw
from memory.features.nights.consolidation.rule_candidates import of_subjects, rules
from memory.features.nights.consolidation.snapshot import Snapshot, WorkingFacts
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
    for line in _opening_requests(passages, now):
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


def _opening_requests(passages: Sequence[Passage], now: datetime) -> list[SummaryLine]:
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


HALF = 0.5
NOWHERE = OtherProjects()
SEVERAL = 4
"""Facts of a category that a pass may take out of recall, however few there are, where what they say lives on in
another fact."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a night decides. ``floor`` is the strength below which a fact is archived."""

    floor: float = 0.02
    days: bool = True
    clusters: Clusters = field(default_factory=Clusters)


def plan(
    snapshot: Snapshot, now: datetime, how: Rules, new_id: Callable[[], str], elsewhere: OtherProjects = NOWHERE
) -> Diff:
    """What one owner's night changes. The same snapshot, moment, way and ids give the same. ``elsewhere`` is what a
    user's projects hold, in the night of the user."""
    sheet = WorkingFacts(snapshot.facts)
    held = dict(snapshot.active)
    thrown: list[DiscardedPass] = []

    def passing(name: str, work: Callable[[WorkingFacts], None], spared: int = SEVERAL) -> None:
        nonlocal sheet
        tried = WorkingFacts(sheet.facts)
        work(tried)
        lost = tried.lost()
        too_much = [
            DiscardedPass(name, category, count, held.get(category, 0))
            for category, count in sorted(lost.items())
            if count >= spared and count > HALF * held.get(category, 0)
        ]
        if too_much:
            thrown.extend(too_much)
            return
        tried.changes = [*sheet.changes, *tried.changes]
        sheet = tried
        held.update(_active_by_category(tried, snapshot))

    passing("merge", lambda tried: merge(tried, snapshot.pairs))
    passing("resolve", lambda tried: resolve(tried, snapshot.pairs, now))
    passing(
        "gist", lambda tried: draw(tried, snapshot.pairs, snapshot.paraphrases, snapshot.derived, how.clusters, new_id)
    )
    passing("recur", lambda tried: recur(tried, snapshot.owner, elsewhere, snapshot.derived, how.clusters, new_id))
    passing("fade", lambda tried: fade(tried, snapshot.fading, now, how.floor), spared=1)
    passing("drafts", lambda tried: end_drafts(tried, snapshot.drafts, now))
    lines = summarise(snapshot.said, snapshot.learned, snapshot.lines, now) if how.days else []
    candidates = rules(sheet.facts, snapshot.said_by, how.clusters, new_id)
    candidates += of_subjects(
        snapshot.subjects,
        sheet.facts,
        candidates,
        how.clusters,
        new_id,
        snapshot.candidates,
        snapshot.said_by,
        snapshot.wordings,
    )
    previews = tuple(compact(snapshot.unread))
    return Diff(
        snapshot.owner,
        tuple(sheet.changes),
        tuple(lines),
        tuple(candidates),
        tuple(thrown),
        previews,
        tuple(plain(snapshot.heard)),
    )


def _active_by_category(sheet: WorkingFacts, snapshot: Snapshot) -> Mapping[Category, int]:
    whole = WorkingFacts(snapshot.facts)
    whole.facts, whole.changes = sheet.facts, sheet.changes
    lost, new = whole.lost(), {id for id in whole.touched() if id not in snapshot.facts}
    counts = Counter(sheet.facts[id].category for id in new)
    return {category: count - lost[category] + counts[category] for category, count in snapshot.active.items()}
