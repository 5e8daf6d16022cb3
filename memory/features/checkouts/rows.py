"""Where memories were learnt, at hand for those that were asked for before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from memory.checkout import LearnedAt

AT_ONCE: Final = 24
"""Memories that are asked for at once: so many the journal looks up here and now."""
MOST: Final = 4096


class LearnedAtJournal(Protocol):
    """What this needs of the journal."""

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt, by their ids, as far as that is known."""


class Rows:
    """The rows that were read since anything was written."""

    def __init__(self, journal: LearnedAtJournal) -> None:
        self._journal = journal
        self._known: dict[str, LearnedAt | None] = {}

    async def of(self, ids: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt."""
        known = self._known
        unread = [id for id in ids if id not in known]
        if len(known) + len(unread) > MOST:
            known = self._known = {}
            unread = list(ids)
        for start in range(0, len(unread), AT_ONCE):
            some = unread[start : start + AT_ONCE]
            read = await self._journal.learnt(some)
            # What was written meanwhile has put another dictionary in the place of this one.
            known.update((id, read.get(id)) for id in some)
        return {id: row for id in ids if (row := known.get(id)) is not None}

    def written(self) -> None:
        """Something was written: what is at hand may be old."""
        self._known = {}
