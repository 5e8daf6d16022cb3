"""Look again for what was cited before it was there. Blocks: for a thread.

People decide first and write then. What a text names and the checkout does not hold is awaited; it is a citation like
any other from the commit on that holds it. What only lies there is said to hold as long as it does, and never to be
gone: a branch, a stash or a second thought may have taken it along.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memory.checkout import Citation, CitationKind, LearnedAt
from memory.features.checkouts.files import LARGEST, CheckoutFiles
from memory.features.checkouts.finding import find_now, once_each
from memory.features.checkouts.git import GitFailed, blobs, commit, git, is_ancestor, lines
from memory.features.checkouts.looking import CheckoutView
from memory.learning.citations import is_capitalised, needle

MOST_AT_ONCE: Final = 16
"""Names that are looked for behind one exchange."""
MOST_EVERYWHERE: Final = 4
"""Symbols among them that are looked for in the whole checkout: in a large one each takes tenths of a second."""
MOST_FILES: Final = 256
"""Awaited files of which it is looked whether they lie there by now."""
MOST_CHANGED: Final = 200
"""Changed files that are searched by themselves; where there are more, the whole checkout is."""

_PARTS: Final = re.compile(r"\.|::|#| ")
"""What the last word of a name stands behind."""


@dataclass(slots=True)
class Awaiting:
    """What a checkout, as it was seen in ``view``, is awaited to hold. ``left`` of the ``names`` have still to be
    looked for: in the ``changed`` files, or everywhere where these are unknown or the name is in ``whole``. ``files``:
    whether awaited files were there."""

    view: CheckoutView
    names: frozenset[Citation] = frozenset()
    left: tuple[Citation, ...] = ()
    whole: frozenset[Citation] = frozenset()
    changed: frozenset[str] | None = None
    files: dict[str, bool] = field(default_factory=dict)

    def is_of(self, view: CheckoutView) -> bool:
        """Whether a checkout holds the same as when it was seen for this."""
        return self.view is view or (_commit(self.view), self.view.files) == (_commit(view), view.files)

    def await_files(self, cites: Iterable[Citation]) -> None:
        """Look out for these files, too."""
        for each in cites:
            if each.sort is CitationKind.FILE and not each.seen and len(self.files) < MOST_FILES:
                self.files.setdefault(each.name.removeprefix(f"{self.view.root}/").removeprefix("./"), False)

    def has_come(self, lying: Mapping[str, bool]) -> bool:
        """Whether an awaited file lies there now that did not before: told once."""
        come = any(there and not self.files.get(path, False) for path, there in lying.items())
        self.files |= lying
        return come

    def take(self) -> tuple[Citation, ...]:
        """The names that are looked for next."""
        number = everywhere = 0
        for name in self.left[:MOST_AT_ONCE]:
            everywhere += name.sort is CitationKind.SYMBOL and self.within(name) is None
            if everywhere > MOST_EVERYWHERE:
                break
            number += 1
        now, self.left = self.left[:number], self.left[number:]
        return now

    def within(self, name: Citation) -> frozenset[str] | None:
        """The files in which a name is looked for; None for all of them."""
        return None if name in self.whole else self.changed


def is_awaited(cites: Iterable[Citation]) -> bool:
    """Whether something is named that is nowhere yet. A word that may be a product's name is none that is missed."""
    return any(not each.seen and not each.file and not is_capitalised(each) for each in cites)


def name_of(cited: Citation) -> Citation:
    """An awaited citation as all that await the same have it."""
    return replace(cited, file="", at="")


def unseen(cited: Citation) -> Citation:
    """A citation that is awaited as if it had never been there."""
    return replace(cited, file="", line=0, mark="", seen=False, at="")


