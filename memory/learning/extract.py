"""What a message teaches: the drafts of facts in it.

Two readers go over a person's message. The rules know a few forms well (see :mod:`memory.learning.rule_extraction`); a
trained model reads talk about work as clauses and says which of them are worth keeping, in whatever words they are (see
:mod:`memory.understanding`). The fact's text is the person's own words with their dates made absolute. An
assistant's text is read much more sparingly, and text of tools, the web and sub-agents not at all: an instruction
that stands in it is nobody's order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from memory.fact import Category, FactDraft, FactKind, Origin, Stream
from memory.language.answered import behind_answer, chosen, stands_alone, without_answered
from memory.language.claim import Claim, may_tell_of_change
from memory.language.dates import resolve
from memory.language.entities import entities
from memory.language.sentences import own_words, sentences
from memory.language.validity import holds_until, lasts
from memory.learning.choice import choice
from memory.learning.corrections import mistaken
from memory.learning.ending import end_of, over_with_its_time
from memory.learning.importance import importance
from memory.learning.numbered_answers import NumberedAnswer, NumberedReply, numbered_reply
from memory.learning.rule_extraction import MAX_FACT_CHARS, by_rules, last_question, letters, short
from memory.learning.sensitivity import sensitivity
from memory.learning.speech import is_technical, spoken_in
from memory.learning.unsure import UNSURE
from memory.scope import Layer
from memory.understanding.clauses import Clause, ClauseReader
from memory.understanding.dependence import ALONE
from memory.understanding.forms import is_everywhere, takes_back
from memory.understanding.packaged_weights import reader as shipped
from memory.understanding.tokens import tokens
from memory.understanding.wording import ENDS, Statement, faint_statements, opened, plain, statements, tied

GUIDING: Final = 0.65
"""How sure the trained reader must be of what guides the agent from now on. What stands on the page is surer than that:
its worth there counts how sure it is (:mod:`memory.context.essential`)."""
SURE: Final = 0.75
"""How sure it must be of what is merely so: it is shown only where the talk turns to it."""
ASKED: Final = 0.85
"""How sure it must be of what is put as a question: most only ask."""
SURE_OF_CODE: Final = 0.95
"""How sure it must be of what is merely so and names things in code."""
FAINT: Final = 0.05
"""How likely what tells of a change must be worth keeping to be held against what is known: it is kept where it changes
that, and nowhere else."""
WORDED: Final = 8
"""Letters of a clause from which on it can be found again in a text."""
DOUBTED: Final = 0.4
"""The probability below which what a rule has found in talk about work is taken for something of the moment."""
PASSING: Final = 0.05
"""The probability below which a rule has found no decision in what is read as an order: many settle something."""
HALF_SURE: Final = 0.4
"""How sure at most is what a rule has found and the reader finds worth nothing."""
LIKING: Final = 0.8
"""How sure it must be of what somebody likes in a talk that is not about work."""
TELLING: Final = 4
"""Words of what is unsure at least: fewer say too little to be recognised when they are said again."""
LONG: Final = 9
"""Words of a statement from which on it is worth looking for its core."""
REQUESTED_CONFIDENCE: Final = 0.9
"""The confidence of what a person asked to have remembered."""


class _Meaning(NamedTuple):
    """What a kind of statement becomes: for the person, and for a project."""

    kind: FactKind
    category: Category
    stream: Stream
    own_category: Category = Category.PREFERENCES
    own_stream: Stream = Stream.IDENTITY


_MEANS: Final = {
    "rule": _Meaning(FactKind.CONVENTION, Category.WORKFLOWS, Stream.PROJECTS, Category.WORKFLOWS),
    "pref": _Meaning(FactKind.PREFERENCE, Category.WORKFLOWS, Stream.PROJECTS, Category.WORKFLOWS),
    "dec": _Meaning(FactKind.DECISION, Category.PROJECTS, Stream.PROJECTS, Category.PERSON),
    "corr": _Meaning(FactKind.CORRECTION, Category.TECHNICAL, Stream.TASKS, Category.WORKFLOWS),
    "fact": _Meaning(FactKind.FACT, Category.PROJECTS, Stream.PROJECTS, Category.PERSON),
    "person": _Meaning(FactKind.FACT, Category.PEOPLE, Stream.PROJECTS, Category.PERSON),
    "task": _Meaning(FactKind.TASK, Category.PROJECTS, Stream.TASKS, Category.PERSON, Stream.TASKS),
    "deadline": _Meaning(FactKind.TASK, Category.PROJECTS, Stream.TASKS, Category.PERSON, Stream.TASKS),
}


def extract(
    text: str,
    origin: Origin,
    at: datetime,
    *,
    before: str = "",
    question: str = "",
    most: int = 16,
    work: bool = False,
    listed: bool = False,
    reader: ClauseReader | None = None,
) -> list[FactDraft]:
    """The drafts that one message gives, in its order, at most ``most``.

    ``at`` (aware, in the person's zone) is when it was said; relative dates are read against it. For a person's text
    ``before`` is the reply that it answers and ``question`` what they had asked before that; ``work`` says that an
    agent is at work in the talk, with tools; ``listed`` that it answers one of several questions that the agent asked
    before it began, which most often settles something; ``reader`` is the trained one, by default the one in the
    package. Never raises on any text.
    """
    answered = numbered_reply(text, before) if before and origin is Origin.USER else None
    if answered is not None:
        return _drafts_of_numbered_answer(
            answered, at, question, most, work or is_technical(before[-MAX_FACT_CHARS:]), reader
        )
    found = by_rules(text, origin, at, before=before, question=question, most=most, work=work)
    if origin is not Origin.USER:
        return found
    found = [draft for draft in found if not _JOKES.search(draft.text)]
    reading = reader or shipped()
    if not (
        work or is_technical(before[-MAX_FACT_CHARS:]) or any(is_technical(block.text) for block in own_words(text))
    ):
        return [*found, *_further_likings(text, at, before, found, reading)][:most]
    picked = choice(spoken_in(text), before)
    read = reading.read(text, before)
    found = [_as_read_alone(draft, read, at) for draft in found if _reader_finds_lasting(draft, read)]
    unsure = []
    read = _separate_clauses(read, found, at)
    told = statements(read, before, [picked.option] if picked else [])
    for statement in told:
        if statement.probability < UNSURE or names_a_commit(statement.text) or is_quoted(statement.text):
            continue
        if _JOKES.search(statement.text):
            continue
        draft = _draft(statement, at, before, last_question(question))
        if (listed or statement.probability >= _threshold_of(statement)) and not _only_asks(statement):
            _add_read_draft(found, draft, tied(read[statement.first : statement.last + 1]))
        elif len(statement.text.split()) >= TELLING:
            unsure.append(replace(draft, unsure=True))
    if may_tell_of_change(text):
        unsure += [
            replace(_draft(each, at, "", ""), unsure=True)
            for each in (*(each for each in told if each.probability < UNSURE), *faint_statements(read, FAINT))
            if not each.asks and _may_change(each.text)
        ]
    unsure = [each for each in unsure if not _is_covered_by(each, found)]
    taught = [_without_opening(each) for each in (*found, *unsure)[:most]]
    # A draft stands on no page.
    return [each if each.unsure else replace(each, core=_core_on_page(each.text, reading)) for each in taught]


def _without_opening(draft: FactDraft) -> FactDraft:
    """A draft that begins with what it says: not with the "and" or "no," by which it was tied to something else. An
    answer needs its yes or no, and what was asked to be remembered stays as it was put."""
    if draft.pinned or chosen(draft.text) or without_answered(draft.text) != draft.text:
        return draft
    told = opened(draft.text)
    return draft if told == draft.text else replace(draft, text=told[:1].upper() + told[1:])


def _drafts_of_numbered_answer(
    reply: NumberedReply, at: datetime, question: str, most: int, work: bool, reader: ClauseReader | None
) -> list[FactDraft]:
    """What a message teaches that answers by number: each answer beside its own question, and what else it says."""
    found: list[FactDraft] = []
    for text, asked in (NumberedAnswer(reply.beside, ""), *reply.answers):
        listed = bool(asked)
        own = extract(text, Origin.USER, at, before=asked, question=question, work=work, listed=listed, reader=reader)
        found += [_beside_what_it_answers(each, asked) for each in own if not _is_covered_by(each, found)]
    # Where there are more than may be taken, what was asked to be remembered goes first, and what is unsure last.
    first = sorted(range(len(found)), key=lambda at: (not found[at].pinned, found[at].unsure, at))[:most]
    return [found[at] for at in sorted(first)]


def _beside_what_it_answers(draft: FactDraft, asked: str) -> FactDraft:
    """A draft with what it answers, where it is too short to be understood without."""
    if not asked or without_answered(draft.text) != draft.text or stands_alone(draft.text):
        return draft
    return replace(draft, text=draft.text + behind_answer(short(asked)))


def _further_likings(
    text: str, at: datetime, before: str, found: Sequence[FactDraft], reading: ClauseReader
) -> list[FactDraft]:
    """What somebody surely likes, avoids or cannot have, in a talk that is not about work, beside what the rules have
    ``found``. People tell of their lives all the time: all else of it is kept as passages."""
    if not _OWN.search(text):
        return []
    # What tells orders apart says nothing of such a talk.
    read = replace(reading, settled=None).read(text, before)
    surely = [
        _draft(each, at, before, "")
        for each in statements(read, before)
        if each.kind == "pref"
        and each.scope == "user"
        and each.probability >= LIKING
        and _OWN.search(each.text)
        and not (each.answers or _only_asks(each) or is_quoted(each.text))
    ]
    return [replace(each, category=Category.PREFERENCES) for each in surely if not _is_covered_by(each, found)]


def _core_on_page(text: str, reader: ClauseReader) -> str:
    """What of a fact's text stands on the page, where that is not all of it. What is chosen needs the choice, and an
    answer its beginning, which says yes or no, and enough words to do without what it answers."""
    said = without_answered(text)
    # What takes something back needs what holds instead.
    if len(said.split()) < LONG or chosen(text) or takes_back(said):
        return ""
    core = reader.core(said)
    # What a later sentence goes on with must not be lost.
    if not core or _first_word(core) not in map(letters, sentences(said)[0].split()):
        return ""
    if said == text:
        return core
    return core if stands_alone(core) and _first_word(core) == _first_word(said) else ""


def _first_word(text: str) -> str:
    return letters(text.split()[0])


def _is_covered_by(draft: FactDraft, found: Sequence[FactDraft]) -> bool:
    """Whether one of some drafts has a draft's words, or lies in them."""
    own = letters(without_answered(draft.text))
    return any(other in own or own in other for each in found if (other := letters(without_answered(each.text))))


_GUIDING: Final = frozenset(("rule", "pref", "corr", "dec"))


def _reader_finds_lasting(draft: FactDraft, read: Sequence[Clause]) -> bool:
    """Whether the trained reader does not think that what a rule has found in talk about work is of the moment. What
    the person asked to have remembered is not doubted, nor which of the ways they chose that they were offered; a
    correction is as sure, and may only sound like one."""
    if (
        draft.pinned
        or chosen(draft.text)
        or (draft.confidence >= REQUESTED_CONFIDENCE and draft.kind is not FactKind.CORRECTION)
    ):
        return True
    drafted = letters(draft.text)
    read_so = [clause.judged for clause in read if _shares_words(letters(clause.text), drafted)]
    least = PASSING if draft.kind is FactKind.DECISION else 0.0
    return not read_so or any(each.worth_keeping >= (DOUBTED if each.passing in _IDLE else least) for each in read_so)


def _separate_clauses(read: Sequence[Clause], found: Sequence[FactDraft], at: datetime) -> list[Clause]:
    """The clauses, none of which hangs on one that is guarded otherwise, holds for another time, or belongs to what the
    rules know to be more than a statement: something to be remembered, a choice, an objection to something."""
    special = [letters(draft.text) for draft in found if draft.pinned or chosen(draft.text) or draft.wrong]

    def manner(clause: Clause) -> tuple[object, ...]:
        own = letters(clause.text)
        over = holds_until(clause.text, at) or lasts(clause.text, at)
        ends = clause.judged.flag("ends") >= ENDS
        return sensitivity(clause.text), over, ends, [_shares_words(own, each) for each in special]

    manners = [manner(clause) for clause in read]
    return [
        replace(clause, needs=ALONE) if place and manners[place] != manners[place - 1] else clause
        for place, clause in enumerate(read)
    ]


def _as_read_alone(draft: FactDraft, read: Sequence[Clause], at: datetime) -> FactDraft:
    """A draft of the rules, as sure as the reader is of it, over when the time is that it names where the reader finds
    that it may end, and somebody's own where they say that it holds in all of their work."""
    if draft.layer is Layer.USER_PROJECT and draft.kind in _OF_ALL_WORK and is_everywhere(draft.text):
        draft = replace(draft, layer=Layer.USER, stream=Stream.IDENTITY)
    if draft.kind is not FactKind.TASK and draft.expires_at is None:
        drafted = letters(draft.text)
        ends = [
            each.judged.flag("ends") for each in read if _shares_words(letters(resolve(each.text, at).text), drafted)
        ]
        over = over_with_its_time(draft.text, at, max(ends, default=0.0), draft.kind)
        if over is not None:
            return _as_sure_as_read(replace(draft, valid_until=over, expires_at=over), read)
    return _as_sure_as_read(draft, read)


def _as_sure_as_read(draft: FactDraft, read: Sequence[Clause]) -> FactDraft:
    """A correction or decision that a rule has found, no surer than :data:`HALF_SURE` beside how likely the trained
    reader finds it worth keeping: "no, add the other row too" is an objection for the moment, and until it is said
    again its place is not on a page that every session begins with."""
    if draft.pinned or chosen(draft.text) or draft.kind not in (FactKind.CORRECTION, FactKind.DECISION):
        return draft
    drafted = letters(draft.text)
    own = [
        (len(words), each.judged.worth_keeping) for each in read if _shares_words(words := letters(each.text), drafted)
    ]
    if not own:
        return draft
    worth = sum(length * share for length, share in own) / sum(length for length, _ in own)
    return replace(draft, confidence=round(min(draft.confidence, HALF_SURE + worth), 3))


def _shares_words(clause: str, draft: str) -> bool:
    """Whether a clause stands in a draft, or the other way; of a word or two that is chance."""
    return clause == draft or (len(clause) >= WORDED and (clause in draft or draft in clause))


_IDLE: Final = frozenset(("ask", "feel", "quote", "suppose", "ack"))
"""What a rule may find in a clause that says nothing at all about the work."""


def _add_read_draft(found: list[FactDraft], draft: FactDraft, is_one: bool) -> None:
    """Put a draft of the trained reader among those of the rules; ``is_one`` says that it cannot be told in parts."""
    nested = [place for place, known in enumerate(found) if _are_nested(_own_letters(known), _own_letters(draft))]
    if not nested:
        found.append(draft)
        return
    is_one = (is_one or len(nested) == 1) and not any(
        known.pinned
        or chosen(known.text)
        or known.wrong
        or (known.sensitivity, known.expires_at) != (draft.sensitivity, draft.expires_at)
        for known in map(found.__getitem__, nested)
    )
    found[nested[0]] = _as_read(found[nested[0]], draft, is_one)
    if is_one:
        found[:] = [known for place, known in enumerate(found) if place not in nested[1:]]


def _as_read(known: FactDraft, draft: FactDraft, is_one: bool) -> FactDraft:
    """A draft of the rules that the trained reader has read too: the rules say how the same words are dated and
    guarded, and the reader what they are, whose, how far they guide, and, where what it has read ``is_one``, what
    belongs to them because it cannot be understood alone."""
    own, drafted = _own_letters(known), _own_letters(draft)
    guides = max(known.importance, draft.importance)
    if is_one and own in drafted[1:]:
        return replace(draft, importance=guides)
    if is_one and own != drafted and drafted.startswith(own):
        known = replace(known, text=draft.text, entities=draft.entities)
    text = draft.text if own == drafted and not stands_alone(known.text) else known.text
    # A rule that names somebody is no note about them.
    about_them = draft.category is Category.PEOPLE and known.kind is not FactKind.FACT
    category = known.category if about_them else draft.category
    read = replace(known, text=text, importance=guides, category=category)
    if draft.kind is FactKind.TASK and not known.pinned and known.kind in (FactKind.DECISION, FactKind.FACT):
        read = replace(read, kind=draft.kind, stream=draft.stream, wrong="")
    return replace(read, layer=known.layer if known.pinned and draft.layer is not Layer.USER else draft.layer)


def _own_letters(draft: FactDraft) -> str:
    """The letters of what a draft says, without what people say before they say something."""
    return letters(plain(without_answered(draft.text)))


def _are_nested(one: str, other: str) -> bool:
    return one in other or other in one


def _threshold_of(statement: Statement) -> float:
    """The probability from which on a statement is a fact. What is merely so and names things that stand in code mostly
    tells how the code at hand works, which whoever works on it reads there."""
    if statement.asks:
        return ASKED
    if statement.kind in _GUIDING:
        return GUIDING
    return SURE_OF_CODE if any(token in _IN_CODE for token in tokens(statement.text)) else SURE


def names_a_commit(text: str) -> bool:
    """Whether a statement names a commit: it tells what was just done, which the history of the code tells."""
    return _COMMIT.search(text) is not None


def _only_asks(statement: Statement) -> bool:
    """Whether it only asks. A rule may be said as a request: "can you always show me the diff first?". What may be
    settled by one ("could we keep the drafts apart?") waits as a draft: the answer may be no."""
    return statement.text.endswith("?") and statement.kind not in ("rule", "pref")


def is_quoted(text: str) -> bool:
    """Whether most of a statement stands in quotation marks: somebody else's words."""
    return sum(len(each) for each in _QUOTED.findall(text)) > 0.5 * len(text)


_OF_ALL_WORK: Final = (FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.CORRECTION)
"""What may hold in all of somebody's work."""
_OWN: Final = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|ich|mir|mich|mein\w*|yo|mi|mis|conmigo)\b", re.IGNORECASE
)
"""Words for oneself."""


