"""What a scene came to, a line an exchange; and where a body differs from the one of before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from tests.corpus.stage import Exchange

FILE = Path(__file__).parent / "digests.txt"
LETTERS = 16
AROUND = 60
"""Bytes that are shown around the first difference."""


def line(exchange: Exchange) -> str:
    """The exchange's name, and of each of its bodies the name and a digest."""
    return "  ".join([exchange.name, *(f"{name}={_digest(body)}" for name, body in exchange.bodies)])


def scene_of(line: str) -> str:
    """The scene that a line is of."""
    return line.partition("/")[0]


def kept(file: Path = FILE) -> dict[str, list[str]]:
    """The lines that are kept, by their scene."""
    found: dict[str, list[str]] = {}
    for each in file.read_text().splitlines() if file.exists() else ():
        if each and not each.startswith("#"):
            found.setdefault(scene_of(each), []).append(each)
    return found


def write(scenes: Mapping[str, list[str]], file: Path = FILE) -> None:
    """Write the lines of scenes."""
    head = "# Made by python -m tests.corpus --write: what was forwarded and answered, exchange by exchange.\n"
    file.write_text(head + "".join(f"{each}\n" for lines in scenes.values() for each in lines))


def changed(before: Iterable[str], now: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The lines that differ, pair by pair; an empty one where there is none on that side."""
    for one, other in zip_longest(before, now, fillvalue=""):
        if one != other:
            yield one, other


def difference(before: bytes, now: bytes) -> str:
    """The first range of bytes in which two bodies differ, in words."""
    if before == now:
        return "the same"
    begin = next((at for at, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))
    end = 0
    while end < min(len(before), len(now)) - begin and before[-1 - end] == now[-1 - end]:
        end += 1
    shown = [
        bytes(body[max(begin - AROUND, 0) : max(len(body) - end, begin) + AROUND][: 5 * AROUND])
        for body in (before, now)
    ]
    return (
        f"bytes {begin} to {len(before) - end} of {len(before)} became {begin} to {len(now) - end} of {len(now)}\n"
        f"  before: {shown[0]!r}\n  now:    {shown[1]!r}"
    )


def keep(folder: Path, exchange: Exchange, same: bool) -> list[str]:
    """Put an exchange's bodies into a folder. Where it is not the ``same`` as in the repository, those that lie there
    from an earlier run stay, the new ones are put beside them, and what differs is told."""
    told = []
    place = folder / exchange.name.replace(" ", "_").replace(":", "_")
    place.mkdir(parents=True, exist_ok=True)
    for number, (name, body) in enumerate(exchange.bodies):
        file = place / f"{number}-{name}"
        if same or not file.exists():
            file.write_bytes(body)
            continue
        if (before := file.read_bytes()) != body:
            file.with_suffix(".now").write_bytes(body)
            told.append(f"{file}: {difference(before, body)}")
    return told


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:LETTERS]
