"""Who committed the lines of a file, by git's word for it. Blocks: for a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memory.features.checkouts.git import GitFailed, git
from memory.features.checkouts.tracked import blamed, visible

LONGEST: Final = 60
"""Characters of a name."""
SHORT: Final = 7


def committers(root: str, path: str) -> Mapping[str, str]:
    """By line of a file as it is committed, word for word: who wrote it, who committed it where that is somebody else,
    and in which commit.

    Names are as the commits have them: a repository's own ``.mailmap``, which anybody may change, is not asked. The
    file as it lies there is not asked about either: git would send it through filters that a configuration names.
    """
    try:
        how = ("blame", "--line-porcelain", "--no-textconv", "HEAD", "--", path)
        lines = blamed(git(root, "-c", "blame.ignoreRevsFile=", *how))
        who = {commit: _who(root, commit) for commit in set(lines.values())}
    except GitFailed:
        return {}
    return {line: who[commit] for line, commit in lines.items()}


def _who(root: str, commit: str) -> str:
    told = git(root, "show", "-s", "--no-textconv", "--format=%an%x00%cn", commit)
    author, _, committer = told.rstrip("\n").partition("\0")
    author, committer = _name(author), _name(committer)
    by = author if author == committer else f"{author}, committed by {committer},"
    return f"{by} in {commit[:SHORT]}"


def _name(name: str) -> str:
    return visible(name)[:LONGEST].strip() or "somebody without a name"
