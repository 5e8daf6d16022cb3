"""What a person may ask of memory by name: find, look up, remember, pin, forget.

Every question takes the owners that may be seen from the server, never from a text; ids of other owners are not
found. What a person asks for is awaited and raises when it fails: the shells that serve a model call are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from memory.context.explain import Explained
from memory.context.lexical import OPEN
from memory.context.question import RecallQuestion, of_words
from memory.context.rank import Memory, Scored
from memory.context.search_results import SearchContext
from memory.context.temporal_questions import known_at, past_of
from memory.fact import Fact, FactKind, Origin, State, Stream
from memory.hooks.chain import Features
from memory.hooks.feature import FeatureErasure
from memory.language.words import stems
from memory.learning.redact import redact
from memory.learning.tombstones import tombstone_of
from memory.member import Asker
from memory.ports import Counts, Forgotten, Journal, SetAsideErasure
from memory.provenance import owner_before, quarantined
from memory.scope import Layer, Scope
from memory.services.journaling import ExchangeJournal
from memory.services.learn import Learner
from memory.services.lessons import rules
from memory.services.manual_facts import in_own_words
from memory.services.page.files import PageFiles
from memory.services.person.erasure_steps import ErasureSteps
from memory.services.person.id_lookup import Ambiguous as Ambiguous
from memory.services.person.id_lookup import NotFound as NotFound
from memory.services.person.id_lookup import named
from memory.services.recall import Recall
from memory.services.sessions.session_matching import SessionMatcher
from memory.understanding.packaged_weights import clear_caches

ENOUGH = 20
"""Memories found by their words and meaning from which on it is not looked through every text for the words as they
stand: among 365,000 that takes about a tenth of a second."""

LEARN_SECONDS = 2.0
"""For how long it is learned from what was said before memories are looked through or forgotten. What is still to be
learned then brings nothing back that went: its messages have lost the text, and a tombstone says that it was forgotten.
What says the same in other words it does teach, so that it is told how much is left."""

ALIKE = 200
"""Memories that a preview of ``forget`` shows at most."""

_ANYBODY = Asker()
"""Who runs the server."""


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """How memory is doing. ``waiting`` is what the index has still to take in, ``kept`` and ``lost`` count exchanges
    that the journal could not take, ``broken`` those that were set aside for it and cannot be taken back."""

    counts: Counts
    waiting: int
    kept: int
    lost: int
    broken: int
    learning: bool
    passed_over: int


class Commands:
    """Implements the command line and our own endpoints."""

    def __init__(
        self,
        journal: Journal,
        recall: Recall,
        learner: Learner,
        pages: PageFiles,
        sessions: SessionMatcher,
        notes: ExchangeJournal,
        features: Features,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._recall = recall
        self._learner = learner
        self._pages = pages
        self._sessions = sessions
        self._notes = notes
        self._features = features
        self._new_id = new_id
        self._now = now

    async def everything_of(self, scope: Scope) -> tuple[str, ...]:
        """Every owner whose memories a person may see, in all their projects; ``scope.project`` is not looked at."""
        user = Scope(scope.org, scope.user).owner(Layer.USER)
        org = Scope(scope.org).owner(Layer.ORG)
        beginnings = [f"up:{user.removeprefix('u:')}/"] if user else []
        shared = org.removeprefix("o:") if org else user.removeprefix("u:") if user else None
        beginnings += [f"p:{shared}/"] if shared else []
        there = [*await self._journal.owners(), *await self._pages.with_own_words()]
        known = [owner for owner in there if owner.startswith(tuple(beginnings))]
        return tuple(dict.fromkeys([*(each for each in (user, org) if each), *known]))

    async def search(
        self, text: str, owners: Sequence[str], limit: int = 10, as_of: datetime | None = None
    ) -> list[Scored]:
        """The memories that belong to a question, best first, and behind few of them facts that hold it word for word.
        With ``as_of`` what was known at that moment; else, where the question is about the past, also what held
        then."""
        found: list[Scored] = []
        now = as_of or self._now()
        if question := of_words(text, now):
            past = None if as_of else past_of(text, now)
            moment = SearchContext(tuple(owners), now, floor=OPEN, past=past, as_of=as_of)
            found.extend((await self._recall.search(question, moment)).scored)
        known = {each.id for each in found}
        if len(found) < min(limit, ENOUGH):
            found.extend(
                Scored(fact, 0.0, {"text": 1.0})
                for fact in await self._journal.find_facts(owners, text, 100)
                if fact.id not in known and (known_at(fact, as_of) if as_of else fact.state is State.ACTIVE)
            )
        return found[:limit]

    async def explain(
        self,
        text: str,
        owners: Sequence[str],
        tokens: int,
        session: str = "",
        present: Mapping[str, str] = MappingProxyType({}),
    ) -> Explained:
        """What recall would do with a message, in ``tokens``: one of a ``session`` in which some memories stand
        already, each in a text, where it is one."""
        return await self._recall.explain(text, SearchContext(tuple(owners), self._now(), present, session), tokens)

    async def facts(
        self,
        owners: Sequence[str],
        text: str = "",
        *,
        kinds: frozenset[FactKind] = frozenset(FactKind),
        states: frozenset[State] = frozenset({State.ACTIVE}),
        origins: frozenset[Origin] = frozenset(Origin),
        limit: int = 100,
    ) -> list[Fact]:
        """Facts of some owners, the newest first: those that hold ``text``, of these kinds and origins, in these
        states."""
        if not text:
            return await self._journal.listed(owners, states, kinds, origins, limit=limit)
        # All of that is looked at here, so more than the limit is read where it leaves some out.
        found = await self._journal.find_facts(owners, text, max(limit, 1000))
        return [each for each in found if each.kind in kinds and each.state in states and each.origin in origins][
            :limit
        ]

    async def memory(self, id: str, owners: Sequence[str]) -> Memory:
        """The fact or the passage of an id, or of the beginning of one.

        Raises:
            NotFound: when no memory of these owners has it.
            Ambiguous: when several have.
        """
        [name] = await self.named([id], owners)
        facts = await self._journal.facts([name], owners)
        return facts[0] if facts else (await self._journal.passages([name], owners))[0]

    async def named(self, prefixes: Sequence[str], owners: Sequence[str]) -> list[str]:
        """The whole ids of the beginnings of some.

        Raises:
            NotFound: when no memory of these owners has it.
            Ambiguous: when several have.
        """
        return await named(self._journal, prefixes, owners)

    async def remember(self, text: str, scope: Scope, *, kind: FactKind | None = None, pinned: bool = False) -> Fact:
        """Write down what a person says outside any session, for one project where the scope names one.

        What is known already, letter for letter, is not written twice: it becomes the person's own word. What it
        clearly changes ends, and is named in :attr:`Fact.supersedes`; what it may contradict is noted on both sides.

        Raises:
            ValueError: when there is nothing to remember, or nobody whose memory it would be.
        """
        clean = " ".join(redact(text).text.split())
        if not clean:
            raise ValueError("there is nothing to remember in an empty text")
        layer = Layer.USER_PROJECT if scope.project else Layer.USER
        owner = scope.owner(layer)
        if owner is None:
            raise ValueError("there is no user whose memory this could be")
        await rules.at_hand()
        fact = in_own_words(clean, owner, layer, self._new_id(), self._now(), kind=kind, pinned=pinned)
        return await self._learner.record_statement(fact, self._now(), kind=kind)

    async def pin(self, id: str, owners: Sequence[str], pinned: bool) -> Fact:
        """Pin a fact, which then never fades, or let go of it.

        Raises:
            NotFound: when no fact of these owners has this id or beginning of an id.
            Ambiguous: when several have.
        """
        [name] = await self.named([id], owners)
        if not await self._journal.facts([name], owners):
            raise NotFound(f"{name} is a passage of a talk, which cannot be pinned; only facts can")
        async with self._learner.resting():
            # Not while somebody writes what it was before.
            await self._journal.pin(name, pinned)
        [fact] = await self._journal.facts([name], owners)
        self._pages.changed(frozenset({fact.owner}))
        await self._pages.refresh()
        return fact

    async def learned(self) -> int:
        """Learn from what was said before, for a moment; how many exchanges are still to be learned from."""
        return await self._learner.catch_up_for(LEARN_SECONDS)

    async def alike(self, text: str, owners: Sequence[str]) -> list[Memory]:
        """What ``forget`` would take for a query, of what is :meth:`learned`: every fact and passage that holds all of
        its words."""
        query_stems = frozenset(stems(text))
        rarest = max(text.split(), key=len, default="").strip(".,;:!?\"'()")
        found: dict[str, Memory] = {}
        if rarest:
            for fact in await self._journal.find_facts(owners, rarest, 1000):
                found[fact.id] = fact
            for passage in await self._journal.find_passages(owners, rarest, 1000):
                found[passage.id] = passage
        if query_stems:
            # Words in another form ("moved", "moving") are found by their stems.
            question = RecallQuestion(text, dict.fromkeys(query_stems, 1.0), work=0.0)
            moment = SearchContext(tuple(owners), self._now(), floor=OPEN)
            for scored in (await self._recall.search(question, moment)).scored:
                found.setdefault(scored.id, scored.memory)
        return [memory for memory in found.values() if _matches_query(memory.text, text, query_stems)][:ALIKE]

    async def own_words_alike(self, text: str, owners: Sequence[str]) -> list[str]:
        """Sentences about what a person's own words on the pages say of a query: they are theirs to take out."""
        query_stems = frozenset(stems(text))
        return [
            _theirs(file, number, line)
            for file, number, line in await self._pages.own_lines(owners)
            if _matches_query(line, text, query_stems)
        ]

    async def forget(self, ids: Sequence[str], owners: Sequence[str]) -> Forgotten:
        """Delete memories everywhere, and what was derived from them; whole ids or the beginnings of some.

        What is open in memory is written first and dropped then, so that neither a session that is alive nor an
        exchange that waits for the journal brings anything back; a tombstone keeps it from being learned again. What
        was set aside and is damaged goes whatever it is about, since nobody can tell what it holds; where several
        people share the journal it stays, and that is told. So is each step that failed: once the journal has let go,
        the others are taken nonetheless, and the index, which is asked again by the worker, comes last.

        Raises:
            NotFound: when there is no such memory; nothing is forgotten then.
            Ambiguous: when a beginning stands for several; nothing is forgotten then.
        """
        await self._notes.write_pending()
        behind, steps = await self.learned(), ErasureSteps()
        owners = tuple(dict.fromkeys((*owners, *quarantined(map(owner_before, owners)))))
        names = await self.named(ids, owners)
        async with self._learner.resting():
            facts, passages = await self._journal.facts(names, owners), await self._journal.passages(names, owners)
            going = await self._features.forget(owners)
            buried = self._tombstones([*facts, *passages], going)
            gone = await self._journal.forget(names, self._now(), owners, buried)
            taken: list[Memory] = [*gone.facts, *gone.passages]
            await steps.take(
                self._journal.tombstone(self._tombstones(taken, going), self._now()),
                None,
                "what went with it may be learned again",
            )
            self._sessions.live_sessions.forget()
            clear_caches()
            whose = {owner_before(memory.owner) for memory in taken}
            await steps.take(self._pages.unmake(whose), None, "pages may hold it still")
            await steps.take(going.then(gone), None, "what was made of it may hold it still")
            lines = await steps.take(self._pages.own_lines(owners), [], "your own words could not be looked through")
        texts = [memory.text.casefold() for memory in taken]
        still = [each for each in lines if any(text in each[2].casefold() for text in texts)]
        written = [_theirs(file, number, line) for file, number, line in still]
        files, faults = await steps.take(going.files(gone), ([], []), "files may hold it still")
        await steps.take(self._pages.refresh(), None, "pages could not be made anew")
        aside = "what was set aside and is damaged could not be looked for"
        left = await steps.take(self._journal.forget_aside(), SetAsideErasure(), aside)
        await steps.take(self._drop_from_index(gone.ids), None, "the index has it still, and is asked again to let go")
        told = (*faults, *steps.faults, *written, *left.sentences())
        return replace(gone, files=tuple(files), faults=told, damaged=left.gone, behind=behind)

    async def _drop_from_index(self, ids: Sequence[str]) -> None:
        async with self._learner.resting():
            await self._learner.drop_from_index(ids)

    async def page(self, scope: Scope) -> str:
        """MEMORY.md as it is now."""
        return await self._pages.text(scope)

    async def write_page(
        self,
        scope: Scope,
        own: str | None,
        streams: Mapping[Stream, str] | None = None,
        asker: Asker = _ANYBODY,
    ) -> str:
        """Replace what the person has written on MEMORY.md, and streams' files; the whole page as it is then.

        Raises:
            EditRefused: when lines change what the asker may not change.
        """
        await self._pages.write(scope, None if own is None else redact(own).text, streams, asker)
        return await self._pages.text(scope)

    async def standing(self) -> MemoryStatus:
        """How memory is doing."""
        return MemoryStatus(
            counts=await self._journal.counts(),
            waiting=await self._journal.waiting(),
            kept=self._notes.pending,
            lost=self._notes.lost,
            broken=self._notes.damaged,
            learning=self._learner.alive or not self._journal.works,
            passed_over=self._learner.passed_over,
        )

    def _tombstones(self, memories: Sequence[Memory], going: FeatureErasure) -> list[bytes]:
        texts = [
            (owner_before(memory.owner), text) for memory in memories for text in (memory.text, *going.texts(memory))
        ]
        return [tombstone_of(self._journal.key(), owner, text) for owner, text in texts]


def _matches_query(text: str, query: str, query_stems: frozenset[str]) -> bool:
    """Whether a text has a query in it, word for word or all of its words, whose stems are ``query_stems``."""
    return query.casefold().strip() in text.casefold() or bool(query_stems and query_stems <= frozenset(stems(text)))


def _theirs(file: Path, number: int, line: str) -> str:
    own = "has it in your own words, which only you take out (`palimpsest page --edit`)"
    return f"{file}:{number} {own}: {line.strip()}"
