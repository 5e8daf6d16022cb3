"""What a person's ``forget`` means for what nights have made of it.

A canonical fact takes with it what was archived because it stood for it: that is the same statement. Knowledge that
goes since one of its sources does gives back the other one whose place it had taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memory.fact import Fact, MemoryTier
from memory.learning.candidate_matching import says_the_same
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of


def absorbed(connection: Connection, ids: Iterable[str]) -> list[Fact]:
    """The archived facts that some facts stand for, and those that these stood for before."""
    found: dict[str, Fact] = {}
    fresh = list(ids)
    while fresh:
        rows = [row for row in ask_many(connection, "night_absorbed", fresh) if row["id"] not in found]
        found.update((row["id"], fact_of(row)) for row in rows)
        fresh = [row["id"] for row in rows]
    return list(found.values())


def borne_out_without(fact: Fact, gone: Mapping[str, Fact]) -> bool:
    """Whether a fact that was drawn from something that is forgotten stays: only what a person has approved does, as
    long as there is something else that bears it out and it does not say what is forgotten."""
    if fact.tier is not MemoryTier.SHARED or set(fact.derived_from) <= gone.keys():
        return False
    return not any(says_the_same(fact.text, each.text) for each in gone.values())


def erase_from_nights(connection: Connection, gone: Sequence[str]) -> None:
    """Forget what nights did to some memories, and what was put forward since they bore it out, before these go; what
    they stood for and what stays takes part again."""
    for row in ask_many(connection, "night_absorbed", gone):
        if row["id"] not in gone:
            connection.execute(QUERIES["night_release"], (row["id"],))
            connection.execute(QUERIES["outbox_add"], (row["id"], "fact"))
    for row in ask_many(connection, "candidates_with", gone):
        connection.execute(QUERIES["candidate_drop"], (row["id"],))
    for id in gone:
        for name in ("night_forget_changes", "night_forget_lines", "crystallized_forget"):
            connection.execute(QUERIES[name], (id,))
