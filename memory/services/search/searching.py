"""Search memory for a question: its words and its meaning, the times that it names, its parts, and what stands beside
what was found. Each step is taken only where the question asks for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from memory.context.agent_recall import FEW, at_work, heeded, readable, wants_heeding
from memory.context.agent_recall import TIMES as ADVICE_TIMES
from memory.context.diversity import diverse
from memory.context.graph import SPREAD, names_in_question, near
from memory.context.later_remarks import REACH, LaterRemark, anchors, joined, later_remarks
from memory.context.lexical import OPEN, WeightedQuery, passes, weigh
from memory.context.message_intent import asks_why
from memory.context.question import QuestionAuthor, RecallQuestion, simpler
from memory.context.rank import (
    Memory,
    Scored,
    StaticScores,
    Weights,
    earlier_questions,
    is_question,
    passage_relevance,
    rank,
)
from memory.context.route import reach
from memory.context.search_results import (
    SearchContext,
    SearchPass,
    SearchResult,
    answered_already,
    brings_new,
    for_a_part,
    fused,
)
from memory.context.told_in_part import COVERS, untold
from memory.fact import Fact, Passage
from memory.language.time_spans import Span
from memory.ports import Embedder, Index, IndexHit, Journal, Query, Vector
from memory.services.search.leg_weights import LegWeights
from memory.understanding.packaged_weights import relations, relevance

AT_ONCE = 20
"""Memories that are judged on the loop; more are in a thread, as streams are relayed meanwhile."""
PRESENT = 4
"""Facts that stand in the request already of which what was said later is looked for: those that were found first."""
TIMES = 2
"""Times of one question that are searched by themselves."""


CROWDED = 0.5
"""The share of questions among the candidates from which on more are looked for."""
WIDER = 4
"""How many times as many."""


class StepTimings:
    """Milliseconds of each step, those of the same name added up."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    @property
    def laps(self) -> dict[str, float]:
        """What each has taken so far."""
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self._seconds[name] = self._seconds.get(name, 0.0) + now - self._last
        self._last = now


@dataclass(frozen=True, slots=True)
class SharedSearch:
    """What the searches of one moment share. ``dense`` is the whole question's meaning, by which its parts' words are
    searched too, ``heeds`` whether what the person told of themselves is heeded, ``read`` what was read for it."""

    standing: StaticScores
    weights: Weights
    dense: Vector
    heeds: bool
    read: dict[str, Memory] = field(default_factory=dict)


