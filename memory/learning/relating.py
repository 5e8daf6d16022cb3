"""How what is said stands to what is known: which facts are worth reading beside it, and what the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from memory.fact import Category, Fact, FactDraft, FactKind, Origin, State
from memory.language.answered import without_answered
from memory.language.calendar import WEEKDAYS
from memory.language.claim import Claim
from memory.language.conditions import apart, circumstances, elsewhere, narrower
from memory.language.contradiction import NEGATION, compare
from memory.language.narrowing import narrowed
from memory.language.polarity import on_one_side, sides, without_aside
from memory.language.words import STOP, stem, tokens, vocabulary, words
from memory.understanding.encoder import Relate, Relation

AT_ONCE: Final = 3
"""Facts that are read beside a draft: the ones most like it."""
DRAFTS: Final = 1
"""Drafts that are read beside those."""
LIKE: Final = 0.25
"""Least cosine, or share of rare words of either, of a fact that may say something of the same subject: of two short
statements of which one changes the other, a third have a cosine below .4."""
FEW: Final = 6
"""Content words of a statement that tell what it is about."""
OPENING: Final = 4
"""Words of a statement among which "also" says that it comes beside another."""
EVEN_SO: Final = 0.6
"""How likely it must be that two statements cannot both hold whose form speaks against that."""
SEVERAL: Final = 12
"""Words of a statement at most that tells one thing: of a longer one something may change that tells less."""
_AT_WORK: Final = (Category.WORKFLOWS, Category.TECHNICAL, Category.PROJECTS, Category.PEOPLE)
"""What the encoder was fitted to: how work is done, the project, the people in it."""
_ALSO: Final = vocabulary("also too additionally besides auch außerdem zusätzlich también además aussi também")
"""Words by which something comes beside what there is."""
_OF_ANY: Final = frozenset(
    stem(word)
    for word in vocabulary(
        "use uses using used here please again wrong told said say instead rather bitte hier nutz nimm benutze "
        "usa usar aquí"
    )
)
"""Words that an instruction may have, whatever it is about."""
_DENIALS: Final = vocabulary(
    "not no never don't dont won't can't isn't aren't without instead rather stop nicht kein keine nie statt ohne no "
    "nunca sin"
)
_DAYS: Final = frozenset(
    stem(day)
    for day in vocabulary(
        "montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs "
        "donnerstags freitags lunes martes miércoles jueves viernes"
    ).union(WEEKDAYS, [f"{day}s" for day in WEEKDAYS])
)
_NUMBERS: Final = vocabulary(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf fünfzehn zwanzig dreißig vierzig fünfzig sechzig "
    "hundert tausend dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta "
    "cincuenta cien mil"
)
"""Numbers as words; "one" is mostly none."""
_NOT_SO: Final = re.compile(
    r"\b(?:not|no longer|instead of|rather than|from|statt|nicht(?: mehr)?|von|en (?:vez|lugar) de|no)\s+[\w.:-]+",
    re.IGNORECASE,
)


def beside(draft: FactDraft, neighbours: Sequence[tuple[Fact, float, float]]) -> list[Fact]:
    """The facts to read beside a draft, the likest first. ``neighbours`` carry cosine and share of rare words."""
    if draft.origin is not Origin.USER or draft.category not in _AT_WORK:
        return []
    said = _content(draft.text)
    near = [
        (fact.state is State.DRAFT, -(cosine + lexical + shared), fact)
        for fact, cosine, lexical in neighbours
        if fact.state in (State.ACTIVE, State.DRAFT)
        and fact.category in _AT_WORK
        and fact.origin.trusted
        and max(cosine, lexical, shared := _share_of_words(_content(fact.text), said)) >= LIKE
    ]
    # What counts is read first; a draft must not stand in its way.
    ordered = sorted(near, key=lambda each: (each[0], each[1], each[2].id))
    held = [fact for draft, _, fact in ordered if not draft][:AT_ONCE]
    return [*held, *(fact for draft, _, fact in ordered if draft)][: AT_ONCE + DRAFTS]


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(_bare_statement(text)) if word not in STOP)


def _share_of_words(own: frozenset[str], other: frozenset[str]) -> float:
    """How much of some words another text has; of a few that is chance."""
    return len(own & other) / max(len(own), FEW)


def may_replace(older: str, newer: str) -> bool:
    """Whether a statement may stand in another one's place as far as its form tells: it is about no part of it, comes
    beside nothing, and where the older one tells a day or a number it tells one, too."""
    if not _tells_as_much(older, newer):
        return False
    before, after = circumstances(older), circumstances(newer)
    return not apart(before, after, days=False) and not narrower(
        {group: names for group, names in before.items() if group != "day"},
        {group: names for group, names in after.items() if group != "day"},
    )


def _tells_as_much(older: str, newer: str) -> bool:
    """Whether a statement comes beside nothing, is no wider than the older one, and tells a day or a number where that
    tells one."""
    before, after = Claim(older), Claim(newer)
    if narrowed(after, before) and not narrowed(before, after):
        return False
    said, held = [word.lower() for word in tokens(newer)], {word.lower() for word in tokens(older)}
    if not _ALSO.isdisjoint(said[:OPENING]):
        return False
    if _has_number(held) and not _has_number(said):
        return False
    days = {stem(word) for word in held} & _DAYS and not {stem(word) for word in said} & _DAYS
    return not days or _has_number(said)


def _has_number(words: Iterable[str]) -> bool:
    return any(word[:1].isdigit() for word in words)


def relations(draft: FactDraft, facts: Sequence[Fact], relate: Relate) -> dict[str, Relation]:
    """How a draft stands to some facts, by their ids. Where the form speaks against a change, the encoder must be the
    surer of it."""
    text = _bare_statement(draft.text)
    read = relate([(_bare_statement(fact.text), text) for fact in facts])
    return {
        fact.id: _adjusted_by_form(relation, _bare_statement(fact.text), text, fact.kind is FactKind.TASK)
        for fact, relation in zip(facts, read, strict=True)
    }


def _bare_statement(statement: str) -> str:
    """A statement without what it was said about, and without the "I told you:" that it begins with, which reads like
    somebody's claim."""
    return without_aside(without_answered(statement))


