"""Write a plan into a user's files, keep what was there, and put it back to the byte."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.connect.plan import ConnectPlan, NotEditable

_NEW_FILE_MODE = 0o600
_SECRET = re.compile(r"""(?i)((?:api[_-]?key|token|secret|password)["']?\s*[:=]\s*)["']?[^\s,"'#]+["']?""")


class FileChangedSince(Exception):
    """A file was changed after we wrote it; putting back what was there before would lose that change."""

    def __init__(self, path: Path, backup: Path | None) -> None:
        hint = f"; what was there before is kept in {backup}" if backup else ""
        super().__init__(f"{path} was changed after it was connected{hint}")
        self.path = path
        self.backup = backup


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file as it is and as it shall be; ``before`` is None where there is no file yet, ``after`` where it goes."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        """The difference as a unified diff with secrets masked; empty where nothing changes."""
        before, after = (_lines(content) for content in (self.before, self.after))
        text = "".join(difflib.unified_diff(before, after, f"{self.path}", f"{self.path}", n=1))
        return _SECRET.sub(r"\1***", text)


class _WrittenFile(msgspec.Struct):
    """What we know of a file that we wrote: ``after`` is its hash then, ``mixed`` says that others wrote between."""

    path: str
    existed: bool
    mode: int
    folders: list[str]
    mixed: bool = False
    after: str = ""


def preview(plan: ConnectPlan) -> list[FilePreview]:
    """What carrying out a plan would write.

    Raises:
        NotEditable: with the file's name, and the line where there is one, when it cannot be changed with certainty.
        OSError: when a file cannot be read.
    """
    shown = []
    for change in plan.changes:
        before = _content(change.path)
        try:
            after = change.apply("" if before is None else before.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            raise NotEditable(f"{change.path}: it is not UTF-8 text") from None
        except NotEditable as error:
            place = f"{change.path}:{error.line}" if error.line else f"{change.path}"
            raise NotEditable(f"{place}: {error}", error.line) from None
        shown.append(FilePreview(change.path, before, after))
    return shown


def carry_out(previews: Iterable[FilePreview], originals: Path) -> list[Path]:
    """Write what was shown; what was there before is kept below ``kept``. Returns the files that changed.

    Raises:
        Changed: when a file is no longer as it was shown.
        OSError: when a file cannot be written; files before it are written then.
    """
    written = []
    for shown in previews:
        if shown.after is None or shown.after == shown.before:
            continue
        if _content(shown.path) != shown.before:
            raise FileChangedSince(shown.path, None)
        known = _record(shown.path, originals)
        _save_original(shown, originals)
        try:
            _replace_atomically(shown.path, shown.after, _mode(shown.path))
        except BaseException:
            _take_record_back(shown.path, known, originals)
            raise
        written.append(shown.path)
    return written


def connected_files(originals: Path) -> list[Path]:
    """The files of runtimes that we wrote and that were not put back since."""
    found = []
    for record in sorted(originals.glob("*.json")):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            found.append(Path(msgspec.json.decode(record.read_bytes(), type=_WrittenFile).path))
    return found


def undo_preview(plan: ConnectPlan, originals: Path) -> list[FilePreview]:
    """What undoing a plan would write; files that we did not write are not in it."""
    shown = []
    for path in dict.fromkeys(each for change in plan.changes for each in _written_for(change.path, originals)):
        record = _record(path, originals)
        before = _backup(path, originals).read_bytes() if record is not None and record.existed else None
        shown.append(FilePreview(path, _content(path), before))
    return shown


def _written_for(path: Path, originals: Path) -> list[Path]:
    """The file that a plan names, if we wrote it; else what we wrote in its place when the runtime read another one:
    of its name, with any ending, in its folder or below."""
    if _record(path, originals) is not None:
        return [path]
    return [each for each in connected_files(originals) if each.stem == path.stem and path.parent in each.parents]


def undo(plan: ConnectPlan, originals: Path, force: bool = False) -> list[Path]:
    """Put back what stood in a plan's files before we wrote them. Returns the files that were put back.

    Raises:
        Changed: when a file was changed since, unless ``force``; no file is touched then.
        OSError: when a file cannot be written.
    """
    previews = undo_preview(plan, originals)
    for shown in previews:
        record = _record(shown.path, originals)
        if record is None or force or shown.before in (None, shown.after):
            continue
        if record.mixed or _name(shown.before or b"") != record.after:
            raise FileChangedSince(shown.path, _backup(shown.path, originals) if record.existed else None)
    # What was written last goes first: the folders that it came into are those of a file before it.
    for shown in reversed(previews):
        record = _record(shown.path, originals)
        if shown.after is not None:
            _replace_atomically(shown.path, shown.after, record.mode if record else _mode(shown.path))
        else:
            _link_target(shown.path).unlink(missing_ok=True)
            for folder in record.folders if record else ():
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        _backup(shown.path, originals).unlink(missing_ok=True)
        _record_file(shown.path, originals).unlink()
    return [shown.path for shown in previews]


def _save_original(shown: FilePreview, originals: Path) -> None:
    """Write down what is there. A second connecting keeps what stood there before the first."""
    assert shown.after is not None
    originals.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = _record(shown.path, originals)
    if record is None:
        folders = [str(folder) for folder in _link_target(shown.path).parents if not folder.exists()]
        record = _WrittenFile(str(shown.path), shown.before is not None, _mode(shown.path), folders)
        if shown.before is not None:
            _replace_atomically(_backup(shown.path, originals), shown.before, _NEW_FILE_MODE)
    elif shown.before is not None and _name(shown.before) != record.after:
        # The user's own change stands between the first writing and this one: only they can part the two.
        record.mixed = True
    record.after = _name(shown.after)
    _write_record(shown.path, record, originals)


def _take_record_back(path: Path, known: _WrittenFile | None, originals: Path) -> None:
    """Know of a file what was ``known`` before it could not be written: nobody is connected by it."""
    if known is not None:
        _write_record(path, known, originals)
        return
    made = _record(path, originals)
    for folder in made.folders if made is not None else ():
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    _backup(path, originals).unlink(missing_ok=True)
    _record_file(path, originals).unlink(missing_ok=True)


def _write_record(path: Path, record: _WrittenFile, originals: Path) -> None:
    encoded = msgspec.json.format(msgspec.json.encode(record), indent=1)
    _replace_atomically(_record_file(path, originals), encoded, _NEW_FILE_MODE)


def _record(path: Path, originals: Path) -> _WrittenFile | None:
    try:
        return msgspec.json.decode(_record_file(path, originals).read_bytes(), type=_WrittenFile)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _record_file(path: Path, originals: Path) -> Path:
    return originals / f"{_name(os.fsencode(path))[:16]}.json"


def _backup(path: Path, originals: Path) -> Path:
    return originals / f"{_name(os.fsencode(path))[:16]}.before"


def _name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except (FileNotFoundError, NotADirectoryError):
        return _NEW_FILE_MODE


def _link_target(path: Path) -> Path:
    """The file itself; where it is a link, the one that it leads to, which need not be there yet."""
    return path.resolve() if path.is_symlink() else path


def _replace_atomically(path: Path, content: bytes, mode: int) -> None:
    """Replace a file in one step; where it is a link, the file that it leads to."""
    target = _link_target(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)