class Searcher:
    """Searches. ``candidates`` is how many memories each leg brings; ``patience`` how many seconds what was said later
    is waited for."""

    def __init__(
        self,
        candidates: int,
        journal: Journal,
        index: Index,
        embedder: Embedder,
        weighing: LegWeights,
        patience: float,
    ) -> None:
        self._candidates = candidates
        self._patience = patience
        self._journal = journal
        self._index = index
        self._embedder = embedder
        self._weighing = weighing

    async def search(self, question: RecallQuestion, moment: SearchContext) -> SearchResult:
        """What memory holds for a question."""
        clock = StepTimings()
        others = simpler(question)
        terms = tuple(dict.fromkeys([*question.terms, *(term for _, part in others for term in part.terms)]))
        counted = await self._journal.rarity(moment.owners, terms)
        clock.lap("rarity")
        weights = await self._weighing.weights(moment.owners, question.said)
        weighed = weigh(question, counted)
        dense = await self._embedded(question, weighed)
        clock.lap("embed")
        shared = SharedSearch(StaticScores(moment.now), weights, dense, _heeds_the_person(question, moment))
        rounds = [await self._round(question, weighed, moment, clock, shared)]
        for part, part_question in others:
            weighed = weigh(part_question, counted)
            if answered_already(rounds[0], weighed):
                continue
            found = await self._round(part_question, weighed, moment, clock, shared, part.weight, part.shape.value)
            new = brings_new(rounds, found)
            rounds.append(found)
            if not new:
                break
        ranked = fused(rounds)
        clock.lap("rank")
        scored: list[Scored] = []
        remarks: list[LaterRemark] = []
        if moment.work and question.asker is QuestionAuthor.PERSON:
            if ranked:
                scored = diverse(await self._for_agent_at_work(question, rounds, ranked, moment))
            clock.lap("beside")
            remarks = await self._said_later(question, rounds, scored, moment)
            clock.lap("later")
        elif ranked:
            ranked = await self._beside(question, rounds, ranked, moment, weights)
            scored = diverse(ranked)
            clock.lap("beside")
        if shared.heeds:
            scored = await self._with_heeded(question, rounds[0], scored, moment)
            clock.lap("heed")
        return SearchResult(tuple(scored), clock.laps, tuple(rounds), tuple(ranked), tuple(remarks))

    async def _for_agent_at_work(
        self, question: RecallQuestion, rounds: Sequence[SearchPass], ranked: Sequence[Scored], moment: SearchContext
    ) -> list[Scored]:
        whole = rounds[0]
        evidence = [pair for pair in whole.candidates if not is_question(pair[1])]
        judged = partial(
            at_work,
            question.said,
            ranked,
            [memory for each in rounds for _, memory in each.candidates],
            relevance(),
            worded=passes(question, whole.weighed, evidence),
            asks=question.work < 1.0 or "?" in question.said,
            told=passage_relevance(whole.weighed, whole.candidates, moment.present),
            present=moment.present,
            untold={id: rest for each in rounds for id, rest in each.untold.items()},
        )
        # What has not been read since the start is read now, half a millisecond each.
        return judged() if len(ranked) <= AT_ONCE else await asyncio.to_thread(judged)

    async def _said_later(
        self, question: RecallQuestion, rounds: Sequence[SearchPass], scored: Sequence[Scored], moment: SearchContext
    ) -> list[LaterRemark]:
        """What was said later about the facts that help with a request, those included that stand in it already.
        Where that cannot be read in time the rest goes without it: what was read by then is at hand the next time."""
        candidates = {memory.id: memory for each in rounds for _, memory in each.candidates}
        shown = [each.memory for each in scored]
        if not any(isinstance(memory, Fact) for memory in candidates.values()):
            return []
        remarks = asyncio.to_thread(_remarks, question.said, [*candidates.values()], shown, moment)
        with suppress(TimeoutError):
            return await asyncio.wait_for(remarks, self._patience)
        return []

    async def _with_heeded(
        self, question: RecallQuestion, whole: SearchPass, scored: Sequence[Scored], moment: SearchContext
    ) -> list[Scored]:
        """What was found, with what the person told of themselves before it that the advice must heed."""
        judged = partial(
            heeded,
            question,
            whole.candidates,
            scored,
            relevance(),
            moment.now,
            present=moment.present.keys() - whole.untold.keys(),
            session=moment.session,
            floor=moment.floor,
        )
        return judged() if len(whole.candidates) <= AT_ONCE else await asyncio.to_thread(judged)

    async def _round(
        self,
        question: RecallQuestion,
        weighed: WeightedQuery,
        moment: SearchContext,
        clock: StepTimings,
        shared: SharedSearch,
        weight: float = 1.0,
        shape: str = "",
    ) -> SearchPass:
        dense = shared.dense
        most = self._candidates if not shape else for_a_part(self._candidates)
        most *= ADVICE_TIMES if not shape and shared.heeds else 1
        query = Query(
            moment.owners,
            dense,
            weighed.sparse,
            most,
            by_words=bool(shape),  # what is near to a part is near to the whole
            until=moment.as_of.timestamp() if moment.as_of else None,
        )
        found = await self._index.search(query)
        clock.lap("index")
        if spans := [span for span in question.route.spans if not span.yearly]:
            found = _merge_results(found, await self._at_named_times(weighed, dense, spans, moment))
            clock.lap("then")
        covered = weighed.coverages([hit.lexical for hit in found])
        best = sorted([(-(share + hit.cosine), hit.id, hit) for share, hit in zip(covered, found, strict=True)])
        found = [hit for _, _, hit in best[: most * (2 if spans else 1)]]
        ids = [hit.id for hit in found]
        close = await self._nearness_to_names(question, ids, moment) if not shape else {}
        if close:
            # What only the graph brings shares no word and no meaning with the question; its nearness is all it has.
            known = set(ids)
            found += [IndexHit(id, 0.0, 0.0) for id in close if id not in known]
            ids = [hit.id for hit in found]
            clock.lap("graph")
        memories = shared.read
        if unread := [id for id in ids if id not in memories]:
            memories |= {memory.id: memory for memory in await self._journal.memories(unread, moment.owners)}
        clock.lap("read")
        candidates = [(hit, memories[hit.id]) for hit in found if hit.id in memories]
        asked = [memory for _, memory in candidates if memory.__class__ is Passage and memory.question]
        if len(asked) > CROWDED * most:
            # Who asks the same thing in like words again and again must not crowd out what answers it.
            candidates += await self._best_answers(replace(query, limit=WIDER * most), weighed, memories)
            clock.lap("wider")
        at_work = moment.work and question.asker is QuestionAuthor.PERSON
        rests = untold(
            [memory for _, memory in candidates],
            moment.present,
            weighed,
            asks_why=asks_why(question.said),
            covers=0.0 if at_work else COVERS,  # what comes to an agent at work is judged by what it says as well
        )
        scored = rank(
            question,
            weighed,
            candidates,
            moment.now,
            present=moment.present,
            untold=rests,
            session=moment.session,
            floor=OPEN if at_work else moment.floor,
            past=moment.past,
            as_of=moment.as_of,
            standing=shared.standing,
            weights=shared.weights,
            graph=close,
        )
        clock.lap("rank")
        return SearchPass(question, weighed, tuple(candidates), tuple(scored), weight, shape, rests)

    async def _best_answers(
        self, query: Query, weighed: WeightedQuery, known: dict[str, Memory]
    ) -> list[tuple[IndexHit, Memory]]:
        """The best of what a query finds that is not known and no question."""
        found = [hit for hit in await self._index.search(query) if hit.id not in known]
        known |= {memory.id: memory for memory in await self._journal.memories([hit.id for hit in found], query.owners)}
        answers = [(hit, known[hit.id]) for hit in found if hit.id in known and not is_question(known[hit.id])]
        answers.sort(key=lambda pair: (-(weighed.coverage(pair[0].lexical) + pair[0].cosine), pair[0].id))
        return answers[: query.limit // WIDER]

    async def _embedded(self, question: RecallQuestion, weighed: WeightedQuery) -> Vector:
        embed = self._embedder.query
        if self._embedder.quick:
            return embed(question.text, weighed.idf)
        return await asyncio.to_thread(embed, question.text, weighed.idf)

    async def _nearness_to_names(
        self, question: RecallQuestion, best: Sequence[str], moment: SearchContext
    ) -> dict[str, float]:
        """How near memories are to the names in a question; most questions have none that memory knows."""
        names = names_in_question(question.text) if question.asker is QuestionAuthor.PERSON else ()
        if not names:
            return {}
        found = tuple(best[: SPREAD.best])
        return near(await self._journal.graph(moment.owners, names, found), names, found)

    async def _at_named_times(
        self, weighed: WeightedQuery, dense: Vector, spans: Sequence[Span], moment: SearchContext
    ) -> list[IndexHit]:
        """What fits a question among what was said about the times that it names."""
        found: list[IndexHit] = []
        for span in spans[:TIMES]:
            before, behind = (timedelta(days=days) for days in reach(span))
            until = (span.end + behind).timestamp()
            query = Query(
                moment.owners,
                dense,
                weighed.sparse,
                self._candidates,
                since=(span.begin - before).timestamp(),
                until=min(until, moment.as_of.timestamp()) if moment.as_of else until,
            )
            found = _merge_results(found, await self._index.search(query))
        return found

    async def _beside(
        self,
        question: RecallQuestion,
        rounds: Sequence[SearchPass],
        ranked: Sequence[Scored],
        moment: SearchContext,
        weights: Weights,
    ) -> list[Scored]:
        """The ranking with the turns beside its best ones."""
        whole = rounds[0]
        beside = anchors(ranked, earlier_questions(whole.weighed, whole.candidates, moment.session))
        places = [(place.session, place.turn) for place in beside]
        fetched = [
            passage
            for passage in await self._journal.neighbours(places, REACH.turns, moment.owners)
            if moment.as_of is None or passage.at <= moment.as_of
        ]
        over = {*moment.present, *[hit.id for each in rounds for hit, _ in each.candidates]}
        return joined(ranked, fetched, beside, route=question.route, weights=weights, passed_over=over)


def _remarks(
    said: str, candidates: Sequence[Memory], shown: Sequence[Memory], moment: SearchContext
) -> list[LaterRemark]:
    new = {memory.id for memory in shown}
    present = [
        memory
        for memory in candidates
        if isinstance(memory, Fact) and memory.id in moment.present and memory.id not in new
    ]
    shares = relevance().shown(said, [readable(fact) for fact in present[:PRESENT]])
    helpful = [fact for fact, share in zip(present, shares, strict=False) if share >= FEW.applies]
    return later_remarks(
        [*(memory for memory in shown if isinstance(memory, Fact)), *helpful],
        candidates,
        shown,
        relations,
        moment.now,
        present=present,
        passed_over=moment.present,
        session=moment.session,
    )


def _heeds_the_person(question: RecallQuestion, moment: SearchContext) -> bool:
    """Whether what the person told of themselves is to be heeded: an agent at work is judged otherwise."""
    elsewhere = moment.work or moment.past is not None or moment.as_of is not None
    return not elsewhere and wants_heeding(question)


def _merge_results(one: Sequence[IndexHit], other: Sequence[IndexHit]) -> list[IndexHit]:
    """What two searches found: what both did with the better score of each leg."""
    united = {hit.id: hit for hit in one}
    for hit in other:
        known = united.get(hit.id, hit)
        united[hit.id] = IndexHit(hit.id, max(hit.cosine, known.cosine), max(hit.lexical, known.lexical))
    return list(united.values())
