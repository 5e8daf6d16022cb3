"""A case: what a transparent proxy must do, why, and where that is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Run = Callable[[Any], Awaitable[str | None]]
"""Tries a case on a bench."""


class Result(StrEnum):
    """What came of a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class CaseFailed(Exception):
    """The proxy did something else; the message says what."""


class Skipped(Exception):
    """The case does not apply here; the message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """``id`` names it for good; ``says`` is what must be so, ``why`` what breaks where it is not, ``source`` where it
    is written down. ``formats`` are the APIs that it is tried with."""

    id: str
    says: str
    why: str
    source: str
    formats: tuple[str, ...]
    run: Run


ALL: Final = ("chat", "responses", "messages", "gemini", "ollama")

CASES: dict[str, Case] = {}
"""All cases, by their ids, in the order of their files."""


def case(id: str, says: str, *, why: str, source: str, formats: tuple[str, ...] = ALL) -> Callable[[Run], Run]:
    """Make a case of a function. What it gives, if anything, is a remark that stands beside its result."""

    def register(run: Run) -> Run:
        assert id not in CASES, id
        CASES[id] = Case(id, says, why, source, formats, run)
        return run

    return register


def must(holds: object, otherwise: str) -> None:
    """Go on where something holds.

    Raises:
        Failed: where it does not.
    """
    if not holds:
        raise CaseFailed(otherwise)
