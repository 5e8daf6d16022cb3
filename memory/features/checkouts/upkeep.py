"""What is known of a checkout is kept up with it: its branches, and what memories cite of its code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from memory.checkout import LearnedAt
from memory.fact import Fact
from memory.features.checkouts import branches
from memory.features.checkouts.finding import found
from memory.features.checkouts.journal_port import CheckoutJournal
from memory.features.checkouts.looking import CheckoutView
from memory.features.checkouts.rows import Rows
from memory.features.checkouts.sight import CheckoutWatcher
from memory.scope import Scope

MOST_ASKED = 2000
"""Memories of an owner that are looked through for what is gone."""
MOST_PRIMED = 500
"""Memories that are looked up when a checkout is seen first."""
MOST_LOOKED = 500
"""Memories that are looked into behind one exchange."""


class CheckoutUpkeep:
    """The upkeep of the checkouts of this machine; ``changed`` is told whose memories hold elsewhere now."""

    def __init__(
        self,
        journal: CheckoutJournal,
        sight: CheckoutWatcher,
        rows: Rows,
        now: Callable[[], datetime],
        changed: Callable[[frozenset[str]], None],
    ) -> None:
        self._journal, self._sight, self._rows = journal, sight, rows
        self._now, self._changed = now, changed

    async def follow(self, view: CheckoutView, *, anew: bool = False) -> None:
        """See what has become of the branches on which something was learnt, where any reference has changed."""
        # What is found out is written down by the one that does the work.
        if not self._journal.works or (not self._sight.to_follow(view) and not anew):
            return
        repository = view.checkout.repository
        known = await self._journal.branches(repository)
        if not known:
            return
        followed = await self._sight.run_git(partial(branches.follow, view, known, self._now()))
        anchors: dict[str, str] = {}
        old = {new: name for name, new in followed.renamed.items()}
        for name, own in followed.own.items():
            for id, at in await self._journal.unanchored(repository, old.get(name, name)):
                anchors[id] = at if at in own else own[-1]
        if followed.branches or followed.renamed or anchors:
            owners = await self._journal.follow(followed.branches, followed.renamed, anchors, repository)
            self._rows.written()
            self._changed(owners)

    async def prime(self, view: CheckoutView, scope: Scope) -> None:
        """Have what is remembered of a checkout looked up once."""
        if not self._sight.to_prime(view.root):
            return
        rows = [each for owner in scope.owners() for each in await self._journal.learnt_after(owner, "", MOST_ASKED)]
        self._sight.prime([each for each in rows if each.cites][:MOST_PRIMED], view)

    async def look_into_new(self, view: CheckoutView) -> bool:
        """Find what new memories cite; whether there were any."""
        if not self._journal.works:
            return False
        new = await self._journal.unlooked(view.checkout.repository, MOST_LOOKED)
        if new:
            cited = await self._sight.run_git(lambda: {id: found(text, view) for id, text in new})
            await self._journal.looked(cited)
            self._rows.written()
            self._sight.prime([LearnedAt(id, "", view.checkout, "", cites) for id, cites in cited.items()], view)
        return bool(new)

    async def look_into(self, facts: Sequence[Fact], view: CheckoutView) -> None:
        """Find what facts cite that were learnt nowhere: from now on it is known whether that holds."""
        here = replace(view.checkout, branch="", staged=False)
        cited = await self._sight.run_git(lambda: {fact.id: found(fact.text, view) for fact in facts})
        learnt = [LearnedAt(fact.id, fact.owner, here, "", cited[fact.id], looked=True) for fact in facts]
        for each in learnt:
            await self._journal.learn_where(each)
        self._rows.written()
        self._sight.prime(learnt, view)
