"""What has become of a branch on which something was learnt. Blocks: for a thread.

Merged is what the main branch holds: its commits themselves, the same changes one by one (a rebase), or all of them as
one commit (a squash). Reverted is what was merged and taken back since, by git's own words of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memory.checkout import Branch, BranchStage
from memory.features.checkouts.git import GitFailed, commit, git, is_ancestor, lines, patches
from memory.features.checkouts.looking import CheckoutView, followed, renamed_branches

MOST: Final = "300"
"""Commits of the main branch that are compared with a branch's, or looked through for what takes back others."""

_REVERTS: Final = re.compile(r"(?m)^This reverts commit ([0-9a-f]{40})")


@dataclass(frozen=True, slots=True)
class Followed:
    """Branches as far as they stand otherwise now, names that have changed (old to new), and the commits of each
    branch's own, the newest first."""

    branches: tuple[Branch, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def follow(view: CheckoutView, known: Sequence[Branch], now: datetime) -> Followed:
    """What has become of branches."""
    root = view.root
    refs = lines(root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes")
    heads = dict(line.split(" ", 1) for line in refs if " " in line)
    names = renamed_branches(root) if any(f"refs/heads/{each.name}" not in heads for each in known) else {}
    found: list[Branch] = []
    renamed: dict[str, str] = {}
    commits: dict[str, tuple[str, ...]] = {}
    for branch in known:
        tip = _tip(heads, branch.name)
        new = followed(names, branch.name)
        if not tip and new != branch.name and (tip := _tip(heads, new)):
            renamed[branch.name] = new
            branch = replace(branch, name=new)
        moved = _moved(view, branch, tip)
        own = _own(view, moved)
        stage = _stage(view, moved, own, there=bool(tip))
        if own:
            commits[moved.name] = tuple(own)
        if branch.name in renamed.values() or (moved.tip, moved.base, stage) != (branch.tip, branch.base, branch.stage):
            since = branch.since if stage is branch.stage and branch.tip else now
            found.append(replace(moved, stage=stage, since=since))
    return Followed(tuple(found), renamed, commits)


def _tip(heads: Mapping[str, str], name: str) -> str:
    """A branch's newest commit, here or at a remote; empty where it is gone."""
    here = heads.get(f"refs/heads/{name}", "")
    return here or next(
        (tip for ref, tip in heads.items() if ref.startswith("refs/remotes/") and ref.split("/", 3)[-1] == name), ""
    )


def _moved(view: CheckoutView, branch: Branch, tip: str) -> Branch:
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


def _own(view: CheckoutView, branch: Branch) -> list[str]:
    """A branch's own commits, the newest first; those that came in by merges left aside."""
    if not branch.tip or not branch.base or branch.tip == branch.base:
        return []
    return lines(view.root, "rev-list", "--first-parent", "--max-count=1000", branch.tip, f"^{branch.base}")


def _stage(view: CheckoutView, branch: Branch, own: Sequence[str], there: bool) -> BranchStage:
    if own and view.tips:
        by = _brought_in(view, branch, own)
        if by is not None:
            return BranchStage.REVERTED if _taken_back(view, branch, own, by) else BranchStage.MERGED
    return BranchStage.OPEN if there else BranchStage.DROPPED


def _brought_in(view: CheckoutView, branch: Branch, own: Sequence[str]) -> list[str] | None:
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


def _taken_back(view: CheckoutView, branch: Branch, own: Sequence[str], by: Sequence[str]) -> bool:
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
