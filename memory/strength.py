"""How strong a memory still is: decay by a power law, reinforcement by use.

    effective = base · log2(access + 1) · log2(sessions + 1) · max(age_days, 1)^(−λ)

Making a memory counts as its first access in its first session, so a new one has exactly its base. What is used
often fades slower (λ falls with the frequency of access), and lasting knowledge slower still. It is computed when it
is read and never stored, so it can neither drift nor be lost; and it is saturated before it is mixed with
relevance, so that no memory, however often used, stands above what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log2

from memory.fact import Fact, MemoryTier


@dataclass(frozen=True, slots=True)
class Decay:
    """How fast memories fade.

    ``episodic`` is λ of what was never used again; ``knowledge`` is by how much λ is multiplied for long-term and
    shared memories; ``monthly`` is how many uses a month halve λ; ``half`` is the strength that saturates to ½.
    """

    episodic: float = 0.5
    knowledge: float = 0.2
    monthly: float = 3.0
    half: float = 1.0


DECAY = Decay()

HALF_LIFE_DAYS = 30.0
"""Days after which a memory is half as recent."""


def fading(fact: Fact, now: datetime, decay: Decay = DECAY) -> float:
    """λ: the exponent by which a fact fades. Uses are counted per month of its life, the making left out."""
    slowed = decay.episodic
    if fact.access > 1:
        months = max(_days(fact.recorded_at, now) / 30.0, 1.0)
        slowed /= 1.0 + (fact.access - 1) / months / decay.monthly
    return slowed * decay.knowledge if _lasts(fact) else slowed


def effective(fact: Fact, now: datetime, decay: Decay = DECAY) -> float:
    """The strength of a fact at this moment, 0 or more. Its base is its confidence; what is pinned does not fade.

    Age is counted from the last use, or from the recording where it was never used.
    """
    reinforced = fact.confidence * log2(fact.access + 1) * log2(fact.sessions + 1)
    if fact.pinned:
        return reinforced
    age = _days(fact.used_at or fact.recorded_at, now)
    return reinforced * float(age ** -fading(fact, now, decay)) if age > 1.0 else reinforced


def saturated(fact: Fact, now: datetime, decay: Decay = DECAY) -> float:
    """The strength of a fact as a part of a score, in 0..1; 1 for what is pinned."""
    if fact.pinned:
        return 1.0
    strength = effective(fact, now, decay)
    return strength / (strength + decay.half)


def standing(fact: Fact, now: datetime, decay: Decay = DECAY) -> tuple[float, float]:
    """The :func:`recency` of a fact and its :func:`saturated` strength: the same numbers, in one go for what is looked
    at by the hundred, most of which was never used again."""
    days = _days(fact.recorded_at, now)
    recent = 0.5 ** (days / HALF_LIFE_DAYS)
    if fact.access > 1 or fact.sessions > 1 or fact.used_at is not None or fact.pinned:
        return recent, saturated(fact, now, decay)
    strength = fact.confidence
    if days > 1.0:
        strength *= days ** -(decay.episodic * decay.knowledge if _lasts(fact) else decay.episodic)
    return recent, strength / (strength + decay.half)


def curve(fact: Fact, uses: Sequence[datetime], times: Sequence[datetime], decay: Decay = DECAY) -> list[float]:
    """The strength of a fact at some times, past and to come, if nobody uses it any more.

    ``uses`` are the sessions in which it was used, by their time; the first one is where it was made. The counters do
    not say when each single use was: the uses within a session are spread evenly over the sessions.
    """
    known = sorted(at for at in uses if at > fact.recorded_at)
    last = fact.used_at
    later = known if last is None or (known and known[-1] >= last) else [*known, last]
    strengths = []
    for at in times:
        if at < fact.recorded_at:
            strengths.append(0.0)
            continue
        before = [use for use in later if use <= at]
        share = len(before) / len(later) if later else 1.0
        then = replace(
            fact,
            access=1 + round((fact.access - 1) * share),
            sessions=1 + round((fact.sessions - 1) * share),
            used_at=before[-1] if before else None,
        )
        strengths.append(effective(then, at, decay))
    return strengths


def recency(at: datetime, now: datetime, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """1 for what is new, ½ after a half-life, 0 for what is long past; never above 1 where clocks disagree."""
    return float(0.5 ** (_days(at, now) / half_life_days))


def _lasts(fact: Fact) -> bool:
    return fact.tier is MemoryTier.LONG_TERM or fact.tier is MemoryTier.SHARED


def _days(since: datetime, now: datetime) -> float:
    days = (now - since).total_seconds() / 86400.0
    return days if days > 0.0 else 0.0
