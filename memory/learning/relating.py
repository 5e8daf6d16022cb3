"""How what is said stands to what is known: which facts are worth reading beside it, and what the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.fact import Category, Draft, Fact, Origin, State
from memory.understanding.encoder import Encoder, Relation

AT_ONCE: Final = 3
"""Facts that are read beside a draft: the ones most like it."""
LIKE: Final = 0.25
"""Least cosine, or share of rare words, of a fact that may say something of the same subject."""
_AT_WORK: Final = (Category.WORKFLOWS, Category.TECHNICAL, Category.PROJECTS, Category.PEOPLE)
"""What the encoder was fitted to: how work is done, the project, the people in it."""
_ASIDE: Final = re.compile(r" \[(?:on|chosen): .*\]$", re.DOTALL)


def beside(draft: Draft, neighbours: Sequence[tuple[Fact, float, float]]) -> list[Fact]:
    """The facts to read beside a draft, the likest first. ``neighbours`` carry cosine and share of rare words."""
    if draft.origin is not Origin.USER or draft.category not in _AT_WORK:
        return []
    near = [
        (max(cosine, lexical), fact)
        for fact, cosine, lexical in neighbours
        if fact.state is State.ACTIVE and fact.category in _AT_WORK and max(cosine, lexical) >= LIKE
    ]
    return [fact for _, fact in sorted(near, key=lambda each: (-each[0], each[1].id))[:AT_ONCE]]


def relations(draft: Draft, facts: Sequence[Fact], encoder: Encoder) -> dict[str, Relation]:
    """How a draft stands to some facts, by their ids."""
    said = _ASIDE.sub("", draft.text)
    read = encoder.relations([(_ASIDE.sub("", fact.text), said) for fact in facts])
    return {fact.id: relation for fact, relation in zip(facts, read, strict=True)}
