"""What a request asks of memory: the words to search for, or nothing.

A person's newest words are the question. While an agent is at work, what went wrong in the newest tool result is.
A message without content ("ok", "continue", "yes, do it") asks nothing; a short one that leans on what was said
before takes the words of that along, lightly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.context.answer_format import without_form
from memory.context.decompose import SubQuestion, parts
from memory.context.message_intent import about_work, asking, only_moves_on, wants_advice
from memory.context.route import NOWHERE, QuestionRoute, route_of
from memory.conversation import Conversation, Message, Role, ToolResult
from memory.language.printed import printed
from memory.language.terms import term
from memory.language.time_spans import spans
from memory.language.words import stems


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
    r"[^\n]{0,20}?\b(?:code|status):?\s*-?\d+\W*",
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
            return _of_person(message.spoken, _before(conversation.messages, index), now)
        if message.results:
            return _of_tool([result for result in message.results if result in failing])
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


def _before(messages: Sequence[Message], index: int) -> str:
    """What a short message may lean on: the beginning of what the person said before it."""
    for at in range(index - 1, -1, -1):
        if spoken := messages[at].spoken.strip():
            return _FENCE.sub(" ", spoken)[:400]
    return ""


def _of_tool(failing: Sequence[ToolResult]) -> RecallQuestion | None:
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
