"""Ask git about a checkout. Blocks: for a thread, and never while a request waits.

Nothing that a repository's own configuration names is run (hooks, a monitor of files, filters, external diffs, a
program that checks signatures), nothing is written, and nothing is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from memory.features.checkouts.tracked import blamed, visible

SECONDS: Final = 5.0
"""How long one question may take."""
MOST: Final = 16 * 2**20
"""Bytes of an answer."""

_SAFE: Final = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "log.showSignature=false",
    "protocol.allow=never", "core.untrackedCache=false", "submodule.recurse=false",
)  # fmt: skip
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class GitFailed(Exception):
    """Git is not there, took too long, or knows nothing of it."""


def git(root: str, *arguments: str, given: bytes | None = None) -> str:
    """What git answers.

    Raises:
        NoAnswer: when it does not.
    """
    command = ["git", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "-C", root]
    for each in _SAFE:
        command += ["-c", each]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    try:
        done = subprocess.run(
            [*command, *arguments],
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitFailed(str(error)) from error
    if done.returncode != 0:
        raise GitFailed(done.stderr[:200].decode("utf-8", "replace").strip() or f"git ended with {done.returncode}")
    return done.stdout[:MOST].decode("utf-8", "surrogateescape")


def lines(root: str, *arguments: str) -> list[str]:
    """The lines of an answer; none where there is no answer."""
    try:
        return git(root, *arguments).splitlines()
    except GitFailed:
        return []


def commit(text: str) -> str:
    """A text, if it is a commit's name; else nothing."""
    text = text.strip()
    return text if _COMMIT.fullmatch(text) else ""


def blobs(root: str, at: str, paths: Sequence[str], largest: int) -> dict[str, str]:
    """The texts of files of a commit, by their paths; without those that are larger, or no text."""
    asked = "".join(f"{at}:{path}\n" for path in paths if "\n" not in path)
    try:
        told = git(root, "cat-file", "--batch", given=asked.encode("utf-8", "surrogateescape")) if asked else ""
    except GitFailed:
        return {}
    rest, found = told.encode("utf-8", "surrogateescape"), dict[str, str]()
    for path in paths:
        head, _, rest = rest.partition(b"\n")
        _, kind, size = (*head.split(b" "), b"", b"")[:3]
        if kind != b"blob" or not size.isdigit():
            continue  # "missing" has no content behind it
        content, rest = rest[: int(size)], rest[int(size) + 1 :]
        if len(content) <= largest and b"\0" not in content:
            found[path] = content.decode("utf-8", "replace")
    return found


def is_ancestor(root: str, one: str, other: str) -> bool:
    """Whether all that a commit holds is in another one."""
    try:
        git(root, "merge-base", "--is-ancestor", one, other)
    except GitFailed:
        return False
    return True


def patches(root: str, *arguments: str) -> dict[str, str]:
    """Commits by what each of them changes, as ``git patch-id`` names that."""
    try:
        output = git(root, *arguments, "--no-ext-diff", "--no-textconv")
        ids = git(root, "patch-id", "--stable", given=output.encode("utf-8", "surrogateescape")) if output else ""
    except GitFailed:
        return {}
    pairs = (line.split() for line in ids.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


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
