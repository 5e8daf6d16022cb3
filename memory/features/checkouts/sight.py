"""Checkouts as they stand, kept up to date beside requests: one thread asks git, the other reads files.

A request never waits for git. It is told how a checkout stands where that is known without: nothing was written since
the last look, the same commit is checked out, or the main branch is, or a branch that begins at its newest commit.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from memory.checkout import Checkout, Citation, CitationKind, LearnedAt
from memory.features.checkouts.checking import CitationChecker, CitationState, CitationVerdict
from memory.features.checkouts.files import allowed
from memory.features.checkouts.finding import seek
from memory.features.checkouts.looking import CheckoutView, head_of, look, times, watched

T = TypeVar("T")

MOST: Final = 16
"""Checkouts that are kept in sight."""


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


class CheckoutWatcher:
    """Looks. ``folders``: only checkouts below one of them, where there are any."""

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = tuple(Path(each).expanduser().resolve() for each in folders)
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="git")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="citations")
        self._checking = CitationChecker()
        self._views: OrderedDict[str, _Looked] = OrderedDict()
        self._looks: OrderedDict[str, tuple[datetime, Future[CheckoutView | None]]] = OrderedDict()

    def view(self, root: str) -> CheckoutView | None:
        """A checkout as it was seen last."""
        seen = self._views.get(root)
        return seen.view if seen is not None else None

    async def look(self, root: str, at: datetime) -> CheckoutView | None:
        """Look at a checkout, not before a moment, and not twice for it."""
        known = self._looks.get(root)
        if known is None or known[0] < at:
            known = self._looks[root] = at, self._asking.submit(self._see, root)
            _bounded(self._looks)
        return await asyncio.wrap_future(known[1])

    async def read(self, root: str, cited: Sequence[LearnedAt], until: float) -> SeenCheckout:
        """A checkout and what is cited of it, as far as that can be told until then."""
        work = asyncio.wrap_future(self._reading.submit(self._read, root, cited, until))
        seen = await within(work, until) or SeenCheckout(last=self.view(root))
        if seen.verdicts and seen.last is not None:
            self._seek(seen.verdicts, seen.last)
        return seen

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

    def _see(self, root: str) -> CheckoutView | None:
        """In git's thread."""
        known = self._views.get(root)
        if known is not None and known.watched and known.written == times(known.watched):
            return known.view
        by = watched(root)
        written = times(by)
        view = look(root) if by and allowed(root, self.folders) else None
        self._views[root] = _Looked(by, written, view, known.followed if known is not None else 0)
        self._views.move_to_end(root)
        _bounded(self._views)
        return view

    def _read(self, root: str, cited: Sequence[LearnedAt], until: float) -> SeenCheckout:
        """In the thread that reads."""
        fresh = self._glance(root)
        last = fresh or self.view(root)
        if last is None:
            return SeenCheckout()
        same = [each for each in cited if each.checkout.repository == last.checkout.repository]
        return SeenCheckout(fresh, last, self._checking.check(same, last, until))

    def _glance(self, root: str) -> CheckoutView | None:
        """A checkout as it stands, where that is known without git."""
        known = self._views.get(root)
        if known is None or known.view is None:
            return None
        if known.written == times(known.watched):
            return known.view
        branch, commit = head_of(root)
        if commit and (branch, commit) == (known.view.checkout.branch, known.view.checkout.commit):
            return known.view
        main = known.view.main
        if (not branch or branch != main) and commit not in known.view.tips:
            return None
        # What is checked out has no commits of its own: it is the main branch, or begins where that stands.
        here = Checkout(known.view.checkout.repository, branch, commit, bool(branch and main and branch != main))
        return replace(known.view, checkout=here, own=frozenset())

    def _seek(self, verdicts: Mapping[str, Sequence[CitationVerdict]], view: CheckoutView) -> None:
        """Have it looked for where else a symbol stands that is not in its file any more; the next request is told."""
        for each in (verdict for each_file in verdicts.values() for verdict in each_file):
            cited = each.cited
            key = (view.root, cited.name)
            lost = each.state is CitationState.CHANGED and cited.sort in (CitationKind.SYMBOL, CitationKind.PORT)
            if lost and self._checking.elsewhere.get(key, (0, ""))[0] != view.refs:
                self._asking.submit(self._sought, key, cited, view)

    def _sought(self, key: tuple[str, str], cited: Citation, view: CheckoutView) -> None:
        self._checking.elsewhere[key] = view.refs, seek(view.root, cited, view.files)[0]


async def within(work: asyncio.Future[T], until: float) -> T | None:
    """What a work gives, if it does so in time; it goes on in any case."""
    left = until - time.perf_counter()
    if not work.done() and left > 0:
        await asyncio.wait({work}, timeout=left)
    return work.result() if work.done() and not work.cancelled() and work.exception() is None else None


def _bounded(cache: OrderedDict[str, Any]) -> None:
    while len(cache) > MOST:
        cache.popitem(last=False)
