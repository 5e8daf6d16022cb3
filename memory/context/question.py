"""What a request asks of memory: the words to search for, or nothing.

A person's newest words are the question. While an agent is at work, what went wrong in the newest tool result is.
A message without content ("ok", "continue", "yes, do it") asks nothing; a short one that leans on what was said
before takes the words of that along, lightly.

A complex question in simpler ones, without a model: several questions in one message, things compared, several
people or things asked about at once.

What a message says about the form of its answer ("as a table", "in one word"): no part of what it asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.context.message_intent import SENTENCE, about_work, asking, only_moves_on, wants_advice
from memory.context.route import NOWHERE, QuestionRoute, route_of
from memory.conversation import Conversation, Message, Role, ToolResult
from memory.language.printed import printed
from memory.language.terms import term
from memory.language.time_spans import spans
from memory.language.words import stems, vocabulary


class SplitReason(StrEnum):
    """Why a question was split."""

    SEVERAL = "several questions"
    COMPARISON = "comparison"
    CONJUNCTION = "conjunction"
    ENTITIES = "several names"


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A simpler question; ``weight`` is what it counts beside the whole one, which counts 1."""

    text: str
    weight: float
    shape: SplitReason


MOST: Final = 3
"""Parts of a question at most: each costs a search."""
_FIRST: Final = 0.9
_NEXT: Final = 0.9
"""What the first part weighs, and each further one of what the one before it does."""

_NAME: Final = r"(?:[A-Z][\w'’-]*|[A-Z]{2,})(?: [A-Z][\w'’-]*){0,2}"
# No shorter name is tried where the word behind it does not fit: a run of capitals has many.
_WHOLE_NAME: Final = r"[A-Z][\w'’-]*+(?: [A-Z][\w'’-]*+){0,2}"
_BOTH_NAMES: Final = re.compile(
    rf"\b(?:both )?(?P<one>{_WHOLE_NAME})(?:,)? (?:and|or|vs\.?|versus|than|with) (?P<two>{_NAME})\b"
)
_SIDE: Final = r"[^,.?;]{2,60}?"
_COMPARED: Final = re.compile(
    rf"\b(?:(?:differences?|difference is there|trade-?offs?|compar\w+|decide|choose) (?:between |of )?(?P<one>{_SIDE})"
    rf" (?:and|with|to|vs\.?|versus)|(?:choose|prefer\w*|take|pick|use) (?P<either>{_SIDE}) (?:or|over|rather than))"
    rf" (?P<two>{_SIDE})\s*(?=[?.,;]|$)",
    re.IGNORECASE,
)
_CLAUSES: Final = re.compile(
    r",? (?:and|but|or) (?=(?:(?:in|on|at|from|for|with|by|to) )?(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|(?:did|does|do|is|are|was|were|has|have) (?:[A-Z]\w+|i|we|you|he|she|it|they|the|my|our|your|this|that)\b)",
    re.IGNORECASE,
)
_TOGETHER: Final = re.compile(r"\b(?:together|each other|between|meet|met)\b", re.IGNORECASE)
"""What several do with one another is told at once."""
_ASKS: Final = frozenset("who what when where which why how did does do is are was were has have both".split())  # noqa: SIM905


def parts(text: str) -> tuple[SubQuestion, ...]:
    """The simpler questions that a question consists of; none where it is simple."""
    questions = asking(text)
    for shape, found in (
        (SplitReason.SEVERAL, questions),
        (SplitReason.CONJUNCTION, _question_clauses(questions[0]) if questions else []),
        (SplitReason.COMPARISON, _compared(text)),
        (SplitReason.ENTITIES, _question_per_name(text)),
    ):
        parts_found = [each.strip() for each in found if stems(each)]
        if len(parts_found) > 1:
            weights = [round(_FIRST * _NEXT**place, 3) for place in range(len(parts_found))]
            return tuple(
                SubQuestion(each, weight, shape) for each, weight in zip(parts_found[:MOST], weights, strict=False)
            )
    return ()


