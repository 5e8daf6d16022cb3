"""Files that outlive us, in folders that a person has named: read, and replaced in one step.

Every step below the folder is taken without following a link, so that nothing outside it is read or written; a file
that is no text, or that has changed since it was looked at, is left as it is.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from memory.ports import PublishFailed
from memory.private_files import share, share_folder

LARGEST = 2**20
"""Bytes of a file that is read."""
_HERE = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class PublishedFolders:
    """See :class:`memory.ports.LastingFiles`."""

    async def read(self, folder: Path, name: str) -> str | None:
        return await asyncio.to_thread(_read, folder, name)

    async def replace(self, folder: Path, name: str, before: str | None, after: str | None) -> None:
        await asyncio.to_thread(_replace, folder, name, before, after)


def _read(folder: Path, name: str) -> str | None:
    with _open_parent(folder, name, make=False) as place:
        return None if place is None else _text(*place, folder / name)


def _replace(folder: Path, name: str, before: str | None, after: str | None) -> None:
    with _open_parent(folder, name, make=after is not None) as place:
        if place is None:
            return
        at, last = place
        file = folder / name
        if _text(at, last, file) != before:
            raise PublishFailed(f"{file} has changed meanwhile: look at it again")
        if after is None:
            with suppress(FileNotFoundError):
                os.unlink(last, dir_fd=at)
        else:
            _put(at, last, after.encode(), file)
    if after is None:
        _remove_empty_folder(folder, name)


@contextmanager
def _open_parent(folder: Path, name: str, make: bool) -> Iterator[tuple[int, str] | None]:
    """The folder that a file lies in, open, and the file's own name; None where that folder is missing."""
    if os.open not in os.supports_dir_fd:
        raise PublishFailed("files in projects cannot be written safely on this system")
    steps = PurePosixPath(name).parts
    if not steps or PurePosixPath(name).is_absolute() or ".." in steps or "\0" in name:
        raise PublishFailed(f"{name!r} is no name of a file inside a folder")
    try:
        at = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError as error:
        raise PublishFailed(f"{folder} cannot be opened: {error.strerror}") from error
    try:
        for step in steps[:-1]:
            try:
                made = make and _make_folder(step, at)
                below = os.open(step, os.O_RDONLY | _HERE, dir_fd=at)
                if made:
                    share_folder(below)
            except FileNotFoundError:
                yield None
                return
            except OSError as error:
                raise PublishFailed(f"{step} in {folder} is no folder, or a link: {error.strerror}") from error
            os.close(at)
            at = below
        yield at, steps[-1]
    finally:
        os.close(at)


def _make_folder(step: str, at: int) -> bool:
    """Whether a folder was not there yet, and was made."""
    try:
        os.mkdir(step, 0o755, dir_fd=at)
    except FileExistsError:
        return False
    return True


def _text(at: int, name: str, file: Path) -> str | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PublishFailed(f"{file} is a link, or cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PublishFailed(f"{file} is no file")
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise PublishFailed(f"{file} has more than {LARGEST} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise PublishFailed(f"{file} is no UTF-8 text") from None


def _put(at: int, name: str, data: bytes, file: Path) -> None:
    try:
        mode: int | None = stat.S_IMODE(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = None
    beside = f".{name}.{secrets.token_hex(4)}"
    try:
        # A new file has the mode that an editor would give it.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=at)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                else:
                    share(descriptor)
                stream.write(data)
                stream.flush()
                os.fsync(descriptor)
            os.rename(beside, name, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=at)
            raise
    except OSError as error:
        raise PublishFailed(f"{file} cannot be written: {error.strerror}") from error


def _remove_empty_folder(folder: Path, name: str) -> None:
    """Remove the folder that a file lay in where it is empty now, but never ``folder`` itself."""
    parent = PurePosixPath(name).parent
    if parent.parts:
        with _open_parent(folder, str(parent), make=False) as place, suppress(OSError):
            if place is not None:
                os.rmdir(place[1], dir_fd=place[0])