def _adjusted_by_form(relation: Relation, older: str, newer: str, to_do: bool) -> Relation:
    """What the encoder says, and what the form of two statements says to that. It reads words and no numbers: what
    says the same and tells another one is a change. What was ``to_do`` on a day is done without one."""
    if _is_reversed(older, newer):
        return replace(relation, same=0.0, refines=0.0, replaces=1.0 - relation.unrelated, contradicts=0.0)
    if _has_the_words_of(newer, older) or _prefer_alike(older, newer):
        said_again = relation.same + relation.replaces + relation.contradicts
        return replace(relation, same=said_again, replaces=0.0, contradicts=0.0)
    if relation.same > relation.contradicts and compare(older, newer).why == NEGATION:
        return replace(relation, same=0.0, contradicts=relation.contradicts + relation.same)
    changes = may_replace(older, newer)
    alike = relation.same + relation.refines
    if relation.same >= relation.refines and alike >= relation.unrelated and other_values(older, newer):
        if changes:
            return replace(relation, same=0.0, refines=0.0, replaces=relation.replaces + alike)
        if not elsewhere(older, newer):
            return replace(relation, same=0.0, refines=0.0, contradicts=relation.contradicts + alike)
    at_odds = relation.replaces + relation.contradicts
    several = to_do or len(older.split()) > SEVERAL
    if changes or (at_odds >= EVEN_SO and (several or _tells_as_much(older, newer))):
        return relation
    return replace(relation, replaces=0.0, contradicts=0.0)


def _has_the_words_of(newer: str, older: str) -> bool:
    """Whether a statement tells what another one tells in the same words but for those of any instruction. Of a denial
    the words tell."""
    if _denies(newer) != _denies(older):
        return False
    said, held = (frozenset(stem(word) for word in words(text) if word not in STOP) for text in (newer, older))
    return bool(said & held) and said ^ held <= _OF_ANY


def _is_reversed(older: str, newer: str) -> bool:
    """Whether a statement wants what another one does not, and the other way round: "Y, not X" behind "X, not Y"."""
    (wanted, unwanted), (wanted_now, unwanted_now) = sides(older), sides(newer)
    return bool(wanted & unwanted_now and unwanted & wanted_now)


def _prefer_alike(older: str, newer: str) -> bool:
    """Whether two statements want one thing and not another, and both the same: "X, not Y", "always X, never Y"."""
    (wanted, unwanted), (wanted_now, unwanted_now) = one, other = sides(older), sides(newer)
    return bool(wanted & wanted_now and unwanted & unwanted_now) and on_one_side(one, other)


def _denies(text: str) -> bool:
    return not _DENIALS.isdisjoint(word.lower() for word in tokens(text.replace("’", "'")))


def other_values(older: str, newer: str) -> bool:
    """Whether two statements each tell numbers, times, days or versions, and none that the other tells."""
    before, after = _countable_values(older), _countable_values(newer)
    return bool(before and after and not before & after)


def _countable_values(text: str) -> frozenset[str]:
    """What a statement tells that can be counted, without what it says that is not so ("fifteen, not ten")."""
    words = frozenset(word.lower().strip(".,:;") for word in tokens(_NOT_SO.sub(" ", text)))
    days = _DAYS & frozenset(map(stem, words))
    return days | (words & _NUMBERS) | frozenset(word for word in words if word[:1].isdigit())