def _question_clauses(text: str) -> list[str]:
    """The clauses of a question; one that leans on the first ("and why did she?") takes its names along."""
    first, *others = _CLAUSES.split(text)
    names = " ".join(dict.fromkeys(re.findall(r"(?<!^)\b[A-Z][a-z]+\b", first)))
    return [first, *(each if re.search(r"\b[A-Z]", each) else f"{each} {names}".strip() for each in others)]


def _compared(text: str) -> list[str]:
    found = _COMPARED.search(text)
    if found is None or not text.rstrip().endswith("?"):
        return []
    sides = (found["one"] or found["either"], found["two"])
    return [" ".join(f"{text[: found.start()]} {side} {text[found.end() :]}".split()) for side in sides]


def _question_per_name(text: str) -> list[str]:
    """The question with one of two names each time."""
    found = _BOTH_NAMES.search(text)
    if (
        found is None
        or not text.rstrip().endswith("?")
        or _TOGETHER.search(text)
        or {found["one"].lower(), found["two"].lower()} & _ASKS
    ):
        return []
    one = found["one"].removeprefix("Both ")
    return [" ".join(f"{text[: found.start()]} {name} {text[found.end() :]}".split()) for name in (one, found["two"])]


class QuestionAuthor(StrEnum):
    """Whose words are searched for."""

    PERSON = "person"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """What to search for.

    ``text`` is what is embedded; ``stems`` gives each stem's share, 1 for what is asked now; ``work`` is how
    far the message is about the work at hand: 1 for an order, less for what seeks something to be known; ``advice``
    that a recommendation is asked for; ``route`` where it points. Words that only name a time are in the route alone,
    and in ``whole``, the message, where there are any; a weekday's name is searched for as well.
    """

    text: str
    stems: Mapping[str, float]
    asker: QuestionAuthor = QuestionAuthor.PERSON
    work: float = 1.0
    advice: bool = False
    route: QuestionRoute = NOWHERE
    whole: str = ""

    @property
    def said(self) -> str:
        """The message, with the words that name a time."""
        return self.whole or self.text

    @property
    def terms(self) -> tuple[int, ...]:
        """The numbers of its stems, in order: what to look up the rarity of."""
        return tuple(map(term, self.stems))