def _may_change(text: str) -> bool:
    """Whether a statement tells of a change, a number or somebody who has left, in enough words."""
    claim = Claim(text)
    tells = claim.tells_of_change or claim.numbers or claim.leavers
    return len(text.split()) >= TELLING and bool(tells) and not claim.tentative


_JOKES: Final = re.compile(
    r"\((?:just )?(?:kidding|joking|jk|a joke|scherz|spaß|nur spaß|es broma|broma)\)|\b(?:just kidding|only joking|jk|"
    r"kleiner scherz|nur ein scherz|es broma)\W*$",
    re.IGNORECASE,
)
"""What says of itself that it is not meant."""
_COMMIT: Final = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b")
_QUOTED: Final = re.compile(r"\"[^\"]{1,480}\"|“[^”]{1,480}”|„[^“”]{1,480}[“”]|«[^»]{1,480}»")
_IN_CODE: Final = frozenset(("<name>",))


def _draft(statement: Statement, at: datetime, before: str, question: str) -> FactDraft:
    means = _MEANS[statement.kind]
    own = statement.scope == "user"
    behind = ""
    if statement.answers:
        behind = behind_answer(short(statement.answers), question)
    dated = resolve(short(statement.text, MAX_FACT_CHARS), at)
    over = end_of(statement.text, dated.text, at, statement.ends, means.kind)
    ends = dated.moment + timedelta(days=1) if dated.moment and dated.future and means.kind is FactKind.TASK else None
    return FactDraft(
        text=dated.text[:1].upper() + dated.text[1:] + behind,
        kind=means.kind,
        category=means.own_category if own else means.category,
        stream=means.own_stream if own else means.stream,
        layer=Layer.USER if own else Layer.USER_PROJECT,
        origin=Origin.USER,
        confidence=round(min(statement.probability, 0.95), 3),
        importance=importance(statement.text, means.kind, Origin.USER, guides=statement.guides),
        sensitivity=sensitivity(statement.text + behind),
        valid_from=dated.moment if dated.moment and not dated.future else at,
        valid_until=ends or over,
        expires_at=over,
        wrong=mistaken(statement.text, before) if means.kind is FactKind.CORRECTION else "",
        entities=entities(statement.text + behind),
    )
