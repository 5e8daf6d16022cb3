"""Knowledge out of episodes: what several facts of several sessions say becomes one lasting fact.

The gist is the assertion that was reinforced most recently, with all of them as its sources; what fits knowledge that
there is becomes one more source of it. What contradicts knowledge follows it like any other change, see ``rivals``.
Only what a person said, or only what an assistant said or did, makes one gist: its trust is the lowest of its sources,
and nobody's word shall lose by standing beside a lesser one. What tools, the web or sub-agents said makes none.

Which of several wordings of one thing says it best: the one that has most of what the others have, in few words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.candidate import AGAIN
from memory.fact import Fact, FactKind, MemoryTier, Origin, Sensitivity, Stability, State
from memory.features.nights.consolidation.diff import ChangeAction
from memory.features.nights.consolidation.snapshot import SimilarPair, WorkingFacts, lowest
from memory.language.contradiction import clashing
from memory.language.polarity import without_aside
from memory.language.terms import words_of

FEW: Final = 4
"""Words that every wording may have beside those that tell something."""


def clearest(
    texts: Sequence[str],
    beside: Sequence[str] = (),
    brevity: float = 0.5,
    weight: Callable[[str], float] = lambda text: 1.0,
) -> str:
    """The clearest of some texts, which say the same; the first of several that are as clear.

    What stands ``beside`` says it, too, but is not to be chosen. ``brevity`` is the power of its length by which a text
    is held back; ``weight`` says what else makes one clear.

    Raises:
        ValueError: when there is none.
    """
    word_lists = [words_of(text) for text in texts]
    counted = Counter(word for own in (*word_lists, *map(words_of, beside)) for word in own)

    def worth(place: int) -> tuple[float, int]:
        own = word_lists[place]
        return weight(texts[place]) * sum(counted[word] - 1 for word in own) / (len(own) + FEW) ** brevity, -place

    return texts[max(range(len(texts)), key=worth)]


WEIGHTY = 0.7
"""The least importance of what leads a gist: "we should meet some day", said thrice, is no knowledge."""
SUREST = 0.95
"""Confidence that a gist reaches at most: it is still drawn by a rule."""
_LASTING = (MemoryTier.LONG_TERM, MemoryTier.SHARED)
_OBSERVED = (Origin.ASSISTANT, Origin.BEHAVIOUR)
_SENSITIVITY = {sensitivity: place for place, sensitivity in enumerate(Sensitivity)}


@dataclass(frozen=True, slots=True)
class Clusters:
    """``alike`` is the cosine of what belongs together; so many facts of so many sessions make a gist, of corrections
    fewer; what recurs in so many projects of a user is knowledge of that user; what was said so often in so
    many sessions a person might approve, and so many times as much brings it back after it was rejected."""

    alike: float = 0.72
    facts: int = 3
    sessions: int = 2
    corrections: int = 2
    projects: int = 2
    candidate_facts: int = 5
    candidate_sessions: int = 3
    candidate_again: float = AGAIN


class Similarities:
    """The likenesses of some facts."""

    def __init__(
        self, facts: Mapping[str, Fact], pairs: Sequence[SimilarPair], least: float, same: Sequence[SimilarPair] = ()
    ) -> None:
        self._facts = facts
        self._beside: dict[str, dict[str, float]] = defaultdict(dict)
        for pair in pairs:
            if pair.cosine >= least:
                self._beside[pair.one][pair.other] = pair.cosine
                self._beside[pair.other][pair.one] = pair.cosine
        for pair in same:
            self._beside[pair.one].setdefault(pair.other, pair.cosine)
            self._beside[pair.other].setdefault(pair.one, pair.cosine)

    def around(self, fact: Fact) -> Iterable[str]:
        """The ids of a fact and of what is like it, whether or not it may stand for the same."""
        return fact.id, *self._beside.get(fact.id, ())

    def of(self, fact: Fact) -> Iterator[Fact]:
        """What is like a fact and may stand for the same, the likest first."""
        for id, _ in sorted(self._beside[fact.id].items(), key=lambda each: (-each[1], each[0])):
            other = self._facts.get(id)
            if other is not None and other.state is State.ACTIVE and fits(fact, other):
                yield other


def draw(
    sheet: WorkingFacts,
    pairs: Sequence[SimilarPair],
    same: Sequence[SimilarPair],
    derived: frozenset[str],
    clusters: Clusters,
    new_id: Callable[[], str],
) -> None:
    """Write on the sheet what becomes knowledge. ``same`` are pairs that say the same though they are not alike;
    ``derived`` are the ids that knowledge was drawn from already."""
    near = Similarities(sheet.facts, pairs, clusters.alike, same)
    taken = set(derived)
    for knowledge in sorted((fact for fact in sheet.facts.values() if is_lasting(fact)), key=lambda fact: fact.id):
        fitting = [fact for fact in near.of(knowledge) if _may_be_source(fact) and fact.id not in taken]
        if fitting:
            taken.update(fact.id for fact in fitting)
            grown = assimilated(knowledge, fitting)
            sheet.write(
                ChangeAction.ASSIMILATE, f"{len(fitting)} more that fit, {len(grown.derived_from)} in all", grown
            )
    free = {id: fact for id, fact in sheet.facts.items() if _may_be_source(fact) and id not in taken}
    for seed in sorted(free.values(), key=by_importance):
        if seed.id in taken or not any(id in free and free[id].importance >= WEIGHTY for id in near.around(seed)):
            continue
        cluster = _cluster(seed, near, free, taken)
        lead, *_ = cluster
        if lead.importance < WEIGHTY or not _enough(cluster, clusters):
            continue
        taken.update(fact.id for fact in cluster)
        gist = gist_of(cluster, new_id())
        why = f"{len(cluster)} facts in {_sessions(cluster)} sessions, led by {lead.id[:8]}"
        sheet.write(ChangeAction.GIST, why, gist, replace(lead, state=State.ARCHIVED))


def _cluster(seed: Fact, near: Similarities, free: Mapping[str, Fact], taken: set[str]) -> list[Fact]:
    """What belongs to a seed, the one that was reinforced most recently first: all of it fits that one."""
    around = [seed, *(fact for fact in near.of(seed) if fact.id in free and fact.id not in taken)]
    lead = max(around, key=lambda fact: (reinforced(fact), fact.id))
    own = [fact for fact in near.of(lead) if fact.id in free and fact.id not in taken]
    return [lead, *own]


def _enough(cluster: Sequence[Fact], clusters: Clusters) -> bool:
    corrections = sum(fact.kind is FactKind.CORRECTION for fact in cluster)
    if _sessions(cluster) < clusters.sessions:
        return False
    return len(cluster) >= clusters.facts or corrections >= clusters.corrections


def by_importance(fact: Fact) -> tuple[object, ...]:
    """Corrections come first, then what was reinforced last."""
    return fact.kind is not FactKind.CORRECTION, -reinforced(fact).timestamp(), fact.id


def reinforced(fact: Fact) -> datetime:
    """When a fact was used, or else said, last."""
    return fact.used_at or fact.recorded_at


def _sessions(facts: Sequence[Fact]) -> int:
    return len({fact.session for fact in facts})


def is_lasting(fact: Fact) -> bool:
    """Whether a fact is knowledge that was drawn from others."""
    return fact.state is State.ACTIVE and fact.tier in _LASTING and bool(fact.derived_from)


def _may_be_source(fact: Fact) -> bool:
    """Whether a fact may be a source of knowledge. What is contested may not."""
    return (
        fact.state is State.ACTIVE
        and fact.tier not in _LASTING
        and (fact.origin.trusted or fact.origin in _OBSERVED)
        and fact.sensitivity is not Sensitivity.RESTRICTED
        and fact.kind not in (FactKind.TASK, FactKind.OBSERVATION)
        and fact.expires_at is None
        and fact.valid_until is None
        and not fact.contradicts
        and not fact.pinned
    )


def fits(one: Fact, other: Fact) -> bool:
    """Whether two facts may make one gist."""
    return one.origin.trusted is other.origin.trusted and not clashing(one.text, other.text)


def gist_of(cluster: Sequence[Fact], id: str) -> Fact:
    """The knowledge that some facts make, led by the first of them, in the words that say it best."""
    lead = cluster[0]
    return replace(
        lead,
        id=id,
        text=_clearest_wording(cluster),
        core="",
        tier=MemoryTier.LONG_TERM,
        stability=Stability.VERIFIED,
        origin=lowest(cluster),
        confidence=min(SUREST, max(fact.confidence for fact in cluster) + 0.02 * (len(cluster) - 1)),
        importance=max(fact.importance for fact in cluster),
        sensitivity=max((fact.sensitivity for fact in cluster), key=_SENSITIVITY.__getitem__),
        access=sum(fact.access for fact in cluster),
        sessions=max(_sessions(cluster), max(fact.sessions for fact in cluster)),
        used_at=reinforced(lead),
        supersedes=(lead.id,),
        contradicts=(),
        derived_from=tuple(fact.id for fact in sorted(cluster, key=lambda each: (each.recorded_at, each.id))),
        entities=tuple(dict.fromkeys(name for fact in cluster for name in fact.entities)),
    )


def _clearest_wording(cluster: Sequence[Fact]) -> str:
    """The clearest wording of a cluster that has every word of what was said last: that may name an exception."""
    lead = without_aside(cluster[0].text)
    lead_words = words_of(lead)
    texts = [without_aside(fact.text) for fact in cluster]
    return clearest([lead, *(text for text in texts if lead_words <= words_of(text))])


def assimilated(knowledge: Fact, fitting: Sequence[Fact]) -> Fact:
    """Knowledge with more sources that fit it."""
    return replace(
        knowledge,
        origin=lowest([knowledge, *fitting]),
        sensitivity=max((fact.sensitivity for fact in (knowledge, *fitting)), key=_SENSITIVITY.__getitem__),
        access=knowledge.access + len(fitting),
        sessions=knowledge.sessions + len({fact.session for fact in fitting} - {knowledge.session}),
        used_at=max(reinforced(knowledge), *map(reinforced, fitting)),
        derived_from=(*knowledge.derived_from, *sorted(fact.id for fact in fitting)),
    )
