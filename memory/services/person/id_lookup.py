"""Find what a person names: a memory by its id, or by the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

_LIKE_AN_ID: Final = re.compile(r"[0-9a-f-]+")


class NotFound(LookupError):
    """There is no such memory among those that may be seen."""


class Ambiguous(LookupError):
    """The beginning of an id stands for several memories; ``ids`` are some of them."""

    def __init__(self, prefix: str, ids: Sequence[str]) -> None:
        super().__init__(f"{prefix!r} is the beginning of {len(ids)} ids or more: {', '.join(ids)}")
        self.ids = tuple(ids)


class LookupJournal(Protocol):
    """What this needs of the journal."""

    async def begins(self, prefix: str, owners: Sequence[str], limit: int = 10) -> list[str]:
        """The ids of memories of some owners that begin with ``prefix``."""


async def named(journal: LookupJournal, prefixes: Sequence[str], owners: Sequence[str]) -> list[str]:
    """The whole ids of the beginnings of some.

    Raises:
        NotFound: when no memory of these owners has it.
        Ambiguous: when several have.
    """
    names = []
    for prefix in prefixes:
        found = await journal.begins(prefix, owners, 5) if prefix else []
        if not found:
            hint = "" if _LIKE_AN_ID.fullmatch(prefix) else ": it is named by its id, or the beginning of one"
            raise NotFound(f"there is no memory {prefix!r}{hint}")
        if len(found) > 1 and prefix not in found:
            raise Ambiguous(prefix, found)
        names.append(prefix if prefix in found else found[0])
    return list(dict.fromkeys(names))