def awaiting(rows: Sequence[LearnedAt], view: CheckoutView, before: Awaiting | None) -> Awaiting:
    """What these memories await of a checkout. What was left the last time is looked for first."""
    cites = [each for row in rows for each in row.cites if not each.seen]
    names = dict.fromkeys(map(name_of, cites))
    changed = _changed_files(before.view, view) if before is not None else None
    first: tuple[Citation, ...] = ()
    whole = frozenset(names)
    if before is not None and changed is not None:
        changed |= {each.file for each in cites if each.file}
        whole = frozenset(name for name in names if name not in before.names or name in before.left)
    if before is not None:
        first = tuple(each for each in before.left if each in names)
    parts = frozenset(part for path in view.files for part in path.split("/"))
    uncommitted = {name_of(each) for each in cites if each.file}
    plausible = [each for each in dict.fromkeys((*first, *names)) if each in uncommitted or _may_be_there(each, parts)]
    found = Awaiting(view, frozenset(names), tuple(plausible), whole, changed)
    found.await_files(names)
    found.files = lying(view.root, found.files)
    return found


def look_for(name: Citation, view: CheckoutView, within: frozenset[str] | None = None) -> Citation:
    """An awaited citation as it is found now: seen where the commit that is checked out holds it, else with the file
    that it lies in, empty where it is nowhere."""
    hit = find_now(name, view, late=True, within=within)
    if hit is None:
        return name
    return replace(hit, at=_commit(view)) if _head_holds(hit, view) else replace(name, file=hit.file)


def came_before(root: str, cited: Citation, here: str) -> bool:
    """Whether what was awaited, and came with the commit ``cited.at``, came to where the commit ``here`` goes on from:
    with that commit, or with another one since the two parted, as an amended, a rebased or a squashed one. Where git
    has let go of the first, any other one tells."""
    at = commit(cited.at)
    if not at or at == here or is_ancestor(root, at, here):
        return bool(at)
    since = [f"^{at}"] if lines(root, "rev-parse", "--verify", "--quiet", f"{at}^{{commit}}") else []
    word = [] if cited.sort is CitationKind.FILE else [f"-S{re.split(_PARTS, cited.name)[-1] or cited.name}"]
    how = ("--max-count=1", "--format=%H", "--no-renames", "--no-ext-diff", "--no-textconv", *word)
    return bool(lines(root, "log", *how, here, *since, "--", cited.file))


def settled(cites: Sequence[Citation], found: Mapping[Citation, Citation]) -> tuple[Citation, ...]:
    """What a memory cites, with what was found of it since."""
    return once_each(each if each.seen else found.get(name_of(each), each) for each in cites)


def _commit(view: CheckoutView) -> str:
    return view.checkout.commit


def _changed_files(before: CheckoutView, view: CheckoutView) -> frozenset[str] | None:
    """The files that are other ones than before; None where they are too many, or that cannot be told."""
    found = before.files ^ view.files
    if _commit(before) != _commit(view):
        how = ("-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv")
        try:
            found |= frozenset(git(view.root, *how, _commit(before), _commit(view)).splitlines())
        except GitFailed:
            return None
    return found if len(found) <= MOST_CHANGED else None


def _may_be_there(name: Citation, parts: frozenset[str]) -> bool:
    """Whether a name is worth a look: of a file that is so where anything has its last part as a name."""
    return name.sort is not CitationKind.FILE or name.name.rstrip("/").rpartition("/")[2] in parts


def _head_holds(hit: Citation, view: CheckoutView) -> bool:
    """Whether the commit that is checked out holds what was found."""
    if not _commit(view):
        return False
    pattern = needle(hit)
    if pattern is None:
        return bool(lines(view.root, "ls-tree", "--name-only", _commit(view), "--", hit.file))
    text = blobs(view.root, _commit(view), [hit.file], LARGEST).get(hit.file, "")
    return pattern.search(text.encode()) is not None


def lying(root: str, paths: Iterable[str]) -> dict[str, bool]:
    """Which files lie in a checkout, of some that nobody adds to meanwhile."""
    with CheckoutFiles(root) as inside:
        return {path: _lies(inside, path) for path in paths}


def _lies(inside: CheckoutFiles, path: str) -> bool:
    try:
        return inside.signature(path) is not None
    except (OSError, ValueError):
        return False
