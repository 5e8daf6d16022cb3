"""Ask the stores what memory holds for a moment. What is worth showing is decided in :mod:`memory.context`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from memory.behaviour import CommandFailure
from memory.context.broad_questions import whole
from memory.context.explain import Explained, explained
from memory.context.pack import pack, rivals_of, showable
from memory.context.question import QuestionAuthor, RecallQuestion, ask
from memory.context.rank import Memory, Scored
from memory.context.search_results import SearchContext, SearchResult
from memory.context.temporal_questions import past_of
from memory.conversation import Conversation, Message, Role, Text
from memory.fact import Fact, Origin
from memory.hooks.feature import MemoryMark
from memory.learning.behaviour.fixes import failing, remedies
from memory.ports import Embedder, Index, Journal
from memory.scope import Scope
from memory.services.context_sources import Recalled
from memory.services.deadline import longest_recall
from memory.services.search.broad_answers import BroadAnswerJournal, answer_broadly, profiles
from memory.services.search.leg_weights import LegWeights
from memory.services.search.searching import Searcher
from memory.session import Arrival, RequestKind, Session
from memory.settings import RecallSettings

BUSY_SECONDS = 0.1
"""How long after a request others give way."""

LATER_SHARE = 0.4
"""The share of the time that recall may take for what was said later about a fact."""

CROWDED_SECONDS = 1.0
"""How long after a request that had waited for too long there are still too many of them."""


Marks = Callable[[Session, Arrival, Sequence[Memory]], Awaitable[Mapping[str, MemoryMark]]]
"""How memories are shown, by their ids."""


async def no_marks(session: Session, arrival: Arrival, memories: Sequence[Memory]) -> Mapping[str, MemoryMark]:
    """All are shown as they are."""
    return {}


class RecallJournal(Journal, BroadAnswerJournal, Protocol):
    """What this needs of the journal."""


class Recall:
    """Searches."""

    def __init__(
        self,
        settings: RecallSettings,
        journal: RecallJournal,
        index: Index,
        embedder: Embedder,
        on_request: Callable[[Scope], None] = lambda scope: None,
        marks: Marks = no_marks,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self.index = index
        self.embedder = embedder
        self._on_request = on_request
        self._marks = marks
        self._last_request_at = float("-inf")
        self._crowded_at = float("-inf")
        self.weighing = LegWeights(journal)

    def busy(self) -> bool:
        """Whether a request has asked a moment ago: then there will be another one soon."""
        return time.monotonic() - self._last_request_at < BUSY_SECONDS

    def crowded(self) -> bool:
        """Whether more requests come than can be prepared."""
        return time.monotonic() - self._crowded_at < CROWDED_SECONDS

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: Mapping[str, str]
    ) -> Recalled:
        """What memory holds for the newest message of a conversation, packed into a budget of tokens. ``present`` are
        the memories that stand in the request, by their ids, each with the text that it stands in: what that tells of
        one only in part may come whole.

        Raises:
            TimeoutError: where the request has stood in a queue for as long as recall may take at most: who searches
                for it makes all behind it wait.
        """
        self._last_request_at = time.monotonic()
        if arrival.waited * 1000 >= self._settings.deadline_ms:
            self._crowded_at = self._last_request_at
        person = bool(conversation.messages) and bool(conversation.messages[conversation.newest].spoken)
        if arrival.waited >= longest_recall(self._settings, person):
            raise TimeoutError
        self._on_request(session.scope)
        errors = failing(conversation)
        question = ask(conversation, arrival.at, [each.result for each in errors])
        failed = [each.failure for each in errors if each.failure is not None]
        broad_question = (
            whole(conversation.messages[conversation.newest].spoken, arrival.at) if conversation.messages else None
        )
        if question is None and not failed and broad_question is None:
            return Recalled(note="asks nothing")
        owners = (*session.scope.owners(), *arrival.also)
        broad = (
            await answer_broadly(self._journal, broad_question, owners, session.id, arrival.at)
            if broad_question is not None
            else []
        )
        fixes = await self._fixes_of_errors(failed, owners, session.id, present) if failed else []
        searched, text = SearchResult((), {}), ""
        if question is not None and not (broad and broad_question is not None and broad_question.span):
            # What answers for a whole time leaves nothing to be found by the few words that ask for it.
            text = question.said if question.asker is QuestionAuthor.PERSON else ""
            past = past_of(text, arrival.at) if text else None
            moment = SearchContext(
                tuple(owners), arrival.at, present, session.id, past=past, work=bool(conversation.tools)
            )
            searched = await self.search(question, moment)
        people: list[Scored] = []
        if question is not None and broad_question is None:
            people = await profiles(self._journal, question, owners, session.id, arrival.at, searched.scored)
        remarks = [
            each for each in searched.remarks if may_recall(each.fact, arrival) and may_recall(each.later, arrival)
        ]
        beside = [memory for each in remarks for memory in (each.fact, each.later)]
        shown = {each.id: each for each in (*[scored.memory for scored in (*fixes, *searched.scored)], *beside)}
        marks = await self._marks(session, arrival, [*shown.values()])
        remarks = [each for each in remarks if _is_whole(each.fact, marks) and _is_whole(each.later, marks)]
        fixes, best = apply_marks(fixes, marks), apply_marks(searched.scored, marks)
        # What a search shows of those that stand there is told there in part.
        given = (present.keys() - {each.memory.id for each in best}) | {each.memory.id for each in fixes}
        found = [each for each in (*broad, *best, *people) if each.memory.id not in given]
        if arrival.kind is RequestKind.SUBAGENT:
            found = [each for each in found if may_recall(each.memory, arrival)]
        # Of what was found twice the first stands for both.
        first: dict[str, Scored] = {}
        for each in found:
            if (id := each.memory.id) not in first:
                first[id] = each
        scored = [*fixes, *first.values()]
        other = rivals_of(each.memory for each in scored)
        rivals = showable(await self._journal.memories(other, owners), arrival.at) if other else []
        words = {id: mark.words for id, mark in marks.items() if mark.words}
        terms = question.terms if question else ()
        packed = pack(
            scored, tokens, arrival.at, value=text, rivals=rivals, question_ids=terms, marks=words, remarks=remarks
        )
        note = "" if packed.text else "found nothing that belongs here"
        return Recalled(packed.text, packed.shown, note, steps=searched.steps)

    async def _fixes_of_errors(
        self, failed: Sequence[CommandFailure], owners: Sequence[str], session: str, present: Container[str]
    ) -> list[Scored]:
        """What put the same errors right before; they come before anything that is only alike."""
        keys = [key.hash for failure in failed for key in failure.keys]
        known = remedies(failed, await self._journal.remedies(owners, keys), session)
        return [Scored(each.fact, 1.0, {"same error": 1.0}) for each in known if each.fact.id not in present]

    async def search(self, question: RecallQuestion, moment: SearchContext) -> SearchResult:
        """Search the memories of some owners."""
        patience = LATER_SHARE * self._settings.deadline_ms / 1000
        searching = Searcher(
            self._settings.candidates, self._journal, self.index, self.embedder, self.weighing, patience
        )
        return await searching.search(question, moment)

    async def explain(self, text: str, moment: SearchContext, tokens: int) -> Explained:
        """What recall would do with a message: what is searched for, what is found, what of it is cut and why."""
        words = Conversation("", "", (Message(Role.USER, (Text(text),), b"", spoken=text),))
        question, broad_question = ask(words, moment.now), whole(text, moment.now)
        broad = (
            await answer_broadly(self._journal, broad_question, moment.owners, moment.session, moment.now)
            if broad_question is not None
            else []
        )
        moment = replace(moment, past=past_of(text, moment.now))
        searched = SearchResult((), {})
        if question is not None and not (broad and broad_question is not None and broad_question.span):
            searched = await self.search(question, moment)
        if broad:
            known = {each.id for each in broad}
            scored, ranked = (
                (*broad, *(each for each in found if each.id not in known))
                for found in (searched.scored, searched.ranked)
            )
            searched = replace(searched, scored=scored, ranked=ranked)
        elif question is not None and broad_question is None:
            people = await profiles(self._journal, question, moment.owners, moment.session, moment.now, searched.scored)
            known = {each.id for each in people}
            ranked = tuple(each for each in searched.ranked if each.id not in known)
            searched = replace(searched, scored=(*searched.scored, *people), ranked=(*ranked, *people))
        packed = pack(searched.scored, tokens, moment.now, remarks=searched.remarks)
        return explained(searched, packed, moment, tokens)


def apply_marks(scored: Sequence[Scored], marks: Mapping[str, MemoryMark]) -> list[Scored]:
    """A ranking with what counts for less behind the rest of it, and without what counts for nothing."""
    if not marks:
        return [*scored]
    whole: list[Scored] = []
    less: list[Scored] = []
    for each in scored:
        weight = marks[each.id].weight if each.id in marks else 1.0
        if weight >= 1.0:
            whole.append(each)
        elif weight > 0.0:
            less.append(each._replace(score=each.score * weight, why={**each.why, "checkout": weight}))
    return [*whole, *sorted(less, key=lambda each: -each.score)]


def _is_whole(memory: Memory, marks: Mapping[str, MemoryMark]) -> bool:
    return memory.id not in marks or marks[memory.id].weight >= 1.0


def may_recall(memory: Memory, arrival: Arrival) -> bool:
    """Whether a memory is for the one who asks. A sub-agent is reminded of what holds, not of what was said: what
    others found comes to it as research, or not at all."""
    holds = isinstance(memory, Fact) and memory.origin is not Origin.SUBAGENT
    return holds or arrival.kind is not RequestKind.SUBAGENT
