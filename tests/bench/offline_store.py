"""A user's memories in lists and a matrix, learned and recalled through the functions that the server calls."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memory.context.agent_recall import TIMES, heeded, wants_heeding
from memory.context.diversity import DIVERSITY, diverse
from memory.context.later_remarks import REACH, anchors, joined
from memory.context.lexical import FLOOR, weigh
from memory.context.pack import pack, tokens_of
from memory.context.page import frame_page, page
from memory.context.question import RecallQuestion, ask, simpler
from memory.context.rank import WEIGHTS, Memory, Scored, earlier_questions, rank
from memory.context.route import about_then
from memory.context.search_results import SearchPass, brings_new, for_a_part, fused
from memory.conversation import Conversation, Message, Role, Text
from memory.fact import Fact, Passage
from memory.language.terms import document_terms
from memory.language.words import stems
from memory.learning.lesson import learn
from memory.ports import Embedder, IndexHit, Journaled, TermRarity
from memory.scope import Scope
from memory.session import RequestKind, Session
from memory.understanding.packaged_weights import relevance

BEGAN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
Turn = dict[str, str]


@dataclass(frozen=True, slots=True)
class Rules:
    """What an experiment may change."""

    tokens: int = 600
    page: int = 400
    candidates: int = 40
    weights: Any = WEIGHTS
    floor: Any = FLOOR
    diversity: Any = DIVERSITY


@dataclass
class Store:
    """One user's memories, with exact search."""

    embedder: Embedder
    memories: list[Memory] = field(default_factory=list)
    frequency: Counter[int] = field(default_factory=Counter)
    postings: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    vectors: list[np.ndarray[Any, Any]] = field(default_factory=list)
    known: set[frozenset[str]] = field(default_factory=set)

    def learn(self, messages: Sequence[Turn], reply: str, session: str, at: datetime, fresh: Iterable[int]) -> None:
        """Take in what one exchange teaches."""
        told = tuple(_message(each["role"], each["content"]) for each in messages)
        of = Session(session, session, Scope(user="u", project="p"), "bench", at, at)
        answer = _message("assistant", reply) if reply else None
        learned = learn(Journaled(1, "x", of, RequestKind.MAIN, at, told, tuple(fresh), answer))
        for taught in learned.facts:
            draft = taught.draft
            words = frozenset(stems(draft.text))
            if words in self.known:
                continue
            self.known.add(words)
            names = {each.name for each in fields(Fact)} & {each.name for each in fields(draft)}
            kept = {name: getattr(draft, name) for name in names} | {"valid_from": draft.valid_from or at}
            self._add(Fact(id=self._id(), owner="o", session=session, source=taught.source, recorded_at=at, **kept), "")
        for piece in learned.pieces:
            if stems(piece.text):
                kept = {each.name: getattr(piece, each.name) for each in fields(piece)}
                self._add(Passage(id=self._id(), owner="o", session=session, **kept), piece.speaker)

    def page(self, tokens: int) -> tuple[str, frozenset[str]]:
        """The page, framed, and the ids of what stands on it."""
        made = page([each for each in self.memories if isinstance(each, Fact)], tokens, BEGAN)
        return frame_page(made.text), frozenset(made.memories)

    def recall(self, text: str, rules: Rules, tokens: int, present: frozenset[str]) -> str:
        """What is added for a message, as the server does it."""
        spoken = Message(Role.USER, (Text(text),), b"", spoken=text)
        now = BEGAN + timedelta(hours=2)
        question = ask(Conversation("bench", "model", (spoken,)), now)
        if question is None or not self.memories:
            return ""
        others = simpler(question)
        heeds = wants_heeding(question)
        rules = replace(rules, candidates=rules.candidates * TIMES) if heeds else rules
        rounds = [self._round(question, rules, now, present)]
        for part, broad_question in others:
            fewer = replace(rules, candidates=for_a_part(rules.candidates // (TIMES if heeds else 1)))
            rounds.append(self._round(broad_question, fewer, now, present, part.weight, by_words=True))
            if not brings_new(rounds[:-1], rounds[-1]):
                break
        ranked = fused(rounds)
        scored = self._beside(question, ranked, rounds, rules, present) if ranked else []
        if heeds:
            scored = heeded(question, rounds[0].candidates, scored, relevance(), now, present=present)
        return pack(scored, tokens, now).text if scored else ""

    def _beside(
        self,
        question: RecallQuestion,
        ranked: list[Scored],
        rounds: Sequence[SearchPass],
        rules: Rules,
        present: frozenset[str],
    ) -> list[Scored]:
        """A ranking with the turns beside its best ones, what is alike once."""
        beside = anchors(ranked, earlier_questions(rounds[0].weighed, rounds[0].candidates))
        turns = {(place.session, place.turn + s) for place in beside for s in range(-REACH.turns, REACH.turns + 1)}
        near = [m for m in self.memories if isinstance(m, Passage) and (m.session, m.turn) in turns]
        over = present.union(hit.id for each in rounds for hit, _ in each.candidates)
        ranked = joined(ranked, near, beside, route=question.route, weights=rules.weights, passed_over=over)
        return diverse(ranked, rules.diversity)

    def _round(
        self,
        question: RecallQuestion,
        rules: Rules,
        now: datetime,
        present: frozenset[str],
        weight: float = 1.0,
        by_words: bool = False,
    ) -> SearchPass:
        """One search, as :class:`memory.services.search.searching.Searching` makes it."""
        counted = TermRarity(len(self.memories), {each: self.frequency[each] for each in question.terms})
        weighed = weigh(question, counted)
        cosines = np.array(self.vectors) @ self.embedder.query(question.text, weighed.idf)
        products = np.zeros(len(self.memories))
        for number, share in weighed.sparse.items():
            for place, said in self.postings.get(number, ()):
                products[place] += share * said
        places = np.arange(len(self.memories))
        found = self._best(places, cosines, products, rules.candidates, by_words)
        if spans := [span for span in question.route.spans if not span.yearly]:
            then = np.array([place for place in places if about_then(self.memories[place], spans) > 0], dtype=int)
            found = [*found, *self._best(then, cosines, products, rules.candidates)]
        found = sorted(dict.fromkeys(found), key=lambda n: -(weighed.coverage(float(products[n])) + float(cosines[n])))
        candidates = [
            (IndexHit(self.memories[n].id, float(cosines[n]), float(products[n])), self.memories[n])
            for n in found[: rules.candidates * (2 if spans else 1)]
        ]
        scored = rank(question, weighed, candidates, now, present=present, weights=rules.weights, floor=rules.floor)
        return SearchPass(question, weighed, tuple(candidates), tuple(scored), weight)

    def _best(self, places: Any, cosines: Any, products: Any, limit: int, by_words: bool = False) -> list[int]:
        """What the two legs find among some places."""
        near = [] if by_words else places[np.argsort(-cosines[places], kind="stable")[:limit]]
        said = places[np.argsort(-products[places], kind="stable")[:limit]]
        return [*map(int, near), *(int(n) for n in said if products[n] > 0)]

    def added(self, text: str, rules: Rules) -> tuple[str, str]:
        """Page and recall of a session's first message."""
        framed, present = self.page(rules.page)
        return framed, self.recall(text, rules, rules.tokens - tokens_of(framed), present)

    def _add(self, memory: Memory, speaker: str) -> None:
        if memory.text.startswith(f"{speaker}:"):
            speaker = ""
        terms = document_terms(memory.text, speaker)
        for number, weight in terms.items():
            self.postings[number].append((len(self.memories), weight))
        self.frequency.update(terms.keys())
        self.memories.append(memory)
        self.vectors.append(self.embedder.documents([f"{speaker}: {memory.text}" if speaker else memory.text])[0])

    def _id(self) -> str:
        return str(uuid.UUID(int=len(self.memories) + 1))


def _message(role: str, text: str) -> Message:
    digest = hashlib.blake2b(f"{role}\0{text}".encode(), digest_size=16).digest()
    return Message(Role(role), (Text(text),), digest, spoken=text if role == "user" else "")


def play(store: Store, requests: Iterable[tuple[Sequence[Turn], Turn]], session: str, at: datetime) -> datetime:
    """Learn from the requests of one session, each with its whole history."""
    seen = 0
    for messages, reply in requests:
        fresh = [n for n in range(seen, len(messages)) if messages[n]["role"] != "assistant"]
        store.learn(messages, reply["content"], session, at, fresh)
        seen = len(messages)
        at += timedelta(seconds=1)
    return at


def copied(store: Store) -> Store:
    """A copy that can learn without teaching the original."""
    postings: dict[int, list[tuple[int, float]]] = defaultdict(list)
    postings.update({number: list(places) for number, places in store.postings.items()})
    return replace(store, memories=list(store.memories), frequency=Counter(store.frequency), postings=postings,
                   vectors=list(store.vectors), known=set(store.known))  # fmt: skip
