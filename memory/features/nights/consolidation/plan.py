"""A night, planned: the passes one after the other, each of them thrown out whole where it would take too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.fact import Category
from memory.features.nights.consolidation.compaction import compact
from memory.features.nights.consolidation.contradictions import resolve
from memory.features.nights.consolidation.courtesy_removal import plain
from memory.features.nights.consolidation.cross_project import OtherProjects, recur
from memory.features.nights.consolidation.daily_summaries import summarise
from memory.features.nights.consolidation.diff import Diff, DiscardedPass
from memory.features.nights.consolidation.duplicates import merge
from memory.features.nights.consolidation.fading import end_drafts, fade
from memory.features.nights.consolidation.gist import Clusters, draw
from memory.features.nights.consolidation.rule_candidates import of_subjects, rules
from memory.features.nights.consolidation.snapshot import Snapshot, WorkingFacts

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
        held.update(_active(tried, snapshot))

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


def _active(sheet: WorkingFacts, snapshot: Snapshot) -> Mapping[Category, int]:
    """How many facts of each category take part in recall now."""
    whole = WorkingFacts(snapshot.facts)
    whole.facts, whole.changes = sheet.facts, sheet.changes
    lost, new = whole.lost(), {id for id in whole.touched() if id not in snapshot.facts}
    counts = Counter(sheet.facts[id].category for id in new)
    return {category: count - lost[category] + counts[category] for category, count in snapshot.active.items()}
