"""What is known of a checkout is kept up with it: its branches, and what memories cite of its code.

What has become of a branch on which something was learnt. Blocks: for a thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from memory.checkout import Branch, BranchStage, Citation, LearnedAt
from memory.fact import Fact
from memory.features.checkouts import awaited, marking
from memory.features.checkouts.checking import MOST_CHECKOUTS
from memory.features.checkouts.finding import found
from memory.features.checkouts.git import SHORT, GitFailed, commit, git, is_ancestor, lines, patches
from memory.features.checkouts.looking import DETACHED, CheckoutView, followed, renamed_branches
from memory.features.checkouts.rows import CheckoutJournal, Rows
from memory.features.checkouts.sight import CheckoutWatcher
from memory.lru import LruDict
from memory.scope import Scope

MOST: Final = "300"
"""Commits of the main branch that are compared with a branch's, or looked through for what takes back others."""

_REVERTS: Final = re.compile(r"(?m)^This reverts commit ([0-9a-f]{40})")


@dataclass(frozen=True, slots=True)
class Followed:
    """Branches as far as they stand otherwise now, names that have changed (old to new), and the commits of each
    branch's own, the newest first. ``ended``: a branch that was merged goes on, or another one has its name, and what
    was merged has a name of its own from then on (by the old one the new one, and the commits made since)."""

    branches: tuple[Branch, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ended: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)