_MAX_MESSAGE_CHARS: Final = 2000
"""Characters of a message that are read, half from its beginning and half from its end."""
_LEANS: Final = 3
"""A message of at most this many stems takes along the words of the one before it."""
_AROUND: Final = 0.3
"""Share of a stem that was only said beside the question, or before it."""
_WEEKDAY: Final = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_ERROR_LINES: Final = 4
_COMPLEX: Final = 3
"""Stems of a question that can be taken apart, at least."""

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ERROR: Final = re.compile(
    r"(?:error|exception|panic|failure|\b(?:fatal|failed|cannot|could not|not found|no such|denied|refused"
    r"|timed? ?out|undefined|unresolved|conflict|segmentation fault))\b",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(
    r"\W*(?:(?:the )?(?:command|process|tool)\s+)?(?:failed|exited|ended|finished)\b"
    r"\W*(?:(?:with|exit|return|code|status)\W+){1,5}-?\d+\W*",
    re.IGNORECASE,
)
"""A line that says how a command ended, and nothing of why."""
_NOISE: Final = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{12,}\b|\d{2}:\d{2}:\d{2}[.,\d]*|\b\d{4}-\d\d-\d\d\b|:\d+(?::\d+)?")


def ask(
    conversation: Conversation, now: datetime | None = None, failing: Sequence[ToolResult] = ()
) -> RecallQuestion | None:
    """The question that the newest part of a conversation puts to memory, or None where it puts none. ``now`` gives
    "last week" its meaning; without it no time is understood. A result of a tool asks where it is one of those that
    are ``failing``."""
    for index in range(len(conversation.messages) - 1, -1, -1):
        message = conversation.messages[index]
        if message.spoken.strip():
            return _of_person(message.spoken, _antecedent(conversation.messages, index), now)
        if message.results:
            return _error_lines([result for result in message.results if result in failing])
        if message.role is Role.ASSISTANT:
            return None
    return None


def of_words(text: str, now: datetime) -> RecallQuestion | None:
    """A text that a person searches memory for, whether it asks anything or not; None where it has no word to find."""
    timed = spans(text, now)
    rest = timed.rest if timed.spans and stems(timed.rest) else text
    found = dict.fromkeys(stems(rest), 1.0)
    route = route_of(text, timed.spans, advice=wants_advice(text))
    return RecallQuestion(rest, found, work=0.0, route=route) if found else None


def simpler(question: RecallQuestion) -> tuple[tuple[SubQuestion, RecallQuestion], ...]:
    """The simpler questions that a person's question consists of; none where it is simple, which most are."""
    if question.asker is not QuestionAuthor.PERSON or question.route is NOWHERE or len(question.stems) < _COMPLEX:
        return ()
    found = []
    for part in parts(question.text):
        route = route_of(part.text, question.route.spans, advice=question.route.advice)
        part_stems = dict.fromkeys(stems(part.text), 1.0)
        found.append((part, replace(question, text=part.text, stems=part_stems, route=route)))
    return tuple(found)


def _of_person(spoken: str, before: str, now: datetime | None) -> RecallQuestion | None:
    whole = _cut(_FENCE.sub(" ", spoken).strip() or spoken)
    text, questions = whole, asking(whole)
    if questions and (bare := asking(plain := without_form(whole))):
        text, questions = plain, bare
    timed = spans(text, now) if now is not None and questions else None
    if timed is not None and timed.spans and stems(timed.rest):
        text, questions = timed.rest, asking(timed.rest) or [timed.rest]
    found = dict.fromkeys(stems(" ".join(questions) or text), 1.0)
    if questions and only_moves_on(found):
        # "I need a new bicycle. Which one should I take?": the question's subject stands before it.
        found = dict.fromkeys(stems(text), 1.0)
    if timed is not None and timed.spans:
        # "On Tuesday" may mean what was noted under "Tuesday:", whenever that was.
        found.update(dict.fromkeys(stems(" ".join(_WEEKDAY.findall(whole))), 1.0))
    if not found or (not questions and only_moves_on(found)):
        return None
    work = about_work(found) if questions else 1.0
    if questions:
        # What stands around a question (the story before it) counts lightly.
        for around in stems(text):
            found.setdefault(around, _AROUND)
    if len(found) <= _LEANS and before:
        echoes = [echo for echo in stems(before) if echo not in found]
        if not only_moves_on(echoes):
            found.update(dict.fromkeys(echoes, _AROUND))
            text = f"{text}\n{before}"
    advice = wants_advice(text)
    route = route_of(whole, timed.spans if timed is not None else (), advice=advice) if questions or advice else NOWHERE
    return RecallQuestion(
        text, found, work=work, advice=advice, route=route, whole="" if text.startswith(whole) else whole
    )


def _antecedent(messages: Sequence[Message], index: int) -> str:
    """What a short message may lean on: the beginning of what the person said before it."""
    for at in range(index - 1, -1, -1):
        if spoken := messages[at].spoken.strip():
            return _FENCE.sub(" ", spoken)[:400]
    return ""


def _error_lines(failing: Sequence[ToolResult]) -> RecallQuestion | None:
    """The lines of results that tell what went wrong; those without any ask nothing."""
    lines: dict[str, None] = {}
    for result in failing:
        for line in _cut(printed(result.text)).splitlines():
            if _ERROR.search(line) and not _ENDED.fullmatch(line):
                lines.setdefault(_NOISE.sub(" ", line).strip()[:300])
    text = "\n".join(list(lines)[-_ERROR_LINES:])
    found = dict.fromkeys(stems(text), 1.0)
    return RecallQuestion(text, found, QuestionAuthor.TOOL) if found else None


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_MESSAGE_CHARS
        else f"{text[: _MAX_MESSAGE_CHARS // 2]}\n{text[-_MAX_MESSAGE_CHARS // 2 :]}"
    )


MAX_SENTENCE_CHARS: Final = 400
"""Characters of a sentence beyond which it orders more than a form."""

_EXAMPLE: Final = re.compile(
    r"\((?:e\.?\s?g\b\.?|ex\b|i\.?e\b\.?|example\b|for example\b)[^()]{0,200}\)", re.IGNORECASE
)
"""An example in brackets: a value that is not the one asked for."""

