"""What cites code that is not in its checkout any more, for a person to be asked about."""

from __future__ import annotations

import asyncio
import logging
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from memory.checkout import Citation, LearnedAt
from memory.fact import Fact, Origin, Passage, State
from memory.features.checkouts import marking
from memory.features.checkouts.awaited import unseen
from memory.features.checkouts.checking import CitationState, CitationVerdict
from memory.features.checkouts.looking import CheckoutView
from memory.features.checkouts.rows import CheckoutJournal
from memory.features.checkouts.sight import CheckoutWatcher, Clock
from memory.features.checkouts.upkeep import MOST_ASKED
from memory.hooks.command import count, project_of
from memory.hooks.feature import FeatureQuestion
from memory.lru import LruDict

log = logging.getLogger(__name__)

ASKING_SECONDS: Final = 10.0
"""For a repository, where a person asks."""
AT_ONCE_SECONDS: Final = 1.0
"""Who only asks how much there is, or confirms one, waits so long; what is not known by then is known the next time."""
KEPT: Final = timedelta(minutes=1)
"""How long the answer is kept: pages and commands ask for it each time, and all that is cited is looked up for it."""
MOST_ASKING: Final = 16
"""Sets of owners of whom it is kept how much there was."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Facts and passages that cite what is gone, the newest first, and by their ids what is said of them."""

    facts: Sequence[Fact] = ()
    passages: Sequence[Passage] = ()
    words: Mapping[str, str] = field(default_factory=dict)


