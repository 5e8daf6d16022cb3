"""What recurs in several projects of one user becomes knowledge of that user, in whatever they do.

It is drawn like any gist: led by the assertion that was reinforced last, trusted as its least trusted source, and with
all of them as its sources. These stay as they are in their projects, where each of them is nearer than the pattern;
so a night of the user touches nothing but what is the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.fact import Fact, FactKind, Sensitivity, State, Stream
from memory.features.nights.consolidation.diff import ChangeAction
from memory.features.nights.consolidation.gist import (
    WEIGHTY,
    Clusters,
    Similarities,
    assimilated,
    by_importance,
    fits,
    gist_of,
    is_lasting,
    reinforced,
)
from memory.features.nights.consolidation.snapshot import SimilarPair, WorkingFacts
from memory.language.contradiction import clashing
from memory.learning.candidate_matching import says_the_same
from memory.scope import Layer

GENERAL = (
    FactKind.PREFERENCE,
    FactKind.CONVENTION,
    FactKind.CORRECTION,
    FactKind.ANTI_PATTERN,
    FactKind.HEURISTIC,
    FactKind.PATTERN,
)
"""Kinds that may hold beyond the project in which they were said. Decisions, tasks and plain facts are a project's."""


@dataclass(frozen=True, slots=True)
class OtherProjects:
    """What a user's projects hold that may recur: the facts, with the user's own that are like them, which are on the
    sheet too, and how alike they are; of each pair one side is new. ``paraphrases`` say the same in
    other words."""

    facts: Mapping[str, Fact] = field(default_factory=dict)
    pairs: Sequence[SimilarPair] = ()
    paraphrases: Sequence[SimilarPair] = ()


def may_recur(fact: Fact) -> bool:
    """Whether a fact of a project may be a source of knowledge about its user."""
    return (
        fact.layer is Layer.USER_PROJECT
        and fact.kind in GENERAL
        and fact.origin.trusted
        and fact.state is State.ACTIVE
        and fact.sensitivity is not Sensitivity.RESTRICTED
        and fact.expires_at is None
        and fact.valid_until is None
        and not fact.contradicts
    )


def recur(
    sheet: WorkingFacts,
    owner: str,
    elsewhere: OtherProjects,
    derived: frozenset[str],
    clusters: Clusters,
    new_id: Callable[[], str],
) -> None:
    """Write on the sheet of a user what recurs in their projects. ``derived`` are the ids that the user's knowledge was
    drawn from already."""
    known = {**elsewhere.facts, **sheet.facts}
    near = Similarities(known, elsewhere.pairs, clusters.alike, elsewhere.paraphrases)
    taken = set(derived)
    free = {id: fact for id, fact in elsewhere.facts.items() if may_recur(fact) and id not in taken}
    for knowledge in sorted((fact for fact in sheet.facts.values() if is_lasting(fact)), key=lambda fact: fact.id):
        fitting = [fact for fact in near.of(knowledge) if fact.id in free and fact.id not in taken]
        if fitting:
            taken.update(fact.id for fact in fitting)
            grown = assimilated(knowledge, fitting)
            sheet.write(ChangeAction.ASSIMILATE, f"{len(fitting)} more of {_projects(fitting)} projects", grown)
    own = [fact for fact in sheet.facts.values() if fact.state is State.ACTIVE and fact.origin.trusted]
    for seed in sorted(free.values(), key=by_importance):
        if seed.id in taken:
            continue
        cluster = [seed, *(fact for fact in near.of(seed) if fact.id in free and fact.id not in taken)]
        lead = max(cluster, key=lambda fact: (reinforced(fact), fact.id))
        cluster = [lead, *(fact for fact in cluster if fact.id != lead.id and fits(lead, fact))]
        if lead.importance < WEIGHTY or not _recurs_enough(cluster, clusters):
            continue
        taken.update(fact.id for fact in cluster)
        lasting = gist_of(cluster, new_id())
        if any(says_the_same(lasting.text, fact.text) or clashing(lasting.text, fact.text) for fact in own):
            continue
        stream = lasting.stream if lasting.stream in (Stream.IDENTITY, Stream.FLOW) else Stream.FLOW
        lasting = replace(lasting, owner=owner, layer=Layer.USER, stream=stream, supersedes=(), pinned=False)
        why = f"{len(cluster)} facts of {_projects(cluster)} projects, led by {lead.id[:8]}"
        sheet.write(ChangeAction.GIST, why, lasting)


def _recurs_enough(cluster: Sequence[Fact], clusters: Clusters) -> bool:
    """Whether so much recurs. What stands for several counts as often as they did."""
    if _projects(cluster) < clusters.projects:
        return False
    borne_out = sum(max(fact.sessions, len(fact.derived_from)) for fact in cluster)
    # No session belongs to two projects.
    sessions = {(fact.owner, fact.session): 0 for fact in cluster}
    for fact in cluster:
        sessions[fact.owner, fact.session] = max(sessions[fact.owner, fact.session], fact.sessions)
    corrections = sum(fact.kind is FactKind.CORRECTION for fact in cluster)
    if sum(sessions.values()) < clusters.sessions:
        return False
    return borne_out >= clusters.facts or corrections >= clusters.corrections


def _projects(facts: Sequence[Fact]) -> int:
    return len({fact.owner for fact in facts})
