"""A fact out of what a person says outside any session: ``palimpsest remember``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.conversation import Role, Text, digest
from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Stability, State, Stream, said_again
from memory.language.calendar import MONTH_NAME, WEEKDAY
from memory.language.claim import Claim
from memory.language.narrowing import takes_over
from memory.learning.importance import importance
from memory.learning.outcome import contradicting, replacing
from memory.learning.reconcile import Contradict, Supersede, reconcile
from memory.learning.sensitivity import sensitivity
from memory.scope import Layer
from memory.services.lessons import rules

SESSION = "a person's own words"
"""Stands in the place of a session."""

_LATER = re.compile(
    r"(?i)\b(?:tomorrow|next|soon|later|will|shall|going to|starting|plan(?:s|ned|ning)?|"
    rf"(?:from|as of|on|in) {WEEKDAY}|(?:from|as of|in) {MONTH_NAME})\b"
)


def in_own_words(
    text: str, owner: str, layer: Layer, id: str, now: datetime, *, kind: FactKind | None = None, pinned: bool = False
) -> Fact:
    """The fact, with the person's own sentence as its text. It is classified by the rules that read conversations,
    where they see one thing in it, else it is a plain fact about the person or, in a project, about that."""
    drafts = rules.drafts(text, Origin.USER, now)
    draft = drafts[0] if len(drafts) == 1 else None
    in_project = layer is not Layer.USER
    known = kind or (draft.kind if draft else FactKind.FACT)
    return Fact(
        id=id,
        text=text,
        owner=owner,
        kind=known,
        category=draft.category if draft else Category.PROJECTS if in_project else Category.PERSON,
        stream=draft.stream if draft else Stream.PROJECTS if in_project else Stream.IDENTITY,
        layer=layer,
        origin=Origin.PERSON,
        session=SESSION,
        source=digest(Role.USER, (Text(text),)),
        recorded_at=now,
        valid_from=(draft.valid_from if draft else None) or now,
        confidence=1.0,
        importance=importance(text, known, Origin.PERSON, requested=True),
        sensitivity=sensitivity(text),
        stability=Stability.VERIFIED,
        valid_until=draft.valid_until if draft else None,
        expires_at=draft.expires_at if draft else None,
        pinned=pinned or bool(draft and draft.pinned),
        wrong=draft.wrong if draft else "",
        entities=draft.entities if draft else (),
    )


def the_same(text: str, found: Iterable[Fact]) -> Fact | None:
    """The one of some facts that holds a text letter for letter, whatever their case."""
    return next(
        (each for each in found if each.text.casefold() == text.casefold() and each.state is State.ACTIVE), None
    )


def vouched(known: Fact, fact: Fact, kind: FactKind | None = None) -> Fact:
    """What was known already, letter for letter, as the person's own word."""
    return replace(
        known,
        origin=Origin.PERSON,
        stability=Stability.VERIFIED,
        confidence=1.0,
        importance=max(known.importance, fact.importance),
        pinned=known.pinned or fact.pinned,
        kind=kind or known.kind,
    )


def met(stated: Fact, neighbours: Sequence[tuple[Fact, float, float]], now: datetime) -> list[Fact]:
    """What a person says, first, and behind it the known facts that it ends or contradicts, as they are from now on.

    ``neighbours`` are as :func:`memory.learning.reconcile.reconcile` takes them. It ends one only where all that this
    one says of its subject stands in it, too, and from now on; else that both may not hold is noted on both sides, for
    the person to settle. What is only said again in other words stands beside what is known: a night makes one of both.
    """
    known = {fact.id: fact for fact, _, _ in neighbours}
    match reconcile(said_again(stated), neighbours, now, now):
        case Supersede(ids, _, others):
            claim, later = Claim(stated.text), _holds_only_later(stated, now)
            gone = [id for id in ids if not later and takes_over(Claim(known[id].text), claim)]
            rivals = [known[id] for id in (*ids, *others) if id not in gone]
            return replacing(stated, [known[id] for id in gone], rivals, known, now)
        case Contradict(ids):
            return contradicting(stated, [known[id] for id in ids])
    return [stated]


def _holds_only_later(fact: Fact, now: datetime) -> bool:
    return fact.valid_from > now or _LATER.search(fact.text) is not None


def followed(fact: Fact, by: Fact) -> Fact:
    """What takes a fact's place, standing where that one stood; a rule that is shared stays shared."""
    shared = fact.tier is MemoryTier.SHARED
    return replace(
        by,
        tier=fact.tier if shared else by.tier,
        stability=fact.stability if shared else by.stability,
        category=fact.category,
        stream=fact.stream,
        pinned=fact.pinned,
        supersedes=(fact.id,),
        importance=max(fact.importance, by.importance),
    )
