"""The git checkout that a directory on this machine belongs to, and the name that its project was given.

Of all clients only one tells the remote. So that what one client learnt in a project helps the others, and a
session begun in a sub-folder or a worktree is in the same project, the checkout is looked up where it lies: two
small files are read, never a command run. Only for callers on this machine; elsewhere a path means nothing to us.

A project keeps its first name, also when its folder is put under git later, or gets a remote: the names are kept
in a file, which a person may edit to join two projects or to part them.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

import msgspec

from memory.learning.redact import redact
from memory.lru import LruDict
from proxy.marker import Markers, TrustedProjects
from proxy.runtimes.environment import ClientEnvironment, project_of

_DEEPEST = 40
_LARGEST_CONFIG = 256 * 1024
_MOST_NAMES = 10_000


class CheckoutLookup:
    """Looks up checkouts. ``names`` is the file of the projects' names; without it they are kept while we run.
    ``trusted`` is the file of those that folders may name themselves."""

    def __init__(
        self, names: Path | None = None, home: Path | None = None, most: int = 1000, trusted: Path | None = None
    ) -> None:
        self._file = names
        self._home = home if home is not None else Path.home()
        self._found: LruDict[str, ClientEnvironment | None] = LruDict(most)
        self._names = _read_names(names)
        self._markers = Markers(TrustedProjects(trusted))

    def locate(self, place: ClientEnvironment) -> ClientEnvironment:
        """The place with its checkout's root, remote and project, and with what is said there of how far memory takes
        part; as it was where there is no such folder here."""
        if place.directory is None:
            return place
        marked = self._markers.of(place.directory)
        found = self._located(place, place.directory)
        return replace(
            found,
            mode=marked.mode,
            why=marked.why,
            project=marked.project or found.project,
            unread=marked.unread,
        )

    def shared_with(self, project: str) -> tuple[str, ...]:
        """The other projects whose folders say that they are shared with one, and are trusted to."""
        return self._markers.shared_with(project)

    def _located(self, place: ClientEnvironment, directory: str) -> ClientEnvironment:
        if directory not in self._found:
            self._found.put(directory, self._look(directory))
        found = self._found[directory]
        if found is None or found.directory is None:
            return place
        remote = found.remote or place.remote
        name = self._names.get(found.directory) or self._name(found.directory, replace(found, remote=remote))
        return replace(place, directory=found.directory, remote=remote, project=name, checkout=found.checkout)

    def _name(self, root: str, place: ClientEnvironment) -> str | None:
        """Give a project its name, for good."""
        name = project_of(place)
        if name is None or any(redact(text).count for text in (name, root)):
            return name  # a secret is kept in no file: the name is found again in the same way
        if len(self._names) < _MOST_NAMES:
            self._names[root] = name
            if self._file is not None:
                # A name that could not be kept is found again in the same way, most times.
                with contextlib.suppress(OSError):
                    text = msgspec.json.format(msgspec.json.encode(self._names), indent=2)
                    new = self._file.with_suffix(".new")
                    with open(new, "wb", opener=_for_its_owner) as stream:
                        stream.write(text + b"\n")
                    new.replace(self._file)
        return name

    def _look(self, directory: str) -> ClientEnvironment | None:
        at = Path(directory)
        with contextlib.suppress(OSError, ValueError):
            if at.is_absolute() and at.is_dir():
                for folder in (at, *at.parents)[:_DEEPEST]:
                    git = _git_folder(folder / ".git")
                    # Dotfiles kept in a repository of the home folder do not make one project of all below it.
                    if git is not None and (folder != self._home or at == self._home):
                        return ClientEnvironment(str(_root(folder, git)), _origin(git / "config"), checkout=str(folder))
                return ClientEnvironment(directory)
        return None


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read_names(file: Path | None) -> dict[str, str]:
    if file is None:
        return {}
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    return {}


def _git_folder(dot_git: Path) -> Path | None:
    """The repository's own folder: ``.git``, or for a worktree the one that its ``.git`` file leads to."""
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    target = _text(dot_git).partition("gitdir:")[2].strip()
    if not target:
        return None
    own = (dot_git.parent / target).resolve()
    common = own / "commondir"
    return (own / _text(common).strip()).resolve() if common.is_file() else own


def _root(folder: Path, git: Path) -> Path:
    """A worktree belongs to the checkout beside whose ``.git`` it is kept."""
    return git.parent if git.name == ".git" else folder


def _origin(config: Path) -> str | None:
    """The URL of ``origin``, else of the first remote."""
    if not config.is_file():
        return None
    urls: dict[str, str] = {}
    remote = ""
    for line in _text(config).splitlines():
        words = line.strip()
        if words.startswith("["):
            remote = words[len('[remote "') : -2] if words.startswith('[remote "') and words.endswith('"]') else ""
        elif remote and "=" in words:
            name, _, value = words.partition("=")
            if name.strip().lower() == "url":
                urls.setdefault(remote, value.strip().strip('"'))
    return urls.get("origin") or next(iter(urls.values()), None)


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_LARGEST_CONFIG).decode("utf-8", "replace")
