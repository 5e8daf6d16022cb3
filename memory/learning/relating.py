"""How what is said stands to what is known: which facts are worth reading beside it, and what the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.fact import Category, Draft, Fact, Origin, State
from memory.language.scopes import apart, circumstances, narrower
from memory.language.vocabulary import vocabulary
from memory.language.words import stem, tokens
from memory.understanding.encoder import Encoder, Relation

AT_ONCE: Final = 3
"""Facts that are read beside a draft: the ones most like it."""
LIKE: Final = 0.25
"""Least cosine, or share of rare words, of a fact that may say something of the same subject."""
_AT_WORK: Final = (Category.WORKFLOWS, Category.TECHNICAL, Category.PROJECTS, Category.PEOPLE)
"""What the encoder was fitted to: how work is done, the project, the people in it."""
_ALSO: Final = vocabulary("also too additionally besides auch außerdem zusätzlich también además aussi também")
"""Words by which something comes beside what there is."""
_DAYS: Final = frozenset(
    stem(day)
    for day in vocabulary(
        "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
        "saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs "
        "donnerstags freitags lunes martes miércoles jueves viernes"
    )
)
_ASIDE: Final = re.compile(r" \[(?:on|chosen): .*\]$", re.DOTALL)


def beside(draft: Draft, neighbours: Sequence[tuple[Fact, float, float]]) -> list[Fact]:
    """The facts to read beside a draft, the likest first. ``neighbours`` carry cosine and share of rare words."""
    if draft.origin is not Origin.USER or draft.category not in _AT_WORK:
        return []
    near = [
        (max(cosine, lexical), fact)
        for fact, cosine, lexical in neighbours
        if fact.state in (State.ACTIVE, State.DRAFT)
        and fact.category in _AT_WORK
        and max(cosine, lexical) >= LIKE
        and may_replace(fact.text, draft.text)
    ]
    return [fact for _, fact in sorted(near, key=lambda each: (-each[0], each[1].id))[:AT_ONCE]]


def may_replace(older: str, newer: str) -> bool:
    """Whether a statement may stand in another one's place as far as its form tells: it is about no part of it, comes
    beside nothing, and where the older one tells a day or a number it tells one, too."""
    before, after = circumstances(older), circumstances(newer)
    if apart(before, after, days=False) or narrower(
        {group: names for group, names in before.items() if group != "day"},
        {group: names for group, names in after.items() if group != "day"},
    ):
        return False
    said, held = {word.lower() for word in tokens(newer)}, {word.lower() for word in tokens(older)}
    if said & _ALSO:
        return False
    if _has_number(held) and not _has_number(said):
        return False
    days = {stem(word) for word in held} & _DAYS and not {stem(word) for word in said} & _DAYS
    return not days or _has_number(said)


def _has_number(words: Iterable[str]) -> bool:
    return any(any(map(str.isdigit, word)) for word in words)


def relations(draft: Draft, facts: Sequence[Fact], encoder: Encoder) -> dict[str, Relation]:
    """How a draft stands to some facts, by their ids."""
    said = _ASIDE.sub("", draft.text)
    read = encoder.relations([(_ASIDE.sub("", fact.text), said) for fact in facts])
    return {fact.id: relation for fact, relation in zip(facts, read, strict=True)}
