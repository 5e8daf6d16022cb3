"""Look at a checkout as it stands: branch, commits, files, renames, manifests. Blocks: for a thread."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memory.checkout import Checkout
from memory.features.checkouts import files
from memory.features.checkouts.declared import MANIFESTS, Declared, declared
from memory.features.checkouts.git import commit, lines

MOST_FILES: Final = 50_000
MOST_COMMITS: Final = 5_000
"""Own commits of a branch that are known by name."""
HISTORY: Final = "500"
"""Commits in which renames are looked for."""
MAIN: Final = ("main", "master", "trunk", "develop", "default")
"""What the branch is called that work is merged into, where no remote says so."""

DETACHED: Final = "detached@"
"""What commits are called that are checked out on no branch and are not in the main one: with the first of them."""

_PLAIN: Final = re.compile(r"[\w./@+-]{1,200}")
_WATCHED: Final = ("HEAD", "index", "logs/HEAD", "packed-refs", "FETCH_HEAD", "refs/heads", "refs/remotes")


@dataclass(frozen=True, slots=True)
class CheckoutView:
    """A checkout as it stands. ``root`` is the worktree; ``main`` the name of the branch that work is merged into and
    ``tips`` its newest commits, here and at the remote; ``own`` are the commits of what is checked out that are not in
    it; ``files`` are those that git knows or would take; ``renamed`` leads from an old path to the present one.
    ``stale``: something of git's was written since, so that a file may have another name that is not known yet."""

    root: str
    checkout: Checkout
    main: str = ""
    tips: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    built: Declared = field(default_factory=Declared)
    refs: int = 0
    stale: bool = False


def watched(root: str) -> tuple[str, ...]:
    """The files of a checkout of which one is written whenever a look at it would show something else; none where git
    knows none there."""
    own = _git_folder(Path(root))
    if own is None:
        return ()
    common = str(_common(own))
    found = [f"{folder}/{name}" for folder in dict.fromkeys((str(own), common)) for name in _WATCHED]
    for heads in (f"{common}/refs/heads", f"{common}/refs/remotes"):
        with contextlib.suppress(OSError):
            found += [each.path for each in os.scandir(heads) if each.is_dir(follow_symlinks=False)][:100]
    return (*found, *(f"{root}/{name}" for name in MANIFESTS))


def times(files: Iterable[str]) -> tuple[int, ...]:
    """When files were written; 0 for those that are not there."""
    return tuple(map(_time, files))


def head_of(root: str) -> tuple[str, str]:
    """The branch that is checked out and its commit, as the files tell them; empty where they do not."""
    own = _git_folder(Path(root))
    with contextlib.suppress(OSError):
        head = _text(own / "HEAD") if own is not None else ""
        if own is None or not head.startswith("ref: refs/heads/"):
            return _rebased_branch(own) if own is not None else "", commit(head)
        ref = head.removeprefix("ref: ")
        branch, loose = ref.removeprefix("refs/heads/"), _common(own) / ref
        if ".." in ref.split("/"):
            return "", ""
        if loose.is_file():
            return branch, commit(_text(loose))
        packed = _text(_common(own) / "packed-refs", 2**20).splitlines()
        return branch, next((commit(line.partition(" ")[0]) for line in packed if line.endswith(f" {ref}")), "")
    return "", ""