class GoneCode:
    """Looks for it."""

    def __init__(
        self, journal: CheckoutJournal, sight: CheckoutWatcher, clock: Clock, now: Callable[[], datetime]
    ) -> None:
        self._journal, self._sight, self._clock, self._now = journal, sight, clock, now
        self._told: LruDict[tuple[str, ...], tuple[datetime, tuple[FeatureQuestion, ...]]] = LruDict(MOST_ASKING)
        self._forgot = 0
        """How often something was forgotten: what was found out before one of these is not kept."""
        self._looking: dict[tuple[str, ...], asyncio.Task[None]] = {}
        self._settling: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Look no further. What a person has confirmed is noted first, as long as asking may take."""
        if self._settling:
            await asyncio.wait(self._settling, timeout=ASKING_SECONDS)
        tasks = [*self._looking.values(), *self._settling]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def forget(self) -> None:
        """What was told is known to nobody any more."""
        self._forgot += 1
        self._told.clear()

    async def confirmed(self, fact: Fact, then: Callable[[], None]) -> None:
        """A person says that a fact holds though what it cites is gone: that is awaited from now on, and in the turns
        that it was learnt from, so that it is asked about again only when it has come back and gone once more. Waits
        a moment; where there is much to look up the rest is done behind it. Once it is written, ``then`` is called."""
        task = asyncio.create_task(self._settle(fact, then))
        self._settling.add(task)
        done, _ = await asyncio.wait({task}, timeout=AT_ONCE_SECONDS)
        if done:
            self._settling.discard(task)
            await task
        else:
            task.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        self._settling.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("what was confirmed could not be noted: %s", type(error).__name__)

    async def _settle(self, fact: Fact, then: Callable[[], None]) -> None:
        every = [each for each in await self._journal.learnt_after(fact.owner, "", MOST_ASKED) if each.cites]
        own = await self._journal.memories([row.memory for row in every], [fact.owner])
        about = {fact.id, *(each.id for each in own if isinstance(each, Passage) and each.source == fact.source)}
        cited: dict[str, list[LearnedAt]] = {}
        for row in every:
            if row.memory in about:
                cited.setdefault(row.checkout.repository, []).append(row)
        now: dict[str, Sequence[Citation]] = {}
        for repository, rows in cited.items():
            _, verdicts = await self._looked_up(repository, rows, self._now())
            for row in rows:
                gone = {each.cited for each in verdicts.get(row.memory, ()) if each.state is CitationState.GONE}
                if gone:
                    now[row.memory] = [unseen(each) if each in gone else each for each in row.cites]
        if now:
            await self._journal.looked(now)
            self.forget()
            then()

    async def of(self, owners: Sequence[str], now: datetime) -> Gone:
        cited: dict[str, list[LearnedAt]] = {}
        for owner in owners:
            for each in await self._journal.learnt_after(owner, "", MOST_ASKED):
                if each.cites:
                    cited.setdefault(each.checkout.repository, []).append(each)
        words: dict[str, str] = {}
        for repository, rows in cited.items():
            words |= await self._notes_on_gone(repository, rows, now)
        held = [each for each in await self._journal.memories(list(words), owners) if of_a_project(each)]
        facts = [each for each in held if isinstance(each, Fact) and _is_asked(each)]
        # What was said is told by the fact that was learnt from it.
        sources = {each.source for each in held if isinstance(each, Fact)}
        passages = [each for each in held if isinstance(each, Passage) and each.source not in sources]
        return Gone(
            sorted(facts, key=lambda fact: (fact.recorded_at, fact.id), reverse=True),
            sorted(passages, key=lambda passage: (passage.at, passage.id), reverse=True),
            words,
        )

    async def asks(self, owners: Sequence[str]) -> Sequence[FeatureQuestion]:
        """How much there is in each project, as far as that is known at once; else how much there was. What
        was found within the last minute is told again."""
        key = tuple(sorted(owners))
        at, told = self._told.get(key, (None, ()))
        if at is not None and self._now() - at < KEPT:
            return told
        task = self._looking.get(key)
        if task is None:
            task = self._looking[key] = asyncio.create_task(self._look(key))
            task.add_done_callback(lambda done: self._ended(key, done))
        await asyncio.wait({task}, timeout=AT_ONCE_SECONDS)
        return self._told[key][1] if key in self._told else ()

    async def _look(self, key: tuple[str, ...]) -> None:
        forgot = -1
        while forgot != self._forgot:
            forgot, at = self._forgot, self._now()
            told = questions(await self.of(key, at))
        self._told.put(key, (at, told))

    def _ended(self, key: tuple[str, ...], task: asyncio.Task[None]) -> None:
        self._looking.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("what cites code that is gone could not be counted: %s", type(error).__name__)

    async def _notes_on_gone(self, repository: str, rows: Sequence[LearnedAt], now: datetime) -> dict[str, str]:
        """What is said of those that cite what is gone from a repository, as it stands; of none where it is not
        here."""
        view, verdicts = await self._looked_up(repository, rows, now)
        if view is None:
            return {}
        here = view.checkout
        known = {each.memory: each for each in rows if marking.staged(each, here, view.own, now).weight > 0.0}
        return {
            id: marking.checked(verdicts[id], each.checkout.commit, here.commit).words
            for id, each in known.items()
            if any(verdict.state is CitationState.GONE for verdict in verdicts.get(id, ()))
        }

    async def _looked_up(
        self, repository: str, rows: Sequence[LearnedAt], now: datetime
    ) -> tuple[CheckoutView | None, Mapping[str, Sequence[CitationVerdict]]]:
        """A repository as it stands, and verdicts on what is cited of it; None and none where it is not here."""
        view = await self._sight.look(repository, now)
        if view is None:
            return None, {}
        await self._sight.read(view.root, rows, self._clock() + ASKING_SECONDS)
        await self._sight.looked_behind()
        seen = await self._sight.read(view.root, rows, self._clock() + ASKING_SECONDS)
        return view, seen.verdicts or {}


def questions(gone: Gone) -> tuple[FeatureQuestion, ...]:
    """What a person is asked, a question for each project."""
    facts = Counter(project_of(each.owner) for each in gone.facts)
    turns = Counter(project_of(each.owner) for each in gone.passages)
    return tuple(
        FeatureQuestion(
            f"{_summary_line(facts[project], turns[project])} code that is gone from {project}",
            f"palimpsest gone --project {shlex.quote(project)}",
        )
        for project in sorted(facts | turns)
    )


def _summary_line(facts: int, turns: int) -> str:
    parts = [count(number, what) for number, what in ((facts, "fact"), (turns, "turn of talk")) if number]
    return f"{' and '.join(parts)} {'cites' if facts + turns == 1 else 'cite'}"


def _is_asked(fact: Fact) -> bool:
    """Whether a person is asked about a fact: files answer for what they say themselves."""
    return fact.state is State.ACTIVE and fact.origin is not Origin.FILE


def of_a_project(held: Fact | Passage) -> bool:
    """Whether a memory is a project's: what holds for a person everywhere is not about this code."""
    return held.owner.startswith(("up:", "p:"))
