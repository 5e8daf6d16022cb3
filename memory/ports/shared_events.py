"""What other processes do that write the same journal, as those are told who keep some of it in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nobody(*told: object) -> None:
    """Nobody wants to know."""


@dataclass(slots=True)
class SharedEvents:
    """Who is told, in any thread, of what other processes do: that tables have ``grown``, that facts of some
    owners have ``changed``, that something was ``erased``, that the ``work`` of one alone is this process's now, or no
    more."""

    grown: Callable[[frozenset[str]], object] = _nobody
    changed: Callable[[frozenset[str]], object] = _nobody
    erased: Callable[[], object] = _nobody
    work: Callable[[bool], object] = _nobody
