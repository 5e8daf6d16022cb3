"""A folder of Markdown that a person wrote for themselves: each file as a session in which they said what stands there,
piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memory.learning.notes import RUNTIME
from proxy.cli.transcripts.transcript import Problem, Transcript, time_of

PATH = "/v1/chat/completions"

LARGEST = 2 * 2**20
"""Bytes of a file; a longer one is no note."""

PIECE = 6000
"""Characters that are said at once, about."""

_FRONT = re.compile(r"\A---\n(?P<told>.{0,4000}?)\n---\n", re.DOTALL)
_DATE = re.compile(r"^(?:date|created|updated):\s*[\"']?(?P<date>\d{4}-\d\d-\d\d\S{0,20})", re.MULTILINE)
_HEADING = re.compile(r"(?m)^(?=#{1,6} )")


def read(file: Path, problem: Problem, seen: set[str]) -> Iterator[Transcript]:
    """The file as one session, in the folder that it lies in."""
    if file.stat().st_size > LARGEST:
        problem(file, 0, f"it has more than {LARGEST >> 20} MiB: no note")
        return
    text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    front = _FRONT.match(text)
    dated = _DATE.search(front["told"]) if front else None
    at = (time_of(dated["date"].rstrip("\"'")) if dated else None) or time_of(file.stat().st_mtime * 1000)
    if at is None:
        return
    found = Transcript(RUNTIME, str(file.resolve())[-200:], PATH, directory=str(file.resolve().parent))
    for piece in pieces(text[front.end() :] if front else text):
        found.add({"role": "user", "content": piece}, at)
    yield found


def pieces(text: str) -> list[str]:
    """A text cut at its headings, and where a part is too long at its paragraphs."""
    found: list[str] = []
    held = ""
    for part in _HEADING.split(text):
        for paragraph in re.split(r"\n\s*\n", part) if len(part) > PIECE else (part,):
            if held and len(held) + len(paragraph) > PIECE:
                found.append(held)
                held = ""
            held = f"{held}\n\n{paragraph.strip()}" if held else paragraph.strip()
    return [each for each in (*found, held) if each.strip()]
