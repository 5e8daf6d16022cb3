"""Look at the files that research read, inside the folders that the settings allow and nowhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory.context.prior_findings import ChangedFiles
from memory.research import Research, ResearchSource, SourceKind

LARGEST = 4 * 2**20
"""Bytes of a file that is looked into."""

MOST = 60
"""Files that are looked at of one research."""

AT_ONCE, BYTES_AT_ONCE = 2_000, 256 * 2**20
"""Files, and bytes of them, that are looked into for one question that is about much research."""

_GONE = "gone"


@dataclass(slots=True)
class Look:
    """One look at the files of much research: each file once, and no more of them than there is room for."""

    files: int = AT_ONCE
    bytes: int = BYTES_AT_ONCE
    marks: dict[Path, str] = field(default_factory=dict)
    missed: int = 0
    """Files that there was no room for."""


class AllowedFolders:
    """The folders in which may be looked; none by default."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = tuple(Path(each).expanduser().resolve() for each in allowed)

    @property
    def any(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._allowed)

    def marked(self, sources: Sequence[ResearchSource], directory: str) -> tuple[ResearchSource, ...]:
        """The sources, the files among them with a hash of what they hold now. Blocks; for a thread."""
        looked = 0
        found = []
        for source in sources:
            if source.kind is SourceKind.FILE and not source.mark and looked < MOST and self.any:
                looked += 1
                mark = self._content_hash(source.name, directory)
                source = replace(source, mark=mark) if mark and mark != _GONE else source
            found.append(source)
        return tuple(found)

    def changed(self, research: Research, look: Look | None = None) -> ChangedFiles:
        """Which of the files that a research read hold something else now, as far as the ``look`` has room for them.
        Blocks; for a thread."""
        marked = [source for source in research.sources if source.mark][:MOST] if self.any else []
        now = {source: self._content_hash(source.name, research.directory, look) for source in marked}
        return ChangedFiles(tuple(source.name for source in marked if now[source] and now[source] != source.mark))

    def commit(self, directory: str) -> str:
        """The commit that a checkout stands at, read from its files; empty where none can be read."""
        start = self._resolved_inside(directory, "") if directory else None
        for folder in (start, *start.parents) if start is not None else ():
            git = folder / ".git"
            if not self._inside(folder):
                break
            try:
                if git.is_dir():
                    return _head(git)
            except (OSError, ValueError):
                break
        return ""

    def _content_hash(self, name: str, directory: str, look: Look | None = None) -> str:
        """A hash of a file's content; empty where it may not be looked at, ``gone`` where it is not there."""
        path = self._resolved_inside(name, directory)
        if path is None or look is None:
            return _marked(path) if path is not None else ""
        if path not in look.marks:
            try:
                size = path.stat().st_size
            except OSError:
                size = 0
            if not look.files or size > look.bytes:
                look.missed += 1
                return ""
            look.files -= 1
            look.bytes -= min(size, LARGEST)
            look.marks[path] = _marked(path)
        return look.marks[path]

    def _resolved_inside(self, name: str, directory: str) -> Path | None:
        """The place of a file, whatever links lead to it; None where that is outside."""
        if "\0" in name or len(name) > 1000:
            return None
        try:
            path = (Path(directory) / name).expanduser().resolve() if directory else Path(name).expanduser().resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return path if path.is_absolute() and self._inside(path) else None

    def _inside(self, path: Path) -> bool:
        return any(path == allowed or allowed in path.parents for allowed in self._allowed)


def _marked(path: Path) -> str:
    try:
        if not path.exists():
            return _GONE
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""


def _head(git: Path) -> str:
    head = (git / "HEAD").read_text(encoding="utf-8")[:400].strip()
    if not head.startswith("ref: "):
        return head if len(head) == 40 else ""
    name = head.removeprefix("ref: ")
    if ".." in name:
        return ""
    loose = git / name
    if loose.is_file():
        return loose.read_text(encoding="utf-8").strip()[:40]
    packed = git / "packed-refs"
    lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
