"""Files that memory never reads, named by globs as in a ``.gitignore``.

A glob with a slash in its middle or at its beginning begins at the folder in which it was said, any other holds at
every depth below that. ``*`` and ``?`` stay within a name, ``**`` does not; a folder's name is all that lies in it.
"""

from __future__ import annotations

import fnmatch
import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import orjson

MARKER: Final = ".palimpsest.toml"
"""The file of a folder in which they are named, as ``never_read``."""

LARGEST_MARKER: Final = 64 * 1024
"""Its bytes at most."""

MOST: Final = 100
"""Globs of one folder at most."""

LONGEST: Final = 200
"""Characters of one at most."""

LONGEST_PATH: Final = 4096
"""Characters of a path at most: a longer text names no file."""


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """Globs, each with the folder in which it was said."""

    globs: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.globs)

    def __or__(self, other: UnreadFiles) -> UnreadFiles:
        return UnreadFiles(tuple(dict.fromkeys((*self.globs, *other.globs))))

    @property
    def digest(self) -> bytes:
        """16 bytes that name the globs."""
        return _digest(self)

    def matches(self, path: str) -> bool:
        """Whether a path is one of them, or lies in one. Of a relative one it is not known what it is relative to (the
        agent may have gone elsewhere, also into a folder of the glob): it is one if it could be."""
        if not self.globs or len(path) > LONGEST_PATH:
            return False
        known = _known(self)
        return known.has(path) or ("%" in path and known.has(unquote(path)))


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


@lru_cache(maxsize=256)
def _digest(unread: UnreadFiles) -> bytes:
    return hashlib.blake2b(orjson.dumps(unread.globs), digest_size=16).digest()


@lru_cache(maxsize=64)
def _known(unread: UnreadFiles) -> _KnownGlobs:
    return _KnownGlobs(unread.globs)


class _Glob:
    """One glob, in the forms in which a path is compared with it."""

    def __init__(self, folder: str, glob: str) -> None:
        self.begin = _normalized_name(folder) + "/"
        self.names = _names_of_glob(glob)
        self.last = self.names[-1]
        # A relative path may be told from within a folder of the glob, but not where all that is left names nothing.
        self.suffixes = (("**", *self.names), *(self.names[at:] for at in range(1, len(self.names))))
        self.suffixes = tuple(each for each in self.suffixes if any(name.strip("*?") for name in each)) or (self.names,)

    def has(self, path: str, absolute: bool) -> bool:
        if absolute:
            return path.startswith(self.begin) and _begins_with(path[len(self.begin) :].split("/"), self.names)
        names = path.split("/")
        below = names
        while below[:1] == [".."]:
            below = below[1:]
        return any(_begins_with(names if each[0] == "**" else below, each) for each in self.suffixes)


class _KnownGlobs:
    """All globs together. Most paths have no name that ends one: they are looked at once, not glob by glob."""

    def __init__(self, globs: Sequence[tuple[str, str]]) -> None:
        self._by_name: dict[str, list[_Glob]] = {}
        for folder, glob in globs:
            one = _Glob(folder, glob)
            self._by_name.setdefault(one.last, []).append(one)
        self._wild = [name for name in self._by_name if any(sign in name for sign in "*?[")]
        self._any_wild = re.compile("|".join(fnmatch.translate(name) for name in self._wild) or r"(?!)")
        self._ends = lru_cache(maxsize=1024)(self._matching_ends)

    def has(self, path: str) -> bool:
        plain = _normalized_name(path.strip().removeprefix("file://").replace("\\", "/"))
        absolute = plain.startswith("/") or _DRIVE.match(plain) is not None
        plain = posixpath.normpath("/" + plain.lstrip("/") if plain.startswith("/") else plain)
        ends = {end for name in set(plain.split("/")) for end in self._ends(name)}
        return any(one.has(plain, absolute) for end in ends for one in self._by_name[end])

    def _matching_ends(self, name: str) -> tuple[str, ...]:
        literal = (name,) if name in self._by_name else ()
        if not self._any_wild.match(name):
            return literal
        return (*literal, *(each for each in self._wild if _pattern(each).match(name)))


_DRIVE: Final = re.compile(r"[a-z]:/")


def _normalized_name(text: str) -> str:
    """A text as names are compared: letters count as the same in either case and however their accents are written, as
    some file systems have it."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


@lru_cache(maxsize=1024)
def _names_of_glob(glob: str) -> tuple[str, ...]:
    """A glob name by name, from its folder on. What is all of a folder is the folder."""
    names = [name for name in _normalized_name(glob).split("/") if name]
    if "/" not in glob.rstrip("/"):
        names.insert(0, "**")
    while len(names) > 1 and not names[-1].strip("*") and any(name.strip("*") for name in names[:-1]):
        names.pop()
    return tuple(names)


def _begins_with(path: Sequence[str], names: Sequence[str]) -> bool:
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
