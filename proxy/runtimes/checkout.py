"""The git checkout that a directory on this machine belongs to.

Of all clients only one tells the remote. So that what one client learnt in a project helps the others, and a
session begun in a sub-folder or a worktree is in the same project, the checkout is looked up where it lies: two
small files are read, never a command run. Only for callers on this machine; elsewhere a path means nothing to us.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from proxy.runtimes.place import Place

_DEEPEST = 40
_LARGEST_CONFIG = 256 * 1024


class Checkouts:
    """Looks up checkouts and remembers what it found, so that a project keeps its name while we run."""

    def __init__(self, home: Path | None = None, most: int = 1000) -> None:
        self._home = home if home is not None else Path.home()
        self._most = most
        self._found: OrderedDict[str, Place] = OrderedDict()

    def locate(self, place: Place) -> Place:
        """The place with the checkout's root as its directory, and its remote; as it was where there is none."""
        if place.directory is None:
            return place
        known = self._found.get(place.directory)
        if known is None:
            known = self._look(place.directory)
            self._found[place.directory] = known
            if len(self._found) > self._most:
                self._found.popitem(last=False)
        return replace(place, directory=known.directory, remote=known.remote or place.remote)

    def _look(self, directory: str) -> Place:
        at = Path(directory)
        try:
            if at.is_absolute():
                for folder in (at, *at.parents)[:_DEEPEST]:
                    git = _git_folder(folder / ".git")
                    # Dotfiles kept in a repository of the home folder do not make one project of all below it.
                    if git is not None and (folder != self._home or at == self._home):
                        return Place(str(_root(folder, git)), _origin(git / "config"))
        except (OSError, ValueError):
            pass
        return Place(directory)


def _git_folder(dot_git: Path) -> Path | None:
    """The repository's own folder: ``.git``, or for a worktree the one that its ``.git`` file leads to."""
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    told = _text(dot_git).partition("gitdir:")[2].strip()
    if not told:
        return None
    own = (dot_git.parent / told).resolve()
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
