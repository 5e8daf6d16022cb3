"""Statements out of clauses: what is worth keeping, in texts that can be understood a month later.

Clauses of one sentence that belong together make one text. What leans on something takes it along: an answer the
option or the question that it answers, a pronoun the sentence before it. The words stay the person's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import mul
from typing import Final

from memory.language.polarity import without_aside
from memory.language.sentences import sentences
from memory.understanding.clauses import HANGS, Clause
from memory.understanding.forms import is_everywhere, is_here, is_relative, leans, negates, permits, points_back
from memory.understanding.network import LASTING_KINDS, reach
from memory.understanding.tokens import tokens

UNCERTAIN: Final = 0.3
"""The probability from which on a clause makes a statement. Whoever asks says how sure it must be to count."""
LEANS: Final = 0.5
"""The probability from which on a clause leans on what stands before it."""
ENDS: Final = 0.4
"""The probability from which on a statement holds for a while only: few do, and the model rarely is sure of it."""
LENGTH: Final = 36
"""Words of a statement at most."""
BESIDE: Final = 0.2
"""The probability from which on a clause goes with one of its own sentence that is kept."""
GUIDES: Final = {
    "rule": 1.0,
    "pref": 1.0,
    "corr": 1.0,
    "dec": 0.85,
    "fact": 0.3,
    "person": 0.2,
    "task": 0.3,
    "deadline": 0.3,
}
"""How far each kind tells what to do from now on."""
FRAGMENT: Final = 5
"""A statement of fewer words takes along what stands before it in its sentence, and what comes behind it."""
_REACHING: Final = ("rule", "pref", "corr")
"""What may hold in all of somebody's work because they say so; facts are about something."""
_APART: Final = ("quote", "feel", "ask", "ack")
"""What is never taken along."""
CARRIES: Final = 0.7
"""The probability from which on a sentence says how far its statement reaches."""
SHORT: Final = 9
"""An answer of at most this many words cannot be understood without what it answers."""

