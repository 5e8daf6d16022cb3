"""Checkouts as they stand, kept up to date beside requests: one thread asks git, the other reads files.

A request never waits for git. It is told how a checkout stands where that is known without: nothing was written since
the last look, the same commit is checked out, or the main branch is, or a branch that begins at its newest commit. What
is cited is looked at when a request arrives, beside it, and what was not known by then is looked up behind it, for the
next one. It waits for neither unless it was given more time than a busy machine takes to come back to who waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

from memory.checkout import Checkout, Citation, LearnedAt
from memory.features.checkouts.awaited import came_before
from memory.features.checkouts.checking import (
    LARGE,
    MOST_CHECKOUTS,
    SOUGHT,
    CitationChecker,
    CitationVerdict,
    CitedFile,
    at_hand,
)
from memory.features.checkouts.files import allowed
from memory.features.checkouts.finding import seek
from memory.features.checkouts.looking import DETACHED, CheckoutView, head_of, look, times, watched
from memory.lru import LruDict

T = TypeVar("T")

ARRIVAL_SECONDS: Final = 0.02
"""For what was cited before, when a request arrives."""
BEHIND_SECONDS: Final = 0.25
"""For what a request did not wait for."""
RETURN_SECONDS: Final = 0.0005
"""What the reading thread leaves of a request's time for the way back, and for the words."""
TICK_SECONDS: Final = 0.001
"""The loop waits for whole milliseconds, rounded up."""
MOST_REACHED: Final = 4096
"""Citations of which it is known whether they came where a checkout goes on from."""
SHORTEST_WAIT_SECONDS: Final = 0.005
"""Who has less left does not wait at all: a busy machine, or a thread that holds the interpreter, comes back later."""

Clock = Callable[[], float]


@dataclass(slots=True)
class _Looked:
    """A checkout as it was seen last, the files by which it is known whether it has changed, when these were written,
    and the references whose branches were followed."""

    watched: tuple[str, ...]
    written: tuple[int, ...]
    view: CheckoutView | None
    followed: int = 0


@dataclass(frozen=True, slots=True)
class SeenCheckout:
    """What a request is told: the checkout as it stands, None where that is not known at once; as it was seen last; and
    verdicts on what is cited of it, by memory."""

    fresh: CheckoutView | None = None
    last: CheckoutView | None = None
    verdicts: Mapping[str, tuple[CitationVerdict, ...]] | None = None


@dataclass(frozen=True, slots=True)
class _Arrived:
    """What was seen when a request arrived: the checkout as :class:`SeenCheckout` has it, and the files that were asked
    for last."""

    fresh: CheckoutView | None
    last: CheckoutView | None
    files: Mapping[str, CitedFile]


