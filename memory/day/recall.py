"""Ask the stores what memory holds for a moment. What is worth showing is decided in :mod:`memory.context`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.behaviour import Failure
from memory.context.diversity import diverse
from memory.context.doubt import rivals_of, showable
from memory.context.floor import FLOOR, Floor
from memory.context.lexical import weigh
from memory.context.neighbours import REACH, anchors, joined
from memory.context.pack import pack
from memory.context.past import Past, past_of
from memory.context.question import Asker, Question, ask
from memory.context.rank import Scored, asked_then, rank
from memory.context.route import reach
from memory.conversation import Conversation
from memory.day.given import Recalled
from memory.language.spans import Span
from memory.learning.behaviour.again import failures, remedies
from memory.ports import Embedder, Found, Index, Journal, Query, Sparse, Vector
from memory.scope import Scope
from memory.session import Arrival, Session
from memory.settings import RecallSettings

BUSY_SECONDS = 0.1
"""How long after a request others give way."""

TIMES = 2
"""Times of one question that are searched by themselves."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The memories that are worth showing, best first, and how long each step of the search took."""

    scored: tuple[Scored, ...]
    steps: dict[str, float]


class Recall:
    """The shell that searches."""

    def __init__(
        self,
        settings: RecallSettings,
        journal: Journal,
        index: Index,
        embedder: Embedder,
        asked: Callable[[Scope], None] = lambda scope: None,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self.index = index
        self.embedder = embedder
        self._asked = asked
        self._asked_at = float("-inf")

    def busy(self) -> bool:
        """Whether a request has asked a moment ago: then there will be another one soon."""
        return time.monotonic() - self._asked_at < BUSY_SECONDS

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: frozenset[str]
    ) -> Recalled:
        """What memory holds for the newest message of a conversation, packed into a budget of tokens."""
        self._asked_at = time.monotonic()
        self._asked(session.scope)
        question, failed = ask(conversation, arrival.at), failures(conversation)
        if question is None and not failed:
            return Recalled(note="asks nothing")
        owners = session.scope.owners()
        fixes = await self._fixes(failed, owners, session.id, present) if failed else []
        searched, said = Searched((), {}), ""
        if question is not None:
            past = past_of(question.text, arrival.at) if question.asker is Asker.PERSON else None
            said = question.text if question.asker is Asker.PERSON else ""
            searched = await self.search(question, owners, arrival.at, present, session.id, past=past)
        known = {each.id for each in fixes}
        scored = [*fixes, *(each for each in searched.scored if each.id not in known)]
        other = rivals_of(each.memory for each in scored)
        rivals = showable(await self._journal.memories(other, owners), arrival.at) if other else []
        packed = pack(scored, tokens, arrival.at, said=said, rivals=rivals)
        note = "" if packed.text else "found nothing that belongs here"
        return Recalled(packed.text, packed.shown, note, steps=searched.steps)

    async def _fixes(
        self, failed: Sequence[Failure], owners: Sequence[str], session: str, present: frozenset[str]
    ) -> list[Scored]:
        """What put the same errors right before; they come before anything that is only alike."""
        keys = [key.hash for failure in failed for key in failure.keys]
        known = remedies(failed, await self._journal.remedies(owners, keys), session)
        return [Scored(each.fact, 1.0, {"same error": 1.0}) for each in known if each.fact.id not in present]

    async def search(
        self,
        question: Question,
        owners: Sequence[str],
        now: datetime,
        present: frozenset[str] = frozenset(),
        session: str = "",
        floor: Floor = FLOOR,
        past: Past | None = None,
        as_of: datetime | None = None,
    ) -> Searched:
        """Search the memories of some owners. ``session`` is the one that asks: its own turns are not memories. A
        question about a ``past`` time finds what was superseded too; ``as_of`` a moment what was known at it."""
        clock = Steps()
        counted = await self._journal.rarity(owners, question.terms)
        weighed = weigh(question, counted)
        clock.lap("rarity")
        embed = self.embedder.query
        dense = (
            embed(question.text, weighed.idf)
            if self.embedder.quick
            else await asyncio.to_thread(embed, question.text, weighed.idf)
        )
        clock.lap("embed")
        found = await self.index.search(
            Query(
                tuple(owners),
                dense,
                weighed.sparse,
                self._settings.candidates,
                until=as_of.timestamp() if as_of else None,
            )
        )
        clock.lap("index")
        if spans := [span for span in question.route.spans if not span.yearly]:
            found = _united(found, await self._then(owners, dense, weighed.sparse, spans, as_of))
            clock.lap("then")
        found.sort(key=lambda hit: (-(weighed.coverage(hit.lexical) + hit.cosine), hit.id))
        found = found[: self._settings.candidates * (2 if spans else 1)]
        ids = [hit.id for hit in found]
        memories = {memory.id: memory for memory in await self._journal.memories(ids, owners)}
        clock.lap("read")
        candidates = [(hit, memories[hit.id]) for hit in found if hit.id in memories]
        scored = rank(
            question,
            weighed,
            candidates,
            now,
            present=present,
            session=session,
            floor=floor,
            past=past,
            as_of=as_of,
        )
        clock.lap("rank")
        if scored:
            beside = anchors(scored, asked_then(weighed, candidates, session))
            # One after the other: each is so quick that side by side would only cost more.
            fetched = [
                passage
                for place in beside
                for passage in await self._journal.neighbours(place.session, place.turn, REACH.turns, owners)
                if as_of is None or passage.at <= as_of
            ]
            over = present | frozenset(ids)
            scored = diverse(joined(scored, fetched, beside, route=question.route, passed_over=over))
            clock.lap("beside")
        return Searched(tuple(scored), clock.laps)

    async def _then(
        self, owners: Sequence[str], dense: Vector, sparse: Sparse, spans: Sequence[Span], as_of: datetime | None
    ) -> list[Found]:
        """What fits a question among what was said about the times that it names."""
        found: list[Found] = []
        for span in spans[:TIMES]:
            before, behind = (timedelta(days=days) for days in reach(span))
            until = (span.end + behind).timestamp()
            query = Query(
                tuple(owners),
                dense,
                sparse,
                self._settings.candidates,
                since=(span.begin - before).timestamp(),
                until=min(until, as_of.timestamp()) if as_of else until,
            )
            found = _united(found, await self.index.search(query))
        return found


def _united(one: Sequence[Found], other: Sequence[Found]) -> list[Found]:
    """What two searches found: what both did with the better score of each leg."""
    united = {hit.id: hit for hit in one}
    for hit in other:
        known = united.get(hit.id, hit)
        united[hit.id] = Found(hit.id, max(hit.cosine, known.cosine), max(hit.lexical, known.lexical))
    return list(united.values())


class Steps:
    """Milliseconds of each step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