_FORMS: Final = (
    r"(?:format|form|style|alphabetical|chronological|ascending|descending|digits?|numerals?|decimals?|figures"
    r"|(?:one|a single|two|three|\d+|few) (?:words?|sentences?|lines?)|words only|capitals"
    r"|(?:upper|lower) ?case|letters|json|yaml|csv|markdown|bullet(?:s| points)|a table|a list"
    r"|(?:bulleted|numbered|comma[- ]separated) list|yes or no|rounded|short(?:ly)?|brief(?:ly)?|concise(?:ly)?"
    r"|nothing else|no explanation|without explanation)"
)
_PLEASE: Final = r"^[\s\"'(]*(?:(?:please|just|only|and|then|also)\s+){0,3}"
_SOME: Final = r"(?:(?:very|as|really|nice and|in|to|under|within|at|most|a|an|the|only|just|with|using|and)\s+){0,4}"
_SHAPES: Final = re.compile(
    _PLEASE + r"(?:(?:(?:answer|respond|reply)"
    r"|(?:put|show|keep) (?:the|your|all|every|each) (?:answers?|repl(?:y|ies)|responses?|results?))"
    r"\b[^.!?\n]{0,80}?\b"
    r"|(?:be|(?:put|show|keep) (?:it|them))\s+" + _SOME + r")" + _FORMS + r"\b",
    re.IGNORECASE,
)
"""A sentence that orders how the answer should look. "Keep" and the like order much else: with them it has to be the
answer itself that is kept, or nothing may stand between."""

_GIVE: Final = re.compile(
    _PLEASE + r"(?:return|give|list|write|format|express|state|provide|output|print|present)\b", re.IGNORECASE
)
"""An order to give something, which may be what is asked: only the form in it is about the answer."""
_FORM: Final = re.compile(
    r"\b(?:(?:in|as|to|with|using|within)\s+)?"
    + _SOME
    + r"(?:this\s+)?"
    + _FORMS
    + r"(?:\s+(?:order|format|form|case))?\b"
    # What a form is a form of is asked for: "a list of the ships"; and so is what is only called by one: "CSV files".
    # A template of the value ("in the format YYYY-MM-DD") begins with capitals.
    r"(?=\s*(?:$|[^\w\s]|\d|(?:of\s+)?(?-i:[A-Z]{2})|of\s+(?:names|numbers|values|words)\b"
    r"|(?:in|as|with|to|and|or|only|please|like|such|without|separated|each|per|at|answers?|reply|response|"
    + _FORMS
    + r")\b))(?:[^:,;.!?\n]*:.*|[^,;.!?\n]*)",
    re.IGNORECASE,
)
_ANSWER: Final = vocabulary(
    "me us it them this that these those the a an all each every both your its only just final exact answer answers "
    "reply response result results value values number numbers sum total amount count name names date time"
)
"""Words that name no more than the answer."""

_OURS: Final = re.compile(
    r"\b(?:I|we|my|our|ours|mine|us|yesterday|ago|last (?:time|night|week|month|year))\b", re.IGNORECASE
)
"""What speaks of something that was: "give me the format that we agreed on" asks for it."""


def without_form(text: str) -> str:
    """A message without what it only says about the form of its answer; the message itself where nothing else is
    in it."""
    bare = _EXAMPLE.sub(" ", text)
    remaining = "".join(map(_without_answer_format, SENTENCE.findall(bare)))
    return remaining.strip() or text


def _without_answer_format(sentence: str) -> str:
    """What of a sentence is not about the form of the answer."""
    if len(sentence) > MAX_SENTENCE_CHARS or _OURS.search(sentence) is not None:
        return sentence
    if _SHAPES.match(sentence) is not None:
        return ""
    gives = _GIVE.match(sentence)
    form = _FORM.search(sentence, gives.end()) if gives else None
    if gives is None or form is None:
        return sentence
    left = sentence[gives.end() : form.start()] + sentence[form.end() :]
    named = {word.casefold() for word in re.findall(r"\w+", left)} - _ANSWER
    return sentence[: form.start()] + sentence[form.end() :] if named else ""
