"""Ask the stores what memory holds for a moment. What is worth showing is decided in :mod:`memory.context`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from memory.behaviour import Failure
from memory.context.doubt import rivals_of, showable
from memory.context.explain import Explained, explained
from memory.context.pack import pack
from memory.context.past import past_of
from memory.context.question import Asker, Question, ask
from memory.context.rank import Memory, Scored
from memory.context.searched import Moment, Searched
from memory.context.whole import whole
from memory.conversation import Conversation, Message, Role, Text
from memory.day.given import Recalled
from memory.day.search.searching import Searching
from memory.day.search.telling import Days, profiles, tell
from memory.day.search.weighing import Weighing
from memory.fact import Fact, Origin
from memory.hooks.feature import Mark
from memory.learning.behaviour.again import failing, remedies
from memory.ports import Embedder, Index, Journal
from memory.scope import Scope
from memory.session import Arrival, RequestKind, Session
from memory.settings import RecallSettings

BUSY_SECONDS = 0.1
"""How long after a request others give way."""

CROWDED_SECONDS = 1.0
"""How long after a request that had waited for too long there are still too many of them."""


Marks = Callable[[Session, Arrival, Sequence[Memory]], Awaitable[Mapping[str, Mark]]]
"""How memories are shown, by their ids."""


async def unmarked(session: Session, arrival: Arrival, memories: Sequence[Memory]) -> Mapping[str, Mark]:
    """All are shown as they are."""
    return {}


class Asked(Journal, Days, Protocol):
    """What this needs of the journal."""


class Recall:
    """The shell that searches."""

    def __init__(
        self,
        settings: RecallSettings,
        journal: Asked,
        index: Index,
        embedder: Embedder,
        asked: Callable[[Scope], None] = lambda scope: None,
        marks: Marks = unmarked,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self.index = index
        self.embedder = embedder
        self._asked = asked
        self._marks = marks
        self._asked_at = float("-inf")
        self._crowded_at = float("-inf")
        self.weighing = Weighing(journal)

    def busy(self) -> bool:
        """Whether a request has asked a moment ago: then there will be another one soon."""
        return time.monotonic() - self._asked_at < BUSY_SECONDS

    def crowded(self) -> bool:
        """Whether more requests come than can be prepared."""
        return time.monotonic() - self._crowded_at < CROWDED_SECONDS

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: frozenset[str]
    ) -> Recalled:
        """What memory holds for the newest message of a conversation, packed into a budget of tokens.

        Raises:
            TimeoutError: where the request has stood in a queue for as long as recall may take: who searches for it
                makes all behind it wait.
        """
        self._asked_at = time.monotonic()
        if arrival.waited * 1000 >= self._settings.deadline_ms:
            self._crowded_at = self._asked_at
            raise TimeoutError
        self._asked(session.scope)
        errors = failing(conversation)
        question = ask(conversation, arrival.at, [each.result for each in errors])
        failed = [each.failure for each in errors if each.failure is not None]
        asked = whole(conversation.messages[conversation.newest].spoken, arrival.at) if conversation.messages else None
        if question is None and not failed and asked is None:
            return Recalled(note="asks nothing")
        owners = session.scope.owners()
        told = await tell(self._journal, asked, owners, session.id, arrival.at) if asked is not None else []
        fixes = await self._fixes(failed, owners, session.id, present) if failed else []
        searched, said = Searched((), {}), ""
        if question is not None and not (told and asked is not None and asked.span):
            # What answers for a whole time leaves nothing to be found by the few words that ask for it.
            said = question.said if question.asker is Asker.PERSON else ""
            past = past_of(said, arrival.at) if said else None
            moment = Moment(tuple(owners), arrival.at, present, session.id, past=past, work=bool(conversation.tools))
            searched = await self.search(question, moment)
        people: list[Scored] = []
        if question is not None and asked is None:
            people = await profiles(self._journal, question, owners, session.id, arrival.at, searched.scored)
        marks = await self._marks(session, arrival, [each.memory for each in (*fixes, *searched.scored)])
        fixes, best = heeding(fixes, marks), heeding(searched.scored, marks)
        found = [each for each in (*told, *best, *people) if each.id not in present]
        known = {each.id for each in fixes}
        scored = [*fixes]
        for each in found:
            if each.id not in known and may_recall(each.memory, arrival):
                known.add(each.id)
                scored.append(each)
        other = rivals_of(each.memory for each in scored)
        rivals = showable(await self._journal.memories(other, owners), arrival.at) if other else []
        words = {id: mark.words for id, mark in marks.items() if mark.words}
        terms = question.terms if question else ()
        packed = pack(scored, tokens, arrival.at, said=said, rivals=rivals, asked=terms, marks=words)
        note = "" if packed.text else "found nothing that belongs here"
        return Recalled(packed.text, packed.shown, note, steps=searched.steps)

    async def _fixes(
        self, failed: Sequence[Failure], owners: Sequence[str], session: str, present: frozenset[str]
    ) -> list[Scored]:
        """What put the same errors right before; they come before anything that is only alike."""
        keys = [key.hash for failure in failed for key in failure.keys]
        known = remedies(failed, await self._journal.remedies(owners, keys), session)
        return [Scored(each.fact, 1.0, {"same error": 1.0}) for each in known if each.fact.id not in present]

    async def search(self, question: Question, moment: Moment) -> Searched:
        """Search the memories of some owners."""
        searching = Searching(self._settings.candidates, self._journal, self.index, self.embedder, self.weighing)
        return await searching.search(question, moment)

    async def explain(self, text: str, moment: Moment, tokens: int) -> Explained:
        """What recall would do with a message: what is searched for, what is found, what of it is cut and why."""
        words = Conversation("", "", (Message(Role.USER, (Text(text),), b"", spoken=text),))
        question, asked = ask(words, moment.now), whole(text, moment.now)
        told = await tell(self._journal, asked, moment.owners, moment.session, moment.now) if asked is not None else []
        moment = replace(moment, past=past_of(text, moment.now))
        searched = Searched((), {})
        if question is not None and not (told and asked is not None and asked.span):
            searched = await self.search(question, moment)
        if told:
            known = {each.id for each in told}
            scored, ranked = (
                (*told, *(each for each in found if each.id not in known))
                for found in (searched.scored, searched.ranked)
            )
            searched = replace(searched, scored=scored, ranked=ranked)
        elif question is not None and asked is None:
            people = await profiles(self._journal, question, moment.owners, moment.session, moment.now, searched.scored)
            known = {each.id for each in people}
            ranked = tuple(each for each in searched.ranked if each.id not in known)
            searched = replace(searched, scored=(*searched.scored, *people), ranked=(*ranked, *people))
        packed = pack(searched.scored, tokens, moment.now)
        return explained(searched, packed, moment, tokens)


def heeding(scored: Sequence[Scored], marks: Mapping[str, Mark]) -> list[Scored]:
    """A ranking with what counts for less behind the rest of it, and without what counts for nothing."""
    whole: list[Scored] = []
    less: list[Scored] = []
    for each in scored:
        weight = marks[each.id].weight if each.id in marks else 1.0
        if weight >= 1.0:
            whole.append(each)
        elif weight > 0.0:
            less.append(each._replace(score=each.score * weight, why={**each.why, "checkout": weight}))
    return [*whole, *sorted(less, key=lambda each: -each.score)]


def may_recall(memory: Memory, arrival: Arrival) -> bool:
    """Whether a memory is for the one who asks. A sub-agent is reminded of what holds, not of what was said: what
    others found comes to it as research, or not at all."""
    holds = isinstance(memory, Fact) and memory.origin is not Origin.SUBAGENT
    return holds or arrival.kind is not RequestKind.SUBAGENT