class CheckoutWatcher:
    """Looks. ``folders``: only checkouts below one of them, where there are any."""

    def __init__(self, folders: Iterable[str], clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self.folders = tuple(Path(each).expanduser().resolve() for each in folders)
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="git")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="citations")
        self._checking = CitationChecker(clock)
        self._views: LruDict[str, _Looked] = LruDict(MOST_CHECKOUTS)
        self._looks: LruDict[str, tuple[datetime, Future[CheckoutView | None]]] = LruDict(MOST_CHECKOUTS)
        self._arrivals: LruDict[str, tuple[datetime, Future[_Arrived]]] = LruDict(MOST_CHECKOUTS)
        self._primed: LruDict[str, Future[None]] = LruDict(MOST_CHECKOUTS)

    def view(self, root: str) -> CheckoutView | None:
        """A checkout as it was seen last."""
        seen = self._views.get(root)
        return seen.view if seen is not None else None

    async def look(self, root: str, at: datetime) -> CheckoutView | None:
        """Look at a checkout, not before a moment, and not twice for it."""
        known = self._looks.get(root)
        if known is None or known[0] < at:
            known = self._looks.put(root, (at, self._asking.submit(self._see, root)))
            self._arrivals.put(root, (at, self._reading.submit(self._arrive, root)))
        # Others wait for the same look: a request that is given up must not take it out of the queue.
        return await asyncio.shield(asyncio.wrap_future(known[1]))

    async def look_anew(self, root: str) -> CheckoutView | None:
        """Look at a checkout of which it is known that a file has come, though git's own files are as they were."""
        return await self.run_git(lambda: self._see(root, anew=True))

    def to_prime(self, root: str) -> bool:
        """Whether what is remembered of a checkout has yet to be looked up once."""
        return root not in self._primed

    def prime(self, cited: Sequence[LearnedAt], view: CheckoutView) -> None:
        """Look up what is cited of a checkout, beside all requests: it is at hand when it is asked for."""
        self._primed.use(view.root, self._reading.submit(self._look_behind, cited, view))

    async def read(
        self,
        root: str,
        cited: Sequence[LearnedAt],
        until: float,
        arrived: datetime | None = None,
        place_until: float = 0.0,
    ) -> SeenCheckout:
        """A checkout and what is cited of it, as far as that can be told until then. What was seen since a request
        ``arrived`` is told at once; what is checked out is waited for until ``place_until``, where that is later."""
        seen = await self._seen_at_arrival(root, cited, until, arrived, place_until)
        if seen is None and until - self._clock() <= SHORTEST_WAIT_SECONDS:
            fresh = None
            if place_until > until:
                fresh = await self._result_in_time(self._reading.submit(self._glance, root), place_until)
            seen = SeenCheckout(fresh, fresh or self.view(root))
        if seen is None:
            work = self._reading.submit(self._read, root, cited, until - RETURN_SECONDS)
            seen = await self._result_in_time(work, until) or SeenCheckout(last=self.view(root))
        if seen.last is not None:
            verdicts = seen.verdicts or {}
            last = seen.last
            late = [row for row in cited if self._is_still_unknown(row, verdicts.get(row.memory), last)]
            if late:
                self._reading.submit(self._look_behind, late, last)
        return seen

    def _is_still_unknown(self, row: LearnedAt, verdicts: Sequence[CitationVerdict] | None, view: CheckoutView) -> bool:
        """Whether something of what a memory cites has still to be looked up: it was not, or it came with a commit, is
        not there, and nobody knows yet whether that commit came to where this checkout stands."""
        if verdicts is None:
            return True
        told = {each.cited for each in verdicts}
        reached, here = self._checking.reached, view.checkout.commit
        missed = (each for each in row.cites if each.at and each not in told)
        return any(view.stale or reached.get((view.root, each), ("", False))[0] != here for each in missed)

    async def looked_behind(self) -> None:
        """Wait until all has been looked up that no request waited for."""
        await asyncio.wrap_future(self._reading.submit(_nothing))
        await self.run_git(_nothing)

    async def _seen_at_arrival(
        self, root: str, cited: Sequence[LearnedAt], until: float, arrived: datetime | None, place_until: float
    ) -> SeenCheckout | None:
        """What was seen since a request arrived; None where nothing was."""
        known = self._arrivals.get(root)
        if arrived is None or known is None or known[0] < arrived:
            return None
        at_arrival = await self._result_in_time(known[1], max(until, place_until))
        if at_arrival is None:
            return SeenCheckout(last=self.view(root))
        fresh = self._looked_since(root, arrived) or at_arrival.fresh
        last = fresh or at_arrival.last
        if last is None:
            return SeenCheckout()
        same = [each for each in cited if each.checkout.repository == last.checkout.repository]
        checking = self._checking
        verdicts, unknown = at_hand(same, last, at_arrival.files, checking.elsewhere, checking.reached)
        primed = self._primed.get(root)
        if unknown and (primed is None or not primed.done()) and until - self._clock() > SHORTEST_WAIT_SECONDS:
            work = self._reading.submit(self._checking.check, unknown, last, until - RETURN_SECONDS, LARGE)
            late = await self._result_in_time(work, until)
            verdicts |= late or {}
        return SeenCheckout(fresh, last, verdicts)

    def _looked_since(self, root: str, arrived: datetime) -> CheckoutView | None:
        """A checkout as git told of it since a request arrived; None where it has not yet."""
        looked = self._looks.get(root)
        done = looked is not None and looked[0] >= arrived and looked[1].done() and looked[1].exception() is None
        return self.view(root) if done else None

    async def run_git(self, work: Callable[[], T]) -> T:
        """Do something that asks git."""
        return await asyncio.wrap_future(self._asking.submit(work))

    def to_follow(self, view: CheckoutView) -> bool:
        """Whether any reference has changed since branches were followed; from now on they are."""
        seen = self._views.get(view.root)
        if seen is None or seen.followed == view.refs:
            return False
        seen.followed = view.refs
        return True

    async def _result_in_time(self, work: Future[T], until: float) -> T | None:
        """What a thread's work gives, if it does so in time; it goes on in any case."""
        left = until - self._clock() if not work.done() else 0.0
        if left > SHORTEST_WAIT_SECONDS:
            await asyncio.wait({asyncio.wrap_future(work)}, timeout=left - TICK_SECONDS)
        return work.result() if work.done() and not work.cancelled() and work.exception() is None else None

    def _see(self, root: str, *, anew: bool = False) -> CheckoutView | None:
        """In git's thread."""
        known = self._views.get(root)
        if not anew and known is not None and known.watched and known.written == times(known.watched):
            return known.view
        by = watched(root)
        written = times(by)
        view = look(root) if by and allowed(root, self.folders) else None
        self._views.put(root, _Looked(by, written, view, known.followed if known is not None else 0))
        return view

    def _read(self, root: str, cited: Sequence[LearnedAt], until: float) -> SeenCheckout:
        """In the thread that reads."""
        fresh = self._glance(root)
        last = fresh or _as_stale(self.view(root))
        if last is None:
            return SeenCheckout()
        same = [each for each in cited if each.checkout.repository == last.checkout.repository]
        return SeenCheckout(fresh, last, self._checking.check(same, last, until, LARGE))

    def _arrive(self, root: str) -> _Arrived:
        """In the thread that reads."""
        fresh = self._glance(root)
        last = fresh or _as_stale(self.view(root))
        until = self._clock() + ARRIVAL_SECONDS
        return _Arrived(fresh, last, self._checking.refresh(last, until) if last is not None else {})

    def _look_behind(self, cited: Sequence[LearnedAt], view: CheckoutView) -> None:
        """In the thread that reads: look up what no request waits for, and have git asked for what is not there."""
        same = [each for each in cited if each.checkout.repository == view.checkout.repository]
        self._checking.check(same, view, self._clock() + BEHIND_SECONDS)
        if lost := self._checking.lost(same, view.root):
            self._asking.submit(self._find_lost, view.root, lost)

    def _glance(self, root: str) -> CheckoutView | None:
        """A checkout as it stands, where that is known without git."""
        known = self._views.get(root)
        if known is None or known.view is None:
            return None
        if known.written == times(known.watched):
            return known.view
        branch, commit = head_of(root)
        seen = known.view.checkout
        # Git's files give commits on no branch no name.
        same_branch = branch == seen.branch or (not branch and seen.branch.startswith(DETACHED))
        if commit and commit == seen.commit and same_branch:
            return _as_stale(known.view)
        main = known.view.main
        if (not branch or branch != main) and commit not in known.view.tips:
            return None
        # What is checked out has no commits of its own: it is the main branch, or begins where that stands.
        here = Checkout(seen.repository, branch, commit, bool(branch and main and branch != main))
        return replace(known.view, checkout=here, own=frozenset(), stale=True)

    def _find_lost(self, root: str, lost: Sequence[Citation]) -> None:
        """In git's thread, behind the look at what stands now: where what is not in its file any more stands, and
        whether what came with a commit ever came here. The next request is told."""
        view = self.view(root)
        if view is None:
            return
        checking, here = self._checking, view.checkout.commit
        for cited in lost:
            name = root, cited.name
            if cited.sort in SOUGHT and checking.elsewhere.get(name, (0, ""))[0] != view.refs:
                checking.elsewhere[name] = view.refs, seek(root, cited, view.files)[0]
            if cited.at and checking.reached.get((root, cited), ("", False))[0] != here:
                if len(checking.reached) >= MOST_REACHED:
                    checking.reached.clear()
                checking.reached[root, cited] = here, came_before(root, cited, here)


def _as_stale(view: CheckoutView | None) -> CheckoutView | None:
    """A checkout as it was seen before something of git's was written."""
    return replace(view, stale=True) if view is not None else None


def _nothing() -> None:
    """What a thread does when all before it is done."""
