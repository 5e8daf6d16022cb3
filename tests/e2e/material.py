"""Files large enough to fill a window: modules and logs, each with details that nothing else has."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

_VERBS = ("settle", "reconcile", "dispatch", "archive", "forward", "allocate", "release", "audit", "collect")
_NOUNS = ("invoice", "shipment", "ledger", "warrant", "parcel", "voucher", "manifest", "tariff", "docket")
_WORDS = ("amber", "harbour", "lantern", "quarry", "meadow", "copper", "saffron", "granite", "willow", "juniper")


@dataclass(frozen=True, slots=True)
class Detail:
    """Something that only one line of one file says. ``asked`` names it and does not say it."""

    name: str
    line: str
    file: Path

    @property
    def asked(self) -> str:
        """A question for it."""
        return f"Which limit does {self.name} in {self.file.name} have?"


@dataclass(frozen=True, slots=True)
class File:
    """A file that was written, and what stands in it."""

    path: Path
    text: str
    details: tuple[Detail, ...]


def write_files(folder: Path, count: int, size: int, seed: int = 7) -> list[File]:
    """So many files of so many characters; every fourth is a log."""
    chance = random.Random(seed)
    folder.mkdir(exist_ok=True)
    files = []
    for number in range(count):
        name = f"run_{number:02d}.log" if number % 4 == 3 else f"{chance.choice(_NOUNS)}_{number:02d}.py"
        path = folder / name
        text, details = _log(number, size, chance) if name.endswith(".log") else _module(number, path, size, chance)
        path.write_text(text)
        files.append(File(path, text, details))
    return files


def _module(number: int, path: Path, size: int, chance: random.Random) -> tuple[str, tuple[Detail, ...]]:
    pieces, details = [f'"""How the {chance.choice(_WORDS)} office works, part {number}."""\n'], []
    while sum(map(len, pieces)) < size:
        name = f"{chance.choice(_VERBS)}_{chance.choice(_NOUNS)}_{number:02d}{len(pieces):02d}"
        line = f"    limit = {chance.randrange(10_000_000, 99_999_999)}"
        words = [chance.choice(_WORDS) for _ in range(3)]
        pieces.append(
            f"\n\ndef {name}(book, amount, day):\n"
            f'    """Book an amount at the {words[0]} gate, unless the {words[1]} is closed."""\n'
            f"{line}\n"
            f"    if amount > limit or book.closed('{words[1]}', day):\n"
            f"        raise ValueError('the {words[2]} takes no more of it that day')\n"
            f"    entries = [entry for entry in book.entries('{words[0]}') if entry.day <= day]\n"
            f"    return book.write('{words[0]}', amount, sum(entry.amount for entry in entries))\n"
        )
        details.append(Detail(name, line, path))
    return "".join(pieces), tuple(details)


def _log(number: int, size: int, chance: random.Random) -> tuple[str, tuple[Detail, ...]]:
    lines = list[str]()
    while sum(map(len, lines)) < size:
        second, word = len(lines), chance.choice(_WORDS)
        told = f"{word} worker {chance.randrange(64)} took job {chance.randrange(10**7)} of {chance.choice(_NOUNS)}s"
        level = "WARNING" if second % 37 == 5 else "INFO"
        lines.append(f"2026-03-{number % 28 + 1:02d} 08:{second // 60:02d}:{second % 60:02d} {level} {told}\n")
    return "".join(lines), ()
