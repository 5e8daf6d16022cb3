"""Files that memory never reads, named by globs as in a ``.gitignore``.

A glob with a slash in its middle or at its beginning begins at the folder in which it was said, any other holds at
every depth below that. ``*`` and ``?`` stay within a name, ``**`` does not; a folder's name is all that lies in it.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MARKER: Final = ".palimpsest.toml"
"""The file of a folder in which they are named, as ``never_read``."""

LARGEST_MARKER: Final = 64 * 1024
"""Its bytes at most."""

MOST: Final = 100
"""Globs of one folder at most."""

LONGEST: Final = 200
"""Characters of one at most."""


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """Globs, each with the folder in which it was said."""

    globs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.globs)

    def __or__(self, other: UnreadFiles) -> UnreadFiles:
        return UnreadFiles(tuple(dict.fromkeys((*self.globs, *other.globs))))

    def matches(self, path: str) -> bool:
        """Whether a path is one of them, or lies in one. Of a relative one it is not known what it is relative to (the
        agent may have gone elsewhere): it is one if it could be."""
        plain = posixpath.normpath(path.strip().removeprefix("file://").replace("\\", "/")).casefold()
        absolute = plain.startswith("/") or _DRIVE.match(plain) is not None
        for folder, glob in self.globs:
            begin = folder.casefold() + "/"
            if not absolute:
                found = _lies_in(tuple(plain.split("/")), ("**", *_names(glob)))
            else:
                found = plain.startswith(begin) and _lies_in(tuple(plain[len(begin) :].split("/")), _names(glob))
            if found:
                return True
        return False


NO_FILES: Final = UnreadFiles()


def checked_globs(value: object) -> tuple[str, ...]:
    """The globs of ``never_read``.

    Raises:
        ValueError: when it is no list of them.
    """
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f"never_read is a list of at most {MOST} globs")
    for glob in value:
        if not isinstance(glob, str) or not 0 < len(glob) <= LONGEST or not glob.isprintable() or not glob.strip("/ "):
            raise ValueError(f"never_read has globs of 1 to {LONGEST} printable characters")
        if glob.startswith("!"):
            raise ValueError("never_read takes nothing back: no glob begins with !")
        if ".." in glob.split("/"):
            raise ValueError("never_read is about what lies in its folder: no glob has ..")
    return tuple(value)


def below(folder: str, globs: Sequence[str]) -> UnreadFiles:
    """The globs that were said in a folder."""
    return UnreadFiles(tuple((folder.replace("\\", "/").rstrip("/"), glob) for glob in globs))


_DRIVE: Final = re.compile(r"[a-z]:/")


@lru_cache(maxsize=1024)
def _names(glob: str) -> tuple[str, ...]:
    """A glob name by name, from its folder on. Letters count as the same in either case, as some file systems have
    it."""
    names = tuple(name for name in glob.casefold().split("/") if name)
    return names if "/" in glob.rstrip("/") else ("**", *names)


def _lies_in(path: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a path begins with these names."""
    # After each name: at which places in the path the next one may stand.
    places = {0}
    for name in names:
        if name == "**":
            places = set(range(min(places), len(path) + 1))
        else:
            places = {at + 1 for at in places if at < len(path) and _pattern(name).match(path[at])}
        if not places:
            return False
    return True


@lru_cache(maxsize=1024)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(name))
