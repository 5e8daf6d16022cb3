"""A fact out of what a person says outside any session: ``palimpsest remember``."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memory.conversation import Role, Text, digest
from memory.fact import Category, Fact, Kind, Origin, Stability, Stream, Tier
from memory.learning.extract import extract
from memory.learning.importance import importance
from memory.learning.sensitivity import sensitivity
from memory.scope import Layer

SESSION = "a person's own words"
"""Stands in the place of a session."""


def in_own_words(
    said: str, owner: str, layer: Layer, id: str, now: datetime, *, kind: Kind | None = None, pinned: bool = False
) -> Fact:
    """The fact, with the person's own sentence as its text. It is classified by the rules that read conversations,
    where they see one thing in it, else it is a plain fact about the person or, in a project, about that."""
    drafts = extract(said, Origin.USER, now)
    draft = drafts[0] if len(drafts) == 1 else None
    in_project = layer is not Layer.USER
    known = kind or (draft.kind if draft else Kind.FACT)
    return Fact(
        id=id,
        text=said,
        owner=owner,
        kind=known,
        category=draft.category if draft else Category.PROJECTS if in_project else Category.PERSON,
        stream=draft.stream if draft else Stream.PROJECTS if in_project else Stream.IDENTITY,
        layer=layer,
        origin=Origin.PERSON,
        session=SESSION,
        source=digest(Role.USER, (Text(said),)),
        recorded_at=now,
        valid_from=(draft.valid_from if draft else None) or now,
        confidence=1.0,
        importance=importance(said, known, Origin.PERSON, asked=True),
        sensitivity=sensitivity(said),
        stability=Stability.VERIFIED,
        valid_until=draft.valid_until if draft else None,
        pinned=pinned or bool(draft and draft.pinned),
        wrong=draft.wrong if draft else "",
        entities=draft.entities if draft else (),
    )


def followed(fact: Fact, by: Fact) -> Fact:
    """What takes a fact's place, standing where that one stood; a rule that is shared stays shared."""
    shared = fact.tier is Tier.SHARED
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
