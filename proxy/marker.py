"""``.palimpsest.toml``: how far memory takes part in a folder and below it, which files it never reads there, as part
of which project, and with which others that project is shared, said in the folder itself.

Such a file comes along with any repository that is cloned. So by itself it can only make memory do less. A project that
it names would have that project's memories given to whoever wrote the folder's files, and what it shares would be told
in others: both count once the person has said so, for this file and these names. One that cannot be understood switches
memory off: whoever wrote it wanted less than usual.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final

import msgspec

from memory.lru import LruDict
from memory.session import Mode
from memory.unread_files import LARGEST_MARKER, MARKER, NO_FILES, UnreadFiles, below, checked_globs

NAME: Final = MARKER
DEEPEST: Final = 40
LARGEST: Final = LARGEST_MARKER
KEPT: Final = 256
LONGEST_NAME: Final = 200
MOST_SHARED: Final = 20
"""Projects at most that one file shares its own with."""
TRUSTED: Final = "trusted.json"
"""What the person trusts, in the data folder."""


@dataclass(frozen=True, slots=True)
class Marked:
    """What files on the way to a folder allow, and why it is less than all; the project that the nearest trusted one
    names; the files that any of them says are never read. ``shared_with`` are the projects that one file shares the
    project with that it names."""

    mode: Mode = Mode.ON
    why: str = ""
    project: str | None = None
    unread: UnreadFiles = NO_FILES
    shared_with: tuple[str, ...] = ()


class TrustedNames(msgspec.Struct, frozen=True):
    """The names that one file may say: its project, and those that it is shared with."""

    project: str
    shared_with: tuple[str, ...] = ()


Trusted = dict[str, str | TrustedNames]
"""By file what the person trusts; a name alone is that of its project."""


class TrustedProjects:
    """By file the names that the person lets it say, in a file of the data folder."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, TrustedNames] = {}

    def named(self) -> Mapping[str, TrustedNames]:
        """All of them, as the file stands; those from before where it is damaged."""
        if self._file is None:
            return {}
        try:
            told = self._file.stat()
            stamp = (told.st_mtime_ns, told.st_size)
            if stamp != self._stamp:
                known = msgspec.json.decode(self._file.read_bytes(), type=Trusted)
                self._known = {
                    file: TrustedNames(names) if isinstance(names, str) else names for file, names in known.items()
                }
                self._stamp = stamp
        except FileNotFoundError:
            self._known, self._stamp = {}, None
        except (OSError, msgspec.DecodeError):
            pass
        return self._known

    def to_change(self) -> Trusted:
        """All of them, to be written with a change.

        Raises:
            OSError: when the file cannot be read.
            msgspec.DecodeError: when it is damaged: what it held would be lost.
        """
        assert self._file is not None
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Trusted)
        except FileNotFoundError:
            return {}

    def write(self, names: Mapping[str, str | TrustedNames]) -> None:
        """Put others in their place.

        Raises:
            OSError: when the file cannot be written.
        """
        assert self._file is not None
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        with suppress(FileNotFoundError):
            new.unlink()  # one that was left over may be open to others
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(dict(names)), indent=2) + b"\n")
        new.replace(self._file)


def key_of(file: Path) -> str:
    """The name by which a file is trusted: where its folder really lies, by whatever way it was reached. A link in the
    place of the file itself stays one: it is trusted where it lies."""
    return os.path.join(_real(str(file.parent)), file.name)


def _real(folder: str) -> str:
    try:
        return os.path.realpath(folder)
    except (OSError, ValueError):
        return os.path.normpath(folder)  # what is no path leads nowhere


class Markers:
    """Reads those files; one that was read is not read again until it changes."""

    def __init__(self, trusted: TrustedProjects | None = None) -> None:
        self._trusted = trusted or TrustedProjects(None)
        self._read: LruDict[str, tuple[tuple[int, int], Marked]] = LruDict(KEPT)

    def of(self, directory: str | None) -> Marked:
        """What holds in a folder of this machine: the strictest of what is said in it and above it, on the way by
        which it was reached and where it really lies."""
        if directory is None or not os.path.isabs(directory):
            return Marked()
        ways = dict.fromkeys((Path(os.path.normpath(directory)), Path(_real(directory))))
        files = [each / NAME for folder in ways for each in (folder, *folder.parents)[:DEEPEST]]
        found = [self.file(each) for each in files]
        strictest = min(found, key=lambda each: _ORDER.index(each.mode), default=Marked())
        named = [(key_of(file), each.project) for file, each in zip(files, found, strict=True) if each.project]
        trusted = self._trusted.named() if named else {}
        project = next((name for file, name in named if file in trusted and trusted[file].project == name), None)
        unread = reduce(or_, (each.unread for each in found), NO_FILES)
        return replace(strictest, project=project, unread=unread, shared_with=())

    def shared_with(self, project: str) -> tuple[str, ...]:
        """The other projects that are shared with one, as their files say now and the person trusts them to."""
        sharing = []
        for file, names in self._trusted.named().items():
            if project in names.shared_with:
                found = self.file(Path(file))
                # What is switched off further up is switched off here, too.
                allowed = self.of(str(Path(file).parent)).mode is not Mode.OFF
                if allowed and found.project == names.project and project in found.shared_with:
                    sharing.append(names.project)
        return tuple(name for name in dict.fromkeys(sharing) if name != project)

    def file(self, file: Path) -> Marked:
        """What one file says; a project that it names, whether it is trusted or not."""
        try:
            told = file.stat()
        except FileNotFoundError:
            return Marked()
        except (OSError, ValueError):
            # A folder that cannot be looked into is none of ours; a link in a circle says nothing.
            return Marked()
        if not stat.S_ISREG(told.st_mode):
            # What a clone brings may be a link to a device or a pipe, which would be waited for.
            return Marked(Mode.OFF, f"{NAME} is no file")
        stamp = (told.st_mtime_ns, told.st_size)
        known = self._read.get(str(file))
        if known is None or known[0] != stamp:
            known = self._read.put(str(file), (stamp, _marked(file)))
        return known[1]


_ORDER: Final = (Mode.OFF, Mode.READ_ONLY, Mode.ON)


def _marked(file: Path) -> Marked:
    try:
        with file.open("rb") as opened:
            text = opened.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"it has more than {LARGEST // 1024} KiB")
        said = tomllib.loads(text.decode())
        unknown = sorted(said.keys() - {"memory", "project", "shared_with", "never_read"})
        if unknown:
            raise ValueError(f"there is no {unknown[0]!r} in it, only memory, project, shared_with and never_read")
        unread = below(str(file.parent), checked_globs(said.get("never_read", [])))
        mode = Mode(said.get("memory", Mode.ON))
        project = said.get("project")
        if project is not None and not _is_name(project):
            raise ValueError(f"a project's name has 1 to {LONGEST_NAME} printable characters")
        shared_with = _shared_with(said.get("shared_with", []))
        if shared_with and project is None:
            raise ValueError("shared_with needs project, which says what is shared")
    except (OSError, ValueError, RecursionError) as error:
        told = " ".join(str(error).split()).encode("ascii", "replace").decode()[:120]
        return Marked(Mode.OFF, f"{NAME} cannot be understood: {told}")
    return Marked(mode, "" if mode is Mode.ON else f"{NAME} says {mode}", project, unread, shared_with)


def _shared_with(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(map(_is_name, value)):
        raise ValueError("shared_with is a list of the names of projects")
    if len(value) > MOST_SHARED:
        raise ValueError(f"shared_with names more than {MOST_SHARED} projects")
    return tuple(dict.fromkeys(value))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable() and value == value.strip()