_OPENERS: Final = re.compile(
    r"^(?:(?:and|but|so(?! (?:that|far|long|as))|also|oh|ok(?:ay)?|yes|yeah|yep|btw|by the way|fyi|anyway|hm{1,9}|"
    r"um{1,9}|uh|nah|nope|plus|und|aber|ach(?: ja)?|übrigens|ja|naja|na gut|außerdem|achso|y|pero|ah|oye|pues|bueno|"
    r"vale|sí|además|por cierto)\b[,:;!.…–—-]{0,3}\s+"
    # What only leads over where a mark stands behind it.
    r"|(?:heads[ -]up|(?:one|and one|just one) (?:more |last |other )?thing|(?:quick |small |side )?note|for context|"
    r"(?:just )?so you know|first(?: of all| things first)?|before (?:we|you) (?:start|begin|go on|continue)|vorab|"
    r"(?:kurz|noch) (?:vorweg|was|eins|eine sache)|(?:nur )?damit du(?:['’]?s| es)? weißt|zur info|"
    r"bevor (?:wir|du) (?:anfangen|loslegen|anfängst|loslegst|weitermachen|weitermachst)|antes de (?:empezar|seguir)|"
    r"(?:otra|una) cosa(?: más)?|para que (?:lo )?sepas|ojo)[,:;!.…–—-]{1,3}\s+"
    # Of a time ("since March") it is a part of what is said, and of a reason it only leads over to that.
    r"|(?:because|since|weil|denn|porque|que) (?=(?:i|we|it|they|you|he|she|there|that|this|ich|wir|es|sie|er|das)\b)"
    r"|(?:no|nee|nein|well|right|actually)[,!.;…–—]{1,3}\s+){1,4}",
    re.IGNORECASE,
)
"""What people say before they say something."""
_LEADS_ON: Final = re.compile(
    r"[,;]\s*(?:(?:and|then|so|but|or|und|dann|also|aber|y|luego|pero)\b\s*){1,2}$", re.IGNORECASE
)
"""Words behind which something else was said."""
_DASH: Final = re.compile(r"^\s*[–—-]\s+")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something to keep. ``kind`` is one of :data:`LASTING_KINDS`, ``scope`` one of :data:`SCOPES`; ``guides`` how far
    it tells what to do from now on, 0..1; ``probability`` that it is worth keeping; ``ends`` how likely it holds for a
    while only; ``answers`` the words of the assistant that it leans on; ``first`` and ``last`` the places of its
    clauses in the message; ``asks`` that it is put as a question."""

    text: str
    kind: str
    scope: str
    guides: float
    probability: float
    ends: float
    answers: str
    first: int
    last: int
    asks: bool = False


def statements(clauses: Sequence[Clause], reply: str = "", offered: Sequence[str] = ()) -> list[Statement]:
    """The statements of a message. ``reply`` is the assistant's text that it answers and ``offered`` the ways that
    stood in it to choose from."""
    found: list[Statement] = []
    at = 0
    while at < len(clauses):
        if clauses[at].judged.worth_keeping < UNCERTAIN:
            at += 1
            continue
        end = at + 1
        while end < len(clauses) and _continues_statement(clauses, at, end):
            end += 1
        stated = _statement_of(clauses, (found[-1].last + 1 if found else 0, at, end), reply, offered)
        if found and _qualifies_previous(clauses, found[-1], stated):
            _reach_back(clauses, found, stated)
        else:
            found.append(stated)
        at = end
    return [_with_reach(clauses, _with_permission(clauses, each)) for each in found]


def faint_statements(clauses: Sequence[Clause], least: float) -> list[Statement]:
    """What the clauses say that are less likely worth keeping than a statement is, and as likely as ``least``: each by
    itself, but for questions and the like. It counts only beside what it may change."""
    return [
        _statement_of(clauses, (at, at, at + 1), "", ())
        for at, each in enumerate(clauses)
        if least <= each.judged.worth_keeping < UNCERTAIN and each.judged.passing not in _APART
    ]


def _with_permission(clauses: Sequence[Clause], stated: Statement) -> Statement:
    """A statement that forbids something, with what the sentence right behind it allows nevertheless, which is no
    statement of its own: "… not even for a typo. Well, the comments you may correct"."""
    behind = clauses[stated.last + 1] if stated.last + 1 < len(clauses) else None
    if (
        behind is None
        or stated.kind not in _REACHING
        or behind.judged.worth_keeping >= UNCERTAIN
        or behind.block != clauses[stated.last].block
        or not (negates(stated.text) and permits(behind.text))
    ):
        return stated
    allowed = plain(behind.text)
    together = f"{stated.text.rstrip('.!,;')}. {allowed[:1].upper()}{allowed[1:]}"
    if len(together.split()) > LENGTH:
        return stated
    return replace(stated, text=together, last=stated.last + 1)


def _with_reach(clauses: Sequence[Clause], stated: Statement) -> Statement:
    """A statement with the reach that a few words right behind it give it, which are no statement of their own:
    "that's how all my repos have it"."""
    behind = clauses[stated.last + 1] if stated.last + 1 < len(clauses) else None
    if behind is None or behind.judged.worth_keeping >= UNCERTAIN or behind.block != clauses[stated.last].block:
        return stated
    few = len(behind.text.split()) <= SHORT and not behind.text.endswith("?")
    return replace(stated, scope="user") if stated.kind in _REACHING and few and is_everywhere(behind.text) else stated


def _qualifies_previous(clauses: Sequence[Clause], before: Statement, stated: Statement) -> bool:
    """Whether a statement only says something of the one right before it: "I want that in all of them"."""
    own, last = clauses[stated.first], clauses[before.last]
    near = stated.first == before.last + 1 and own.block == last.block and not own.marker
    return near and (points_back(own.text) or points_back(stated.text))


def _reach_back(clauses: Sequence[Clause], found: list[Statement], rider: Statement) -> None:
    """Let a statement say of those before it, as far as they stand together, how far they reach; it is told with the
    one right before it, where both are not too long."""
    before = found[-1]
    together = f"{before.text.rstrip('.!')}. {rider.text}"
    found[-1] = replace(
        before,
        text=together if len(together.split()) <= LENGTH else before.text,
        guides=max(before.guides, rider.guides),
        probability=max(before.probability, rider.probability),
        ends=max(before.ends, rider.ends),
        last=rider.last,
    )
    if rider.scope != "user":
        return
    for place in range(len(found) - 1, -1, -1):
        own = found[place]
        if place < len(found) - 1 and (
            own.last + 1 != found[place + 1].first or clauses[own.last].block != clauses[rider.first].block
        ):
            break
        found[place] = replace(own, scope="user")


def _continues_statement(clauses: Sequence[Clause], first: int, at: int) -> bool:
    """Whether a clause goes on with the statement that begins at ``first``."""
    own, before = clauses[at], clauses[at - 1]
    if own.block != before.block or own.marker:
        return False
    if sum(len(each.text.split()) for each in clauses[first : at + 1]) > LENGTH:
        return False
    if own.sentence == before.sentence:
        return own.judged.worth_keeping >= BESIDE
    short = min(sum(len(each.text.split()) for each in clauses[first:at]), len(own.text.split())) < FRAGMENT
    goes_on = own.judged.flag("continues") >= LEANS or (hangs(own) and own.judged.scope == before.judged.scope)
    return own.judged.worth_keeping >= UNCERTAIN and (short or goes_on) and own.judged.passing not in _APART


def tied(clauses: Sequence[Clause]) -> bool:
    """Whether each of some clauses goes on with the sentence before it or cannot be understood without it."""
    return all(own.sentence == before.sentence or hangs(own) for before, own in pairwise(clauses))


def hangs(clause: Clause) -> bool:
    """Whether a clause needs what was said right before it to be understood."""
    return clause.needs.before >= HANGS


def _statement_of(
    clauses: Sequence[Clause], span: tuple[int, int, int], reply: str, offered: Sequence[str]
) -> Statement:
    """The statement of some clauses: ``span`` gives the first that no statement before it has, its own first, and the
    end of its own."""
    free, first, end = span
    own = clauses[first:end]
    lead = max(own, key=lambda each: each.judged.worth_keeping)
    kinds = [sum(each.judged.kinds[place] for each in own) for place in range(len(LASTING_KINDS))]
    kind = LASTING_KINDS[max(range(len(LASTING_KINDS)), key=kinds.__getitem__)]
    # "… never force push. No matter where.": one of them says how far both reach.
    scopes = max(_scopes_of_sentences(own), key=lambda each: each[0], default=lead.judged.scopes)
    guides = sum(share * GUIDES[kind] for kind, share in zip(LASTING_KINDS, kinds, strict=True)) / max(sum(kinds), 1e-6)
    text = " ".join(each.text for each in own)
    start = first
    judged = clauses[first].judged
    if first > free:
        before = clauses[first - 1]
        fragment = len(text.split()) < FRAGMENT and before.sentence == clauses[first].sentence
        words = len(text.split()) + len(before.text.split())
        near = before.block == clauses[first].block and words <= LENGTH
        is_stated = before.judged.worth_keeping >= BESIDE or before.judged.passing not in _APART
        relative = before.sentence == clauses[first].sentence and is_relative(text)
        leaning = fragment or hangs(clauses[first]) or judged.flag("refers") >= LEANS
        if near and (relative or (leaning and is_stated)):
            start = first - 1
            text = f"{before.text} {text}"
    answers = ""
    if first == 0 or clauses[first - 1].sentence == 0:
        short = len(tokens(text)) <= SHORT
        needs = max(judged.flag("answers"), clauses[first].needs.reply)
        if reply and needs >= (0.25 if short else LEANS):
            answers = answered(text, reply, offered)
    return Statement(
        text=plain(_without_idle_ends(text, own[0].idle_start if start == first else 0, own[-1].idle_end)),
        kind=kind,
        scope=_scope_of_statement(kind, text, scopes, answers),
        guides=guides,
        probability=lead.judged.worth_keeping,
        ends=max(each.judged.flag("ends") for each in own),
        answers=answers,
        first=start,
        last=end - 1,
        asks=lead.judged.passing == "ask" or text.endswith("?"),
    )


def _without_idle_ends(text: str, before: int, behind: int) -> str:
    """A text without what is worth nothing at its ends, where enough is left to be understood."""
    told = text[before : len(text) - behind].strip()
    return told if len(told.split()) >= FRAGMENT else text


def _scopes_of_sentences(own: Sequence[Clause]) -> list[tuple[float, ...]]:
    """How far each sentence reaches that is likely worth keeping: the mean of its clauses, by how likely those are."""
    found = []
    for _, group in groupby(own, key=lambda each: each.sentence):
        judged = [each.judged for each in group]
        weights = [each.worth_keeping for each in judged]
        if max(weights) >= CARRIES:
            rows = zip(*(each.scopes for each in judged), strict=True)
            found.append(tuple(sum(map(mul, row, weights)) / sum(weights) for row in rows))
    return found


def _scope_of_statement(kind: str, text: str, scopes: Sequence[float], answers: str) -> str:
    """How far a statement reaches. What is said to hold here, and what only an answer of the assistant's or something
    unnamed explains, is about this project unless it says otherwise."""
    if kind in _REACHING and is_everywhere(text):
        return "user"
    found = reach(kind, scopes)
    return "project" if found == "user" and (answers or is_here(text) or leans(plain(text))) else found


def opened(text: str) -> str:
    """A statement without the words by which people lead over to it, where enough is left to be understood."""
    told = _OPENERS.sub("", _DASH.sub("", text), count=1)
    return told if len(told.split()) >= FRAGMENT else text


def plain(text: str) -> str:
    """A statement without what people say before they say something, and without what hangs on behind."""
    bare = without_aside(_OPENERS.sub("", _DASH.sub("", text), count=1) or text)
    return _LEADS_ON.sub("", bare.strip()).rstrip(",;:–—-").strip()


def answered(text: str, reply: str, offered: Sequence[str]) -> str:
    """What of a reply a person's answer is about: the way that they picked, else the sentence that shares most words
    with it, the last question before the others; nothing where a few words only say that something is done."""
    if offered:
        return offered[0]
    text_words = {word for word in tokens(text) if len(word) > 3}
    best, score = "", 0.0
    found = sentences(reply[-1500:])
    for place, sentence in enumerate(found):
        words = set(tokens(sentence))
        shared = len(text_words & words)
        if not shared and "?" not in words and len(sentence.split()) < FRAGMENT + 1:
            continue
        likely = shared + (0.9 if "?" in words else 0.0) + 0.3 * (place + 1) / len(found)
        if likely > score and len(sentence.split()) <= LENGTH:
            best, score = sentence, likely
    return best
