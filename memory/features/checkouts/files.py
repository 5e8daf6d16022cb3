"""Read files of a checkout: inside of it only, by no link, and never what looks like a secret, or what a
``.palimpsest.toml`` says is never read.

Which files there are, ignored ones aside, is for git to say; what is asked for here must be among those.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from memory.unread_files import LARGEST_MARKER, MARKER, NO_FILES, UnreadFiles, below, checked_globs

DEEPEST: Final = 40
"""Folders above a file that are asked whether it is read."""

LARGEST: Final = 512 * 1024
"""Bytes of a file that is read."""

_SECRET: Final = re.compile(
    r"(?i)(?:^|/)(?:\.env(?:[.-][^/]*)?|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfstate|tfvars|env|crt|cer|der)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|\.?(?:netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg|vault[-_]?pass[^/]*)"
    r"|[^/]*(?:secret|credential|passw(?:or)?d|private[-_]?key|token)s?(?:[._-][^/]*)?|(?:\.ssh|\.aws|\.gnupg|\.kube|secrets?)"
    r"/.*|kubeconfig[^/]*|\.git/.*|\.git)$"
)
_CODE: Final = re.compile(
    r"(?i)\.(?:c|cc|cpp|cs|ex|exs|go|h|hpp|java|js|jsx|kt|lua|mjs|php|py|pyi|rb|rs|scala|swift|ts|tsx)$"
)


class FileSignature(NamedTuple):
    """What tells that a file was written again."""

    written: int
    size: int
    node: int


def secret_like(path: str) -> bool:
    """Whether a file's name says that it may hold a secret. Code that deals with such is read: ``tokens.py``."""
    found = _SECRET.search(path)
    if found is None:
        return False
    folder = path.rpartition("/")[0]
    return not (_CODE.search(path) and not (folder and _SECRET.search(folder + "/x")))


def allowed(root: str, folders: Iterable[Path]) -> bool:
    """Whether a checkout may be looked at: it belongs to who runs this, and lies below one of the ``folders`` where
    there are any."""
    below = tuple(folders)
    try:
        real = Path(root).resolve()
        own = real.stat().st_uid == os.geteuid() and str(real) == os.path.normpath(root)
    except (OSError, ValueError, RuntimeError):
        return False
    return own and (not below or any(real == each or each in real.parents for each in below))


class CheckoutFiles:
    """What lies in a checkout. Each folder from its root on is opened by itself and once, so that no link leads out,
    whoever puts one there meanwhile; to be closed soon."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, int] = {}
        self._said: dict[Path, UnreadFiles | None] = {}

    def __enter__(self) -> CheckoutFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._folders.values():
            if folder >= 0:
                os.close(folder)
        self._folders.clear()

    def signature(self, path: str) -> FileSignature | None:
        """A file's signature; None where there is no such file.

        Raises:
            OSError: when it cannot be told whether it is there.
        """
        folder, name = self._place(path)
        if folder < 0:
            return None
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return FileSignature(status.st_mtime_ns, status.st_size, status.st_ino)

    def read(self, path: str) -> bytes | None:
        """A file's content; None where it is none that is read.

        Raises:
            OSError: when it cannot be read.
        """
        folder, name = self._place(path)
        if folder < 0 or secret_like(path) or self._is_unread(path):
            return None
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
        with os.fdopen(opened, "rb") as file:
            status = os.fstat(file.fileno())
            return file.read(LARGEST) if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST else None

    def _is_unread(self, path: str) -> bool:
        """Whether a file in its folder, or above it, says that this one is never read."""
        full = Path(self._root, path)
        for folder in full.parents[:DEEPEST]:
            if folder not in self._said:
                self._said[folder] = unread_below(folder)
            said = self._said[folder]
            if said is None or said.matches(str(full)):
                return True
        return False

    def _place(self, path: str) -> tuple[int, str]:
        """The open folder that a file lies in, and its name; -1 where there is none."""
        folder, _, name = path.rpartition("/")
        return (self._folder(folder), name) if name not in ("", ".", "..") and "\0" not in path else (-1, "")

    def _folder(self, path: str) -> int:
        known = self._folders.get(path)
        if known is None:
            outer, _, name = path.rpartition("/")
            try:
                if not path:
                    known = os.open(self._root, _HOW)
                elif name in ("", ".", "..") or path.startswith("/") or (within := self._folder(outer)) < 0:
                    known = -1
                else:
                    known = os.open(name, _HOW, dir_fd=within)
            except (FileNotFoundError, NotADirectoryError):
                known = -1
            self._folders[path] = known
        return known


def unread_below(folder: Path) -> UnreadFiles | None:
    """What a folder's own file says is never read there; None where it cannot be understood: then nothing is read."""
    try:
        opened = os.open(folder / MARKER, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return NO_FILES
    except OSError:
        return None
    try:
        with os.fdopen(opened, "rb") as file:
            text = file.read(LARGEST_MARKER + 1)
        if len(text) > LARGEST_MARKER:
            return None
        return below(str(folder), checked_globs(tomllib.loads(text.decode()).get("never_read", [])))
    except (OSError, ValueError, RecursionError):
        return None


_HOW: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def read(root: str, path: str) -> bytes | None:
    """A file's content; None where it is none that is read.

    Raises:
        OSError: when it cannot be read.
    """
    with CheckoutFiles(root) as inside:
        return inside.read(path)
