"""What a person's ``forget`` means for what nights have made of it.

A canonical fact takes with it what was archived because it stood for it: that is the same statement. Knowledge that
goes since one of its sources does gives back the other one whose place it had taken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from memory.fact import Fact
from memory.stores.candidates import let_candidates_go
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of
from memory.stores.shelf import ask_many


def absorbed(connection: sqlite3.Connection, ids: Iterable[str]) -> list[Fact]:
    """The archived facts that some facts stand for, and those that these stood for before."""
    found: dict[str, Fact] = {}
    fresh = list(ids)
    while fresh:
        rows = [row for row in ask_many(connection, "night_absorbed", fresh) if row["id"] not in found]
        found.update((row["id"], fact_of(row)) for row in rows)
        fresh = [row["id"] for row in rows]
    return list(found.values())


def let_go(connection: sqlite3.Connection, gone: Sequence[str]) -> None:
    """Forget what nights did to some memories, before these go; what they stood for and what stays takes part again."""
    for row in ask_many(connection, "night_absorbed", gone):
        if row["id"] not in gone:
            connection.execute(QUERIES["night_release"], (row["id"],))
            connection.execute(QUERIES["outbox_add"], (row["id"], "fact"))
    let_candidates_go(connection, gone)
    for id in gone:
        for name in ("night_forget_changes", "night_forget_lines"):
            connection.execute(QUERIES[name], (id,))