def follow(view: CheckoutView, known: Sequence[Branch], now: datetime) -> Followed:
    """What has become of branches."""
    root = view.root
    refs = lines(root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes")
    heads = dict(line.split(" ", 1) for line in refs if " " in line)
    names = renamed_branches(root) if any(f"refs/heads/{each.name}" not in heads for each in known) else {}
    found: list[Branch] = []
    renamed: dict[str, str] = {}
    commits: dict[str, tuple[str, ...]] = {}
    ended: dict[str, tuple[str, tuple[str, ...]]] = {}
    if view.checkout.branch.startswith(DETACHED):
        heads[f"refs/heads/{view.checkout.branch}"] = view.checkout.commit
    for branch in known:
        tip = _tip_of(heads, branch.name) or _detached_tip(view, branch)
        new = followed(names, branch.name)
        if not tip and new != branch.name and (tip := _tip_of(heads, new)):
            renamed[branch.name] = new
            branch = replace(branch, name=new)
        moved = _at_newest_commit(view, branch, tip)
        own = _own_commits(view, moved)
        stage = _stage(view, moved, own, there=bool(tip))
        if _has_new_commits(branch, moved, stage):
            merged = replace(branch, name=f"{branch.name}@{branch.tip[:SHORT]}")
            before = _own_commits(view, merged)
            ended[branch.name] = merged.name, tuple(each for each in own if each not in before)
            stays = _stage(view, merged, before, there=False)
            found.append(replace(merged, stage=stays, since=merged.since if stays is merged.stage else now))
        if own:
            commits[moved.name] = tuple(own)
        if branch.name in renamed.values() or (moved.tip, moved.base, stage) != (branch.tip, branch.base, branch.stage):
            since = branch.since if stage is branch.stage and branch.tip else now
            found.append(replace(moved, stage=stage, since=since))
    return Followed(tuple(found), renamed, commits, ended)


def _has_new_commits(before: Branch, now: Branch, stage: BranchStage) -> bool:
    """Whether a branch that was merged has commits again that are not."""
    return before.stage is BranchStage.MERGED and stage is BranchStage.OPEN and now.tip != before.tip


def _detached_tip(view: CheckoutView, branch: Branch) -> str:
    """Where commits on no branch ended when they were seen last, as long as git has them: other worktrees do not see
    that they are checked out."""
    if not branch.name.startswith(DETACHED) or not branch.tip:
        return ""
    return next(iter(lines(view.root, "rev-parse", "--verify", "--quiet", f"{branch.tip}^{{commit}}")), "")


def _tip_of(heads: Mapping[str, str], name: str) -> str:
    """A branch's newest commit, here or at a remote; empty where it is gone."""
    here = heads.get(f"refs/heads/{name}", "")
    return here or next(
        (tip for ref, tip in heads.items() if ref.startswith("refs/remotes/") and ref.split("/", 3)[-1] == name), ""
    )


def _at_newest_commit(view: CheckoutView, branch: Branch, tip: str) -> Branch:
    """A branch at its newest commit. Where it began is asked while it is not merged: afterwards nobody can tell."""
    tip = tip or branch.tip
    if not tip or (branch.base and any(is_ancestor(view.root, tip, each) for each in view.tips)):
        return replace(branch, tip=tip)
    base = ""
    for each in view.tips:
        shared = commit(next(iter(lines(view.root, "merge-base", tip, each)), ""))
        if shared and (not base or is_ancestor(view.root, base, shared)):
            base = shared
    return replace(branch, tip=tip, base=base or branch.base)


def _own_commits(view: CheckoutView, branch: Branch) -> list[str]:
    """A branch's own commits, the newest first; those that came in by merges left aside."""
    if not branch.tip or not branch.base or branch.tip == branch.base:
        return []
    return lines(view.root, "rev-list", "--first-parent", "--max-count=1000", branch.tip, f"^{branch.base}")


def _stage(view: CheckoutView, branch: Branch, own: Sequence[str], there: bool) -> BranchStage:
    if own and view.tips:
        by = _merge_commits(view, branch, own)
        if by is not None:
            return BranchStage.REVERTED if _was_reverted(view, branch, own, by) else BranchStage.MERGED
        if not there and branch.stage in (BranchStage.MERGED, BranchStage.REVERTED) and _is_long_ago(view, branch):
            return branch.stage
    return BranchStage.OPEN if there else BranchStage.DROPPED


def _merge_commits(view: CheckoutView, branch: Branch, own: Sequence[str]) -> list[str] | None:
    """The commits of the main branch that brought a branch's work in; None where it is not in."""
    for tip in view.tips:
        if is_ancestor(view.root, branch.tip, tip):
            path = ("--first-parent", "--ancestry-path", "--merges", f"{branch.tip}..{tip}")
            return [*lines(view.root, "rev-list", *path)[-1:]]
        span = f"{branch.base}..{tip}"
        theirs = patches(view.root, "log", "-p", "--no-merges", "-n", MOST, "--format=commit %H", span)
        if not theirs:
            continue
        mine = patches(view.root, "log", "-p", "--no-merges", "--format=commit %H", f"{branch.base}..{branch.tip}")
        if mine and mine.keys() <= theirs.keys():
            return [theirs[each] for each in mine]
        whole = patches(view.root, "diff", branch.base, branch.tip)
        if whole and (same := [theirs[each] for each in whole if each in theirs]):
            return same
    return None


def _is_long_ago(view: CheckoutView, branch: Branch) -> bool:
    """Whether the main branch has gone on so far that what brought a branch in is not among the commits that are
    compared any more."""
    counts = (lines(view.root, "rev-list", "--count", f"{branch.base}..{tip}") for tip in view.tips)
    return any(int(count[0]) > int(MOST) for count in counts if count)


def anchored(view: CheckoutView, own: Sequence[str], learnt: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """By which of its branch's ``own`` commits (the newest first) others know a memory, of those ``learnt`` there (id,
    the commit that was checked out, and the one by which others know it so far) of which that is another one now."""
    commits, kept = frozenset(own), dict[str, bool]()
    found: dict[str, str] = {}
    for id, at, anchor in learnt:
        if not anchor:
            found[id] = at if at in commits else own[-1]
        elif anchor not in commits:
            if anchor not in kept:
                kept[anchor] = bool(lines(view.root, "for-each-ref", "--count=1", "--contains", anchor))
            if not kept[anchor]:  # its branch was rebased, or the commit amended: what stands now has that work
                found[id] = own[0]
    return found


def _was_reverted(view: CheckoutView, branch: Branch, own: Sequence[str], by: Sequence[str]) -> bool:
    """Whether what brought a branch's work in was reverted, and that not reverted again."""
    reverted: set[str] = set()
    for tip in view.tips:
        try:
            log = git(
                view.root,
                "log",
                "-n",
                MOST,
                "--format=%H%n%B%x00",
                "--grep=^This reverts commit",
                f"{branch.base}..{tip}",
            )
        except GitFailed:
            continue
        for each in log.split("\0"):
            name, _, body = each.strip().partition("\n")
            if name not in reverted:  # the newest come first: what takes back a revert has been seen before it
                reverted.update(_REVERTS.findall(body))
    return (bool(by) and reverted.issuperset(by)) or reverted.issuperset(own)


MOST_ASKED = 2000
"""Memories of an owner that are looked through for what is gone."""
MOST_PRIMED = 500
"""Memories that are looked up when a checkout is seen first."""
MOST_AWAITING = 500
"""Memories of a repository for which it is looked whether what they name has come."""
MOST_LOOKED = 16
"""Memories that are looked into behind one exchange: each asks git several times, and after an upgrade all do."""


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
        self._awaiting: LruDict[str, awaited.Awaiting] = LruDict(MOST_CHECKOUTS)
        self._forgot = 0
        """How often something was forgotten: a look that began before one of these is dropped."""

    async def follow(self, view: CheckoutView, *, anew: bool = False) -> None:
        """See what has become of the branches on which something was learnt, where any reference has changed."""
        # What is found out is written down by the one that does the work.
        if not self._journal.works or (not self._sight.to_follow(view) and not anew):
            return
        repository = view.checkout.repository
        known = await self._journal.branches(repository)
        if not known:
            return
        followed = await self._sight.run_git(partial(follow, view, known, self._now()))
        anchors: dict[str, str] = {}
        old = {new: name for name, new in followed.renamed.items()}
        for name, own in followed.own.items():
            learnt = await self._journal.anchors(repository, old.get(name, name))
            if name in followed.ended:
                learnt = [each for each in learnt if each[1] in followed.ended[name][1]]
            anchors |= await self._sight.run_git(partial(anchored, view, own, learnt))
        if followed.branches or followed.renamed or anchors:
            owners = await self._journal.follow(
                followed.branches, followed.renamed, followed.ended, anchors, repository
            )
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
            forgot = self._forgot
            cited = await self._citations_by_memory(new, view)
            await self._journal.looked(cited)
            self._rows.written()
            if forgot == self._forgot:
                self._await(view, cited.values())
            self._sight.prime([LearnedAt(id, "", view.checkout, "", cites) for id, cites in cited.items()], view)
        return bool(new)

    async def look_into(self, facts: Sequence[Fact], view: CheckoutView) -> None:
        """Find what facts cite that were learnt nowhere: from now on it is known whether that holds."""
        here = replace(view.checkout, branch="", staged=False)
        forgot = self._forgot
        cited = await self._citations_by_memory([(fact.id, fact.text) for fact in facts], view)
        if forgot != self._forgot:
            return
        learnt = [LearnedAt(fact.id, fact.owner, here, "", cited[fact.id], looked=True) for fact in facts]
        for each in learnt:
            await self._journal.learn_where(each)
        self._rows.written()
        self._await(view, cited.values())
        self._sight.prime(learnt, view)

    async def look_for_awaited(self, view: CheckoutView) -> None:
        """Look whether the checkout holds by now what memories named before it did, where it is another one than at the
        last look, as far as that is looked behind one exchange."""
        if not self._journal.works:
            return
        forgot, known = self._forgot, self._awaiting.get(view.root)
        if known is not None and await self._has_come(known):
            view = await self._sight.look_anew(view.root) or view
        if known is None or not known.is_of(view):
            before, files = known, frozenset(known.files if known is not None else ())
            rows = await self._awaited_in(view)
            known = await self._sight.run_git(partial(awaited.awaiting, rows, view, before))
            if forgot != self._forgot:
                return
            if before is not None:  # what was added since is in none of the rows
                known.files |= {path: False for path in before.files if path not in files}
            self._awaiting.put(view.root, known)
        found: dict[Citation, Citation] = {}
        for name in known.take():  # one by one, so that what a request asks git is not behind all of them
            found[name] = await self._sight.run_git(partial(awaited.look_for, name, view, known.within(name)))
        if found:
            await self._settle(view, found)

    def forget(self) -> None:
        """What memories named is known to nobody any more."""
        self._forgot += 1
        self._awaiting.clear()

    async def _has_come(self, known: awaited.Awaiting) -> bool:
        """Whether an awaited file lies there that did not before. New ones may be added while git's thread looks."""
        if not known.files:
            return False
        return known.has_come(await self._sight.run_git(partial(awaited.lying, known.view.root, tuple(known.files))))

    async def _citations_by_memory(
        self, texts: Iterable[tuple[str, str]], view: CheckoutView
    ) -> dict[str, tuple[Citation, ...]]:
        """What memories cite, by their ids; one by one, so that what a request asks git is not behind all of them."""
        return {id: await self._sight.run_git(partial(found, text, view)) for id, text in texts}

    async def _awaited_in(self, view: CheckoutView) -> list[LearnedAt]:
        """The memories that await something and hold in this checkout."""
        rows = await self._journal.awaiting(view.checkout.repository, MOST_AWAITING)
        return [row for row in rows if marking.staged(row, view.checkout, view.own, self._now()).weight > 0.0]

    async def _settle(self, view: CheckoutView, found: Mapping[Citation, Citation]) -> None:
        """Write down what has come."""
        rows = await self._awaited_in(view)
        now = {row.memory: awaited.settled(row.cites, found) for row in rows}
        written = {row.memory: now[row.memory] for row in rows if now[row.memory] != row.cites}
        if written:
            await self._journal.looked(written)
            self._rows.written()
            self._sight.prime([replace(row, cites=now[row.memory]) for row in rows if row.memory in written], view)

    def _await(self, view: CheckoutView, cites: Iterable[Sequence[Citation]]) -> None:
        """Look out for the files among what new memories name."""
        known = self._awaiting.get(view.root)
        if known is not None:
            for each in cites:
                known.await_files(each)
