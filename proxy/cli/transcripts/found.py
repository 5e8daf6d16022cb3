"""Which files there are to import below some paths, and what each of them is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from proxy.cli.transcripts import chats, claude_code, codex, opencode
from proxy.cli.transcripts.transcript import Problem, objects, text_of, time_of


class ImportSourceKind(StrEnum):
    """Whose files they are: an agent runtime's sessions, a person's notes for agents, our own export, the export of a
    chat site, or any Markdown (``notes``, only where it is asked for)."""

    CLAUDE = "claude"
    CODEX = "codex"
    OPENCODE = "opencode"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    CHATGPT = "chatgpt"
    CLAUDE_AI = "claude-ai"
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file (or opencode's folder) to import. ``began`` is when what is in it began, ISO 8601; ``size`` in bytes."""

    file: Path
    kind: ImportSourceKind
    began: str
    size: int


NOTES = frozenset(
    ("claude.md", "claude.local.md", "agents.md", "agents.override.md", "memory.md", "gemini.md", "qwen.md")
)
"""How files of notes for agents are called, in lower case."""

_CHATS = (ImportSourceKind.CHATGPT, ImportSourceKind.CLAUDE_AI)
_PASSED_OVER = frozenset(("node_modules", "site-packages", "__pycache__", "venv", "vendor"))
_SUFFIXES = frozenset((".jsonl", ".ndjson", ".md", ".markdown", ".db", ".sqlite", ".zip"))
_HEAD = 50
"""Lines after which a file is of no kind that we know."""


def places(kind: ImportSourceKind | None) -> list[Path]:
    """Where runtimes keep their sessions and a person's notes, those that are there."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    own = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    known = {
        ImportSourceKind.CLAUDE: [claude / "projects"],
        ImportSourceKind.CODEX: [own / "sessions", own / "archived_sessions"],
        ImportSourceKind.OPENCODE: [data / "opencode"],
        ImportSourceKind.MARKDOWN: [
            claude / "CLAUDE.md",
            own / "AGENTS.md",
            home / ".config" / "opencode" / "AGENTS.md",
        ],
    }
    kinds = list(known) if kind is None else [kind]
    return [path for each in kinds for path in known.get(each, ()) if path.exists()]


def sources(paths: Iterable[Path], kind: ImportSourceKind | None, problem: Problem) -> list[ImportSource]:
    """What there is to import, the oldest first, so that what was said later takes its place."""
    found: dict[Path, ImportSource] = {}
    for path in paths:
        named = not path.is_dir()
        for file in _files(path):
            any_markdown = kind is ImportSourceKind.NOTES and _is_markdown(file)
            each = kind if any_markdown or (kind is not None and named) else kind_of(file, named)
            if each is None:
                if named:
                    wrong = chats.what_is_wrong(file)
                    problem(file, 0, wrong or "it is no file of a kind that we know: say which with --kind")
                continue
            if kind in _CHATS and each is kind and (other := kind_of(file, named)) not in (kind, None):
                problem(file, 0, f"it is an export of another site: say --kind {other}")
                continue
            if kind is None or each is kind:
                found.setdefault(file.resolve(), ImportSource(file, each, _start_of_file(file, each), _size(file)))
    return sorted(found.values(), key=lambda each: (each.began, str(each.file)))


def kind_of(file: Path, named: bool) -> ImportSourceKind | None:
    """What a file is, by its name and how it begins. ``named``: a person has named this very file."""
    if file.is_dir() or file.suffix in (".db", ".sqlite"):
        return ImportSourceKind.OPENCODE if opencode.looks_so(file) else None
    if file.suffix.lower() in (".zip", ".json"):
        return {chats.CHATGPT: ImportSourceKind.CHATGPT, chats.CLAUDE_AI: ImportSourceKind.CLAUDE_AI}.get(
            chats.site_of(file) or ""
        )
    if _is_markdown(file):
        auto = file.parent.name == "memory" and file.absolute().parent.parent.parent.name == "projects"
        return ImportSourceKind.MARKDOWN if named or auto or file.name.lower() in NOTES else None
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        for line in _head(file):
            if line.get("sort") in ("palimpsest", "fact", "passage"):
                return ImportSourceKind.JSONL
            if codex.looks_so(line):
                return ImportSourceKind.CODEX
            if claude_code.looks_so(line):
                return ImportSourceKind.CLAUDE
    return None


def directory_of(file: Path) -> Path | None:
    """The folder whose project a file of notes is about; None where they are for all projects.

    Raises:
        ValueError: when it cannot be told.
    """
    file = file.resolve()
    folder = file.parent
    if folder.name == "memory" and folder.parent.parent.name == "projects":
        # Claude Code's own notes about a project, whose folder the session files beside them name.
        for session in sorted(folder.parent.glob("*.jsonl")):
            for line in _head(session):
                if cwd := text_of(line.get("cwd")):
                    return Path(cwd)
        raise ValueError("which project it is about cannot be told: say --project")
    home = Path.home().resolve()
    if folder == home or (home in folder.parents and folder.relative_to(home).parts[0].startswith(".")):
        return None
    return folder


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir() or opencode.looks_so(path):
        yield path
        return
    for folder, names, files in os.walk(path):
        here = Path(folder)
        if opencode.looks_so(here):
            names.clear()
            yield here
            continue
        names[:] = sorted(name for name in names if name not in _PASSED_OVER and name not in (".git", ".palimpsest"))
        for name in sorted(files):
            if Path(name).suffix.lower() in _SUFFIXES or name.lower().startswith("conversations"):
                yield here / name


def _is_markdown(file: Path) -> bool:
    return file.suffix.lower() in (".md", ".markdown") and not file.is_dir()


def _head(file: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from (line for _, line in islice(objects(file, lambda *_: None), _HEAD))
    except OSError:
        return


def _start_of_file(file: Path, kind: ImportSourceKind) -> str:
    """When what is in a file began."""
    if kind in (ImportSourceKind.CLAUDE, ImportSourceKind.CODEX):
        for line in _head(file):
            payload = line.get("payload")
            time = time_of(line.get("timestamp")) or (
                time_of(payload.get("timestamp")) if isinstance(payload, dict) else None
            )
            if time:
                return time
    try:
        return time_of(file.stat().st_mtime * 1000) or ""
    except OSError:
        return ""


def _size(file: Path) -> int:
    try:
        return max(file.stat().st_size, 1)
    except OSError:
        return 1
