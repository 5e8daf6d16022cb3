"""Whose memories the reads under way may see.

Whoever serves one caller says so once; a store that can holds it up itself, whatever its queries leave out. Where
nobody has said so everything is seen: learning, nights and what forgets work for all owners.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from memory.provenance import SHELVES
from memory.research import QUESTIONS, TRAILS

_VISIBLE: ContextVar[tuple[str, ...] | None] = ContextVar("visible", default=None)


@contextmanager
def only(owners: Iterable[str]) -> Iterator[None]:
    """Until the end of the block only these owners' memories are read, their shelves included. Reads of tasks that
    are begun within it are bound by it too."""
    token = _VISIBLE.set(tuple(f"{shelf}{owner}" for owner in owners for shelf in ("", *SHELVES, QUESTIONS, TRAILS)))
    try:
        yield
    finally:
        _VISIBLE.reset(token)


@contextmanager
def also(*owners: str) -> Iterator[None]:
    """Until the end of the block these owners' are read as well, of those who share something: what stands on the
    shelf that each names. Who names the shelf of an owner's questions of research reads that research with it, and
    nothing else of theirs."""
    seen = _VISIBLE.get()
    token = _VISIBLE.set(None if seen is None else (*seen, *owners))
    try:
        yield
    finally:
        _VISIBLE.reset(token)


def visible() -> tuple[str, ...] | None:
    """The owners whose memories may be read just now; None for everybody's."""
    return _VISIBLE.get()
