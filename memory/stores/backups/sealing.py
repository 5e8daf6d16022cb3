"""A backup in one sealed file, and out of it again."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, cast

from memory.stores.backups.backup import NoBackup, begin, make_below, name_at, take
from memory.stores.backups.copying import flush
from memory.stores.sealed import SUFFIX, Sealed, Unsealer, is_sealed, sealing

_SCRATCH: Final = ".sealing-"
_UNFINISHED: Final = ".unfinished-"


def take_sealed(home: Path, place: Path, at: datetime, reason: str, keys: bool, passphrase: str) -> Path:
    """Make a backup of a home folder, whoever has it open, in a new sealed file below ``place``; that file. What is not
    sealed yet lies in the home folder, where the same lies anyway.

    Raises:
        Sealed: when it cannot be sealed.
        OSError, sqlite3.Error: as :func:`take`.
    """
    begin(place).rmdir()  # the folder is there, and can be written
    with TemporaryDirectory(prefix=_SCRATCH, dir=home) as scratch:
        made = take(home, Path(scratch), at, reason, keys)
        beside = place / f"{_UNFINISHED}{os.getpid()}{SUFFIX}"
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                with sealing(stream, passphrase) as sealer, _tar(sealer, "w|") as tar:
                    for file in sorted(file for file in made.rglob("*") if file.is_file()):
                        tar.add(file, file.relative_to(made).as_posix(), filter=_nobodys)
                stream.flush()
                os.fsync(stream.fileno())
            named = place / f"{name_at(place, at)}{SUFFIX}"
            os.link(beside, named)  # never over another one, as a rename would
            flush(place)
            return named
        finally:
            beside.unlink(missing_ok=True)


def unseal(file: Path, into: Path, passphrase: str) -> Path:
    """Take a backup out of its file; the folder, below ``into``.

    Raises:
        Sealed: when the passphrase is another one, or the file was changed.
        NoBackup: when something else is in it.
    """
    folder = into / "backup"
    folder.mkdir(mode=0o700)
    try:
        with file.open("rb") as stream:
            unsealer = Unsealer(stream, passphrase)
            with _tar(unsealer, "r|") as tar:
                for member in tar:
                    _extract_file(tar, member, folder)
            while unsealer.read(2**20):
                pass  # to its end, which says that nothing was cut off
    except tarfile.TarError as error:
        raise NoBackup(f"{file} holds no backup: {error}") from None
    return folder


def sealed_in(place: Path) -> Iterator[Path]:
    """The sealed backups in a folder, the oldest first by their names."""
    for file in sorted(place.glob(f"backup-*{SUFFIX}")):
        with file.open("rb") as stream:
            if is_sealed(stream.read(64)):
                yield file


def _extract_file(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """One file; a backup has no links, and none that lies elsewhere."""
    path = PurePosixPath(member.name)
    if not member.isreg() or path.is_absolute() or ".." in path.parts:
        raise NoBackup(f"it holds what no backup does: {member.name!r}")
    make_below(folder, Path(path.parent))
    source = tar.extractfile(member)
    assert source is not None
    descriptor = os.open(folder / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        shutil.copyfileobj(source, target)


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _tar(stream: object, mode: str) -> tarfile.TarFile:
    return cast(tarfile.TarFile, tarfile.open(fileobj=stream, mode=mode))  # type: ignore[call-overload]


__all__ = ["Sealed", "sealed_in", "take_sealed", "unseal"]
