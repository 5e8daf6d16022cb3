"""The files of one page: a file for each stream, made from memory, and MEMORY.md, which holds a person's own words.

A person may edit all of them. Beside them lies what is known of the lines that were written last (ids and marks, no
text), so that an edit can be told from what was there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

from memory.context.page import Item, heading
from memory.context.page_diff import edited, mark_of
from memory.fact import Stream

NOTE: Final = "<!-- made from memory: change, add or delete lines, and memory follows -->"
OWN: Final = "MEMORY.md"
_GENERATED_INDEX: Final = ".made.json"
_GENERATED_BLOCK = re.compile(r"<!-- palimpsest: what follows is made.*?(?:<!-- palimpsest: end -->\n?|\Z)", re.DOTALL)
"""The part of MEMORY.md that earlier versions made from memory."""

GeneratedFiles = Mapping[Stream, Sequence[tuple[str, str]]]
"""By stream the ids and marks of the lines that were written last."""


@dataclass(frozen=True, slots=True)
class FolderContents:
    """What lies in a folder. ``streams`` are the files that there are; ``made`` is what was written into them."""

    own: str = ""
    streams: Mapping[Stream, str] = field(default_factory=dict)
    made: GeneratedFiles = field(default_factory=dict)


class PageFolder:
    """The folder of one user and project. ``device`` names this machine: the stream *flow* is one's habits on it."""

    def __init__(self, path: Path, device: str) -> None:
        self.path = path
        self._device = re.sub(r"[^A-Za-z0-9_-]+", "-", device).strip("-")[:40] or "here"
        self._files = (str(self.own), *[str(self.file(stream)) for stream in Stream])

    @property
    def own(self) -> Path:
        """The file with a person's own words."""
        return self.path / OWN

    def file(self, stream: Stream) -> Path:
        """The file of a stream."""
        return self.path / (f"flow.{self._device}.md" if stream is Stream.FLOW else f"{stream.value}.md")

    def state(self) -> tuple[tuple[int, int], ...]:
        """What changes when somebody writes one of the files: when each was written last, and its size."""
        return tuple([_state(file) for file in self._files])

    def in_the_way(self) -> list[Path]:
        """Folders that lie where a file of the page would. While there are any, the page is not to be written."""
        return [file for file in (self.own, *map(self.file, Stream), self.path / _GENERATED_INDEX) if file.is_dir()]

    def read(self) -> FolderContents:
        """What lies there now."""
        marks = read(self.path / _GENERATED_INDEX)
        try:
            known = orjson.loads(marks) if marks else {}
            generated = {
                stream: [(str(id), str(mark)) for id, mark in known.get(stream.value, [])] for stream in Stream
            }
        except (orjson.JSONDecodeError, ValueError, TypeError, AttributeError):
            generated = {}
        files = {stream: self.file(stream) for stream in Stream}
        texts = {stream: read(file) for stream, file in files.items() if file.is_file()}
        return FolderContents(_GENERATED_BLOCK.sub("", read(self.own)).strip(), texts, generated)

    def write(self, own: str, streams: Mapping[Stream, Sequence[Item]]) -> None:
        """Make the files say this; a stream without lines has none. Each is replaced in one step."""
        self.write_own(own)
        for stream in Stream:
            items = streams.get(stream, ())
            file = self.file(stream)
            if items:
                replace_file(file, "\n".join([heading(stream)[1:], NOTE, *(item.line for item in items)]) + "\n")
            else:
                file.unlink(missing_ok=True)
        generated = {
            stream.value: [[item.id, mark_of(item.line)] for item in items]
            for stream, items in streams.items()
            if items
        }
        if generated or (self.path / _GENERATED_INDEX).exists():
            replace_file(self.path / _GENERATED_INDEX, orjson.dumps(generated).decode())

    def write_own(self, own: str) -> None:
        """Replace a person's own words."""
        if own or self.own.exists():
            replace_file(self.own, f"{own}\n" if own else "")

    def save_copy(self, stream: Stream, text: str) -> None:
        """Keep what a file said, where it is made anew though somebody has changed it."""
        replace_file(self.file(stream).with_suffix(".md.kept"), text)

    def put(self, stream: Stream, text: str) -> None:
        """Write a stream's file as a person would."""
        replace_file(self.file(stream), text)

    def unmake(self) -> None:
        """Take out what was made, and what was kept beside it; what a person has written into it and memory has not
        seen yet is kept as text: where it stands, if a folder is in the way of moving it."""
        blocked = self.in_the_way()
        for copy in self.path.glob("*.kept"):
            copy.unlink(missing_ok=True)
        content = self.read()
        unseen = []
        for stream, text in content.streams.items():
            changes = edited(content.made.get(stream, ()), text, {})
            new = [line.text for line in changes.added] + [odd.text for odd in changes.odd]
            if blocked:
                replace_file(self.file(stream), "".join(f"{line}\n" for line in new))
            unseen += new
        if blocked:
            if (self.path / _GENERATED_INDEX).is_file():
                replace_file(self.path / _GENERATED_INDEX, "{}")
            return
        self.write("\n".join([content.own, *unseen]).strip() if unseen else content.own, {})
        if not self.own.exists() or not read(self.own):
            self.own.unlink(missing_ok=True)


class NoPageFolder(PageFolder):
    """In the place of a folder where there is to be none: nothing lies there, and nothing is written."""

    def state(self) -> tuple[tuple[int, int], ...]:
        """See :class:`PageFolder`."""
        return ()

    def in_the_way(self) -> list[Path]:
        """See :class:`PageFolder`."""
        return []

    def read(self) -> FolderContents:
        """See :class:`PageFolder`."""
        return FolderContents()

    def write(self, own: str, streams: Mapping[Stream, Sequence[Item]]) -> None:
        """See :class:`PageFolder`."""


def read(file: Path) -> str:
    """A file's text, empty where there is none, or a folder in its place; what is no text is replaced by a mark, and
    the mark that some editors put before a text is no part of it."""
    try:
        return file.read_text(encoding="utf-8-sig", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return ""


def replace_file(file: Path, text: str) -> None:
    """Replace a file in one step, so that a reader never sees half of it; one that says so already stays."""
    if file.exists() and read(file) == text:
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(beside, file)


def _state(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return 0, -1
    return found.st_mtime_ns, found.st_size
