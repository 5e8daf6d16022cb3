"""What one exchange teaches: drafts of facts and passages, from what is fresh in it.

A client sends its whole history again and again; only the messages that no earlier exchange had are read, so a
retry teaches nothing twice. A person's words are what the runtime left of a message (``spoken``). What an assistant
says in a turn in which it read tools, the web or a sub-agent's report carries their origin, and no order, decision or
preference is ever taken from it: it may be somebody else's text, repeated word for word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from memory.conversation import Message, Role
from memory.fact import FactDraft, FactKind, Origin, Stream
from memory.language.entities import speaker_in
from memory.learning.extract import extract
from memory.learning.hearsay import of_a_page, without_orders
from memory.learning.lesson_result import Learned, PassageDraft, Taught, Withdrawal
from memory.learning.notes import RUNTIME, without_headings
from memory.learning.passages import only_asks, passages
from memory.learning.pasted_text import parted
from memory.learning.sensitivity import sensitivity
from memory.learning.stated_time import moment
from memory.learning.taint import lowered
from memory.learning.taking_back import withdrawing
from memory.ports import Journaled
from memory.scope import Layer
from memory.session import RequestKind
from memory.understanding.forms import is_everywhere, is_here

_TAINTED_SHARE = 0.8
_NARRATION = 200
"""Characters below which the text beside tool calls only tells what is being done."""


def learn(journaled: Journaled, *, assistant: bool = True, instructions: str = "") -> Learned:
    """What an exchange teaches. ``assistant``: whether an assistant's text is read too; ``instructions`` is the text
    outside the messages, in which runtimes state the date."""
    if journaled.kind not in (RequestKind.MAIN, RequestKind.SUBAGENT):
        return Learned()
    at = moment(journaled.messages, journaled.at, instructions=instructions)
    subagent = journaled.kind == RequestKind.SUBAGENT
    turns = [(journaled.turn(index), message) for index, message in enumerate(journaled.messages)]
    fresh = {journaled.turn(index) for index in journaled.fresh}
    if journaled.reply is not None:
        last = journaled.turn(len(turns))
        fresh.add(last)
        turns.append((last, journaled.reply))
    if not fresh:
        return Learned()
    begin = _begins(turns, fresh)
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
            own, found = parted(message.spoken)
            if turn in fresh:
                told = without_headings(own) if journaled.session.runtime == RUNTIME else own
                drafts = extract(told, origin, at, before=reply, question=question, work=work)
                project = journaled.session.scope.project or ""
                facts.extend(Taught(_where_it_belongs(draft, project), message.digest, turn) for draft in drafts)
                if not subagent and (beside := withdrawing(told)):
                    earlier = {*journaled.between, *(each.digest for _, each in turns[:index])}
                    withdrawals.append(Withdrawal(beside, frozenset(earlier)))
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


def _where_it_belongs(draft: FactDraft, project: str) -> FactDraft:
    """A draft that would hold in all of somebody's projects and says that it is about the one at hand, or names it, is
    about that one."""
    if draft.layer is not Layer.USER or is_everywhere(draft.text):
        return draft
    name = project.rstrip("/").rpartition("/")[2]
    named = len(name) >= _A_NAME and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", draft.text, re.IGNORECASE)
    here = named or is_here(draft.text)
    return replace(draft, layer=Layer.USER_PROJECT, stream=Stream.PROJECTS) if here else draft


_A_NAME = 4
"""Letters of a project's name at least that is looked for in what is said."""


def _begins(turns: Sequence[tuple[int, Message]], fresh: Collection[int]) -> int:
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
