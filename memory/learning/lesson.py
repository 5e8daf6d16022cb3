"""What one exchange teaches: drafts of facts and passages, from what is fresh in it.

A client sends its whole history again and again; only the messages that no earlier exchange had are read, so a
retry teaches nothing twice. A person's words are what the runtime left of a message (``spoken``). What an assistant
says in a turn in which it read tools, the web or a sub-agent's report carries their origin, and no order, decision or
preference is ever taken from it: it may be somebody else's text, repeated word for word.

Runtimes write the day into their environment block, and transcripts that are played again carry the day on which
they happened. Our own clock is finer than a stated day, so it is kept while the two agree to within two days.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memory.conversation import Message, Role
from memory.fact import FactDraft, FactKind, Origin, Stream
from memory.language.entities import speaker_in
from memory.learning.extract import extract
from memory.learning.hearsay import of_a_page, without_orders
from memory.learning.lesson_result import Learned, PassageDraft, Taught, Withdrawal
from memory.learning.notes import RUNTIME, without_headings
from memory.learning.passages import only_asks, passages
from memory.learning.sensitivity import sensitivity
from memory.learning.taint import lowered, split_pasted
from memory.learning.taking_back import topic_of, withdrawing
from memory.ports import Journaled
from memory.scope import Layer
from memory.session import RequestKind
from memory.understanding.forms import is_everywhere, is_here

_READ = 200_000
_CUE = re.compile(
    r"(?:\b(?:current|today's|todays|present|conversation|session)[ _](?:local )?(?:date(?:[ _](?:and|&)[ _]time)?|"
    r"time|datetime)|\btoday is|\bthe date is|\bit is now|<(?:current_?)?date(?:time)?>|^date)\b[>\s]{0,3}(?:is|:|"
    r"=|\()?[\s\"'*]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<day>\d{1,2})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? {_MONTH},? (?P<year>(?:19|20)\d\d)",
        rf"{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|"
        rf"th)?,? (?:\d{{1,2}}:\d\d(?::\d\d)? (?:\w{{1,5}} )?)?(?P<year>(?:19|20)\d\d)",
        r"(?P<m>\d{1,2})/(?P<day>\d{1,2})/(?P<year>(?:19|20)\d\d)",
    )
)
_TIME = re.compile(
    r"(?<!\d)(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?::(?P<s>[0-5]\d))?(?: ?(?P<half>[ap])\.?m\.?)?", re.IGNORECASE
)


def conversation_time(messages: Sequence[Message], fallback: datetime, *, instructions: str = "") -> datetime:
    """When the conversation takes place: the date that it states last, else ``fallback`` (aware).

    Only system and developer messages, ``instructions`` and what a runtime wrote into a human message are read; what
    people, models and tools say about dates is no clock. The result is in the zone of ``fallback``.
    """
    for message in reversed(messages):
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            text = message.text
        elif message.role is Role.USER and message.text.strip() != message.spoken.strip():
            text = message.text.replace(message.spoken, " ") if message.spoken else message.text
        else:
            continue
        if (time := stated_time(text, fallback)) is not None:
            return _plausible_time(time, fallback)
    time = stated_time(instructions, fallback)
    return fallback if time is None else _plausible_time(time, fallback)


def stated_time(text: str, fallback: datetime) -> datetime | None:
    """The last date that a text states as the present one, in the zone of ``fallback``; a day without a time is its
    noon."""
    found = None
    for cue in _CUE.finditer(text[:_READ]):
        found = _read_time(text[cue.end() : cue.end() + 60], fallback) or found
    return found


def _plausible_time(time: datetime, fallback: datetime) -> datetime:
    return fallback if abs(time - fallback) < timedelta(days=2) else time


def _read_time(text: str, fallback: datetime) -> datetime | None:
    text = text.split("\n", 1)[0]
    for pattern in _DATES:
        day = pattern.search(text)
        if day is None or day.start() > 30:
            continue
        groups = day.groupdict()
        month = int(groups["m"]) if groups.get("m") else _MONTHS.index(groups["month"].lower()[:3]) + 1
        clock = _TIME.search(text)
        hour, minute, second = (int(clock["h"]), int(clock["min"]), int(clock["s"] or 0)) if clock else (12, 0, 0)
        if clock and clock["half"]:
            hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
        try:
            return datetime(
                int(groups["year"]), month, int(groups["day"]), hour, minute, second, tzinfo=fallback.tzinfo
            )
        except ValueError:
            return None
    return None


_TAINTED_SHARE = 0.8
_NARRATION = 200
"""Characters below which the text beside tool calls only tells what is being done."""


def learn(journaled: Journaled, *, assistant: bool = True, instructions: str = "") -> Learned:
    """What an exchange teaches. ``assistant``: whether an assistant's text is read too; ``instructions`` is the text
    outside the messages, in which runtimes state the date."""
    if journaled.kind not in (RequestKind.MAIN, RequestKind.SUBAGENT):
        return Learned()
    at = conversation_time(journaled.messages, journaled.at, instructions=instructions)
    subagent = journaled.kind == RequestKind.SUBAGENT
    turns = [(journaled.turn(index), message) for index, message in enumerate(journaled.messages)]
    fresh = {journaled.turn(index) for index in journaled.fresh}
    if journaled.reply is not None:
        last = journaled.turn(len(turns))
        fresh.add(last)
        turns.append((last, journaled.reply))
    if not fresh:
        return Learned()
    begin = _first_relevant(turns, fresh)
    facts: list[Taught] = []
    pieces: list[PassageDraft] = []
    withdrawals: list[Withdrawal] = []
    reply = question = ""
    work = journaled.tools or any(message.calls or message.results for _, message in turns)
    taint: Origin | None = None
    before: Message | None = None
    for index, (turn, message) in enumerate(turns[begin:], begin):
        if index == journaled.opening and journaled.between:
            taint, before = journaled.taint, None
        taint, before = lowered(taint, message, before), message
        if message.role is Role.USER and message.spoken:
            # The prompt of a sub-agent was written by its parent: nobody spoke.
            origin = Origin.SUBAGENT if subagent else Origin.USER
            own, found = split_pasted(message.spoken)
            if turn in fresh:
                told = without_headings(own) if journaled.session.runtime == RUNTIME else own
                drafts = extract(told, origin, at, before=reply, question=question, work=work)
                project = journaled.session.scope.project or ""
                facts.extend(Taught(_narrowed_to_project(draft, project), message.digest, turn) for draft in drafts)
                if not subagent and (beside := withdrawing(told)):
                    earlier = {*journaled.between, *(each.digest for _, each in turns[:index])}
                    withdrawals.append(Withdrawal(beside, message.digest, frozenset(earlier), topic_of(told)))
                spoken_pieces = _pieces(without_orders(own) if subagent else own, origin, "user", message, at, turn)
                pieces.extend(spoken_pieces)
                if found:
                    pieces.extend(_pieces(of_a_page(found), Origin.WEB, "page", message, at, turn, len(spoken_pieces)))
            question, reply = own, ""
            taint = Origin.WEB if found else None
        elif message.role is Role.ASSISTANT and (text := message.text).strip():
            reply = text
            if not assistant or turn not in fresh or (message.calls and len(text) < _NARRATION):
                continue
            origin = Origin.SUBAGENT if subagent else taint or Origin.ASSISTANT
            said_on = text if origin is Origin.ASSISTANT else without_orders(text)
            facts.extend(Taught(draft, message.digest, turn) for draft in _drafts(said_on, origin, at))
            pieces.extend(_pieces(said_on, origin, "assistant", message, at, turn))
    return Learned(tuple(facts), tuple(pieces), tuple(withdrawals))


def _narrowed_to_project(draft: FactDraft, project: str) -> FactDraft:
    """A draft that would hold in all of somebody's projects and names the one at hand is about that one; and so is how
    they want work to be done where they say that it is about this one. Where no project is known, what somebody likes
    is kept for themselves."""
    if not project and draft.kind is FactKind.PREFERENCE:
        return replace(draft, layer=Layer.USER)
    if not project or draft.layer is not Layer.USER or is_everywhere(draft.text):
        return draft
    name = project.rstrip("/").rpartition("/")[2]
    named = len(name) >= _A_NAME and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", draft.text, re.IGNORECASE)
    here = named or (draft.kind in _OF_WORK and is_here(draft.text))
    return replace(draft, layer=Layer.USER_PROJECT, stream=Stream.PROJECTS) if here else draft


_OF_WORK = (FactKind.PREFERENCE, FactKind.CONVENTION, FactKind.CORRECTION, FactKind.DECISION)
"""Kinds of what says how work is to be done. Where somebody lives, or whom they work for, holds wherever they work."""

_A_NAME = 4
"""Letters of a project's name at least that is looked for in what is said."""