def look(root: str) -> CheckoutView | None:
    """A checkout as it stands; None where git knows none there."""
    own = _git_folder(Path(root))
    if own is None:
        return None
    common = _common(own)
    refs = lines(root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes")
    heads = dict(line.split(" ", 1) for line in refs if " " in line)
    main = main_branch(root, heads)
    tips = tuple(dict.fromkeys(tip for ref, tip in heads.items() if main and _is_main(ref, main)))
    head = commit(next(iter(lines(root, "rev-parse", "--verify", "--quiet", "HEAD")), ""))
    behind = [f"^{tip}" for tip in tips]
    mine = lines(root, "rev-list", f"--max-count={MOST_COMMITS}", "HEAD", *behind) if head and tips else []
    branch = next(iter(lines(root, "symbolic-ref", "--quiet", "--short", "HEAD")), "")[:200] or _rebased_branch(own)
    if not branch and mine:
        branch = f"{DETACHED}{mine[-1][:7]}"
    here = Checkout(
        str(common.parent if common.name == ".git" else root),
        branch if branch.isprintable() else "",
        head,
        bool(head and branch and main and branch != main),
    )
    output = lines(root, "-c", "core.quotePath=false", "ls-files", "--cached", "--others", "--exclude-standard")
    there = frozenset(output[:MOST_FILES])
    texts: dict[str, str] = {}
    for name in MANIFESTS:
        if name in there:
            with contextlib.suppress(OSError):
                texts[name] = (files.read(root, name) or b"").decode("utf-8", "replace")
    built = declared(texts, [name for name in there if "/" not in name])
    return CheckoutView(
        root, here, main, tips, frozenset(mine), there, _renamed_files(root, there), built, hash(tuple(sorted(refs)))
    )


def main_branch(root: str, heads: Mapping[str, str]) -> str:
    """The branch that work is merged into; empty where that cannot be told."""
    remote_head = next(iter(lines(root, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")), "")
    if remote_head.startswith("refs/remotes/origin/"):
        return remote_head.removeprefix("refs/remotes/origin/")
    local = [ref.removeprefix("refs/heads/") for ref in heads if ref.startswith("refs/heads/")]
    named = next((name for name in MAIN if name in local), "")
    return named or (local[0] if len(local) == 1 else "")


def renamed_branches(root: str) -> dict[str, str]:
    """Branches that have another name now, the old ones first, as the logs of references tell it."""
    own = _git_folder(Path(root))
    if own is None:
        return {}
    logs = _common(own) / "logs" / "refs" / "heads"
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for folder, _, names in os.walk(logs):
            for name in names[:500]:
                with contextlib.suppress(OSError), (Path(folder) / name).open("rb") as file:
                    for line in file.read(256 * 1024).decode("utf-8", "replace").splitlines():
                        if match := re.search(r"renamed refs/heads/(\S+) to refs/heads/(\S+)$", line):
                            found[match[1]] = match[2]
    return found


def followed(names: Mapping[str, str], name: str) -> str:
    """Where a chain of renames leads; the name itself where there is none."""
    seen = {name}
    while (later := names.get(name)) is not None and later not in seen:
        seen.add(later)
        name = later
    return name


def _rebased_branch(own: Path) -> str:
    """The branch that is being rebased, while none is checked out; empty where none is."""
    for folder in ("rebase-merge", "rebase-apply"):
        with contextlib.suppress(OSError):
            ref = _text(own / folder / "head-name")
            if ref.startswith("refs/heads/"):
                return ref.removeprefix("refs/heads/")[:200]
    return ""


def _is_main(ref: str, main: str) -> bool:
    return ref == f"refs/heads/{main}" or (ref.startswith("refs/remotes/") and ref.split("/", 3)[-1] == main)


def _renamed_files(root: str, there: frozenset[str]) -> dict[str, str]:
    """Files that have another name now, by the old one; what has come back to its old name is none."""
    how = ("-M", "--diff-filter=R", "--name-status", "--no-ext-diff", "--no-textconv")
    output = lines(root, "-c", "core.quotePath=false", "log", "-n", HISTORY, "--reverse", "--format=", *how, "HEAD")
    output += lines(root, "-c", "core.quotePath=false", "diff", "--cached", *how, "HEAD")
    found: dict[str, str] = {}
    for line in output:
        parts = line.split("\t")
        if len(parts) == 3 and all(map(_PLAIN.fullmatch, parts[1:])):
            found[parts[1]] = parts[2]
    final = {old: followed(found, old) for old in found if old not in there}
    return {old: new for old, new in final.items() if new in there and not files.secret_like(new)}


def _git_folder(root: Path) -> Path | None:
    """A worktree's own folder of git's."""
    dot = root / ".git"
    with contextlib.suppress(OSError, ValueError):
        if dot.is_dir() and not dot.is_symlink():
            return dot
        if dot.is_file() and not dot.is_symlink():
            target = _text(dot).partition("gitdir:")[2].strip()
            return (root / target).resolve() if target else None
    return None


def _common(own: Path) -> Path:
    with contextlib.suppress(OSError):
        return (own / _text(own / "commondir")).resolve()
    return own


def _text(path: Path, most: int = 4096) -> str:
    with path.open("rb") as file:
        return file.read(most).decode("utf-8", "replace").strip()


def _time(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
