"""The shipped tables: the hash of each, and of the data that it was made from.

Training takes from a minute (relevance) to an hour (the encoder) and rounds as the machine does, so that nobody makes
them again on every change. What is checked in a second is that they are those which were made, and that what they were
made from has not changed since; ``--write`` writes both down, after one was made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from docs.release.locked import ROOT

MADE: Final = ROOT / "docs" / "release" / "made.json"
_DATA: Final = "memory/models/data"
_TRAINING: Final = "memory/models/training/data"
_STATIC: Final = (f"{_DATA}/vocabulary.txt", f"{_DATA}/table.npy", f"{_DATA}/scales.npy")

TABLES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    **dict.fromkeys(_STATIC, ("python -m memory.models.training.distil", ("memory/models/training/distil.py",))),
    f"{_DATA}/clauses.npz": (
        "python -m memory.models.training.clauses",
        (f"{_TRAINING}/talk", f"{_TRAINING}/working", f"{_TRAINING}/choosing", *_STATIC),
    ),
    f"{_DATA}/relevance.npz": ("python -m memory.models.training.relevance", (f"{_TRAINING}/requests", *_STATIC)),
    f"{_DATA}/request_kind.npz": (
        "python -m memory.models.training.request_kind",
        (f"{_TRAINING}/requests", f"{_TRAINING}/talk", *_STATIC),
    ),
    f"{_DATA}/encoder.npz": (
        "python -m memory.models.training.encoder, then memory.models.training.pair_layer, .cores and .clause_head",
        tuple(
            f"{_TRAINING}/{folder}"
            for folder in (
                "talk",
                "statements",
                "passing",
                "plain",
                "aside",
                "findings",
                "life",
                "cores",
                "working",
                "choosing",
                "histories",
            )
        ),
    ),
    f"{_DATA}/settled.npz": (
        "python -m memory.models.training.settled",
        (
            f"{_TRAINING}/settling",
            f"{_TRAINING}/working",
            f"{_TRAINING}/choosing",
            f"{_TRAINING}/talk",
            f"{_DATA}/encoder.npz",
        ),
    ),
    f"{_DATA}/dependence.npz": (
        "python -m memory.models.training.dependence",
        (
            *(
                f"{_TRAINING}/{folder}"
                for folder in ("dependence", "talk", "working", "settling", "choosing", "findings", "aside", "life")
            ),
            f"{_DATA}/encoder.npz",
        ),
    ),
    f"{_DATA}/common.npy": (
        "python -m memory.models.training.common_directions",
        (f"{_TRAINING}/talk", *_STATIC),
    ),
    f"{_DATA}/recurring_corrections.npz": (
        "python -m memory.models.training.recurring_corrections",
        (f"{_TRAINING}/recurring", f"{_TRAINING}/talk", f"{_DATA}/common.npy", *_STATIC),
    ),
    **dict.fromkeys(
        (f"{_DATA}/windows.json", f"{_DATA}/o200k_base.tiktoken"),
        ("python -m memory.models.training.snapshot", ("memory/models/training/snapshot.py",)),
    ),
}
"""Each table: what makes it, and from what in this repository. A recipe that takes its data from a wheel names the
wheel's hash."""


def now() -> dict[str, Any]:
    """The tables as they are."""
    return {
        name: {
            "sha256": sum_of([ROOT / name]),
            "made_by": f"{command} --out {_DATA}",
            "made_from": sum_of(_files(sources)),
        }
        for name, (command, sources) in TABLES.items()
    }


def write() -> None:
    """Write down the tables as they are."""
    MADE.write_text(json.dumps(now(), indent=2) + "\n", encoding="utf-8")


def changed() -> Iterator[str]:
    """A sentence for each table that is not the one which was written down."""
    told = json.loads(MADE.read_text(encoding="utf-8"))
    for name, each in now().items():
        if told.get(name, {}).get("sha256") != each["sha256"]:
            yield f"{name} is not the one that is written down: python -m docs.release tables --write, once it was made"


def stale() -> Iterator[str]:
    """A sentence for each table whose data has changed since it was made: between releases new data comes first."""
    told = json.loads(MADE.read_text(encoding="utf-8"))
    for name, each in now().items():
        if told.get(name, {}).get("made_from") != each["made_from"]:
            yield f"{name} was made from other data than is here: {each['made_by']}, then tables --write"


def sum_of(files: Iterable[Path]) -> str:
    """One file's SHA-256; of several, that of their names and hashes."""
    told = [(file.relative_to(ROOT).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]
    if len(told) == 1:
        return told[0][1]
    return hashlib.sha256("\n".join(f"{sum} {name}" for name, sum in sorted(told)).encode()).hexdigest()


def _files(sources: Iterable[str]) -> Iterator[Path]:
    for source in sources:
        path = ROOT / source
        yield from (path,) if path.is_file() else (each for each in path.rglob("*") if each.is_file())