def _first_relevant(turns: Sequence[tuple[int, Message]], fresh: Collection[int]) -> int:
    """Where to begin to read: where a person spoke last before what is fresh. What came before that bears on nothing
    that was said since."""
    first = next(index for index, (turn, _) in enumerate(turns) if turn in fresh)
    spoken = (at for at in range(first - 1, -1, -1) if turns[at][1].role is Role.USER and turns[at][1].spoken)
    return next(spoken, 0)


def _drafts(text: str, origin: Origin, at: datetime) -> list[FactDraft]:
    """The drafts of an assistant's text; in a tainted turn only observations, with the taint's origin."""
    drafts = extract(text, Origin.ASSISTANT, at)
    if origin is Origin.ASSISTANT:
        return drafts
    return [
        replace(draft, origin=origin, confidence=round(draft.confidence * _TAINTED_SHARE, 3))
        for draft in drafts
        if draft.kind is FactKind.OBSERVATION
    ]


def _pieces(
    text: str, origin: Origin, speaker: str, message: Message, at: datetime, turn: int, first: int = 0
) -> Sequence[PassageDraft]:
    """The passages of a text; their places are counted from ``first``."""
    asks = only_asks(text)
    pieces: list[PassageDraft] = []
    for place, body in passages(text):
        # Chats that were written down name their speaker once, at the head of a turn.
        speaker = speaker_in(body) or speaker
        pieces.append(
            PassageDraft(body, origin, speaker, message.digest, at, turn, first + place, asks, sensitivity(body))
        )
    return pieces
