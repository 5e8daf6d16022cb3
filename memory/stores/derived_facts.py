"""Facts that are made or changed by something else than learning: by a night, or by a person who approves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory.fact import Fact, State
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.facts import add_texts
from memory.stores.forgetting import Terms, unlink
from memory.stores.memory_uses import begin_uses
from memory.stores.messages import Redact
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_row

COLUMNS = (
    *("origin", "recorded_at", "recorded", "valid_from", "confidence", "importance", "tier", "sensitivity"),
    *("stability", "state", "access", "sessions", "used_at", "valid_until", "superseded_at", "supersedes"),
    *("contradicts", "derived_from"),
)
"""What of a fact may change: never what it says, or whose it is."""


def make_fact(connection: Connection, fact: Fact, redact: Redact, terms: Terms) -> None:
    """Write a new fact, drawn from those of its sources that are still there."""
    there = {row["id"] for row in ask_many(connection, "facts_get", fact.derived_from)}
    stored = replace(fact, derived_from=tuple(id for id in fact.derived_from if id in there))
    connection.execute(QUERIES["fact_write"], fact_row(stored, redact))
    begin_uses(connection, [(fact.id, fact.session)])
    connection.execute(QUERIES["outbox_add"], (fact.id, "fact"))
    _count_terms(connection, stored, terms, 1)


def unmake_fact(connection: Connection, fact: Fact, terms: Terms) -> None:
    """Take a fact away that was made so."""
    connection.execute(QUERIES["forget_fact"], (fact.id,))
    connection.execute(QUERIES["forget_uses"], (fact.id,))
    connection.execute(QUERIES["outbox_add"], (fact.id, "gone"))
    unlink(connection, [fact.id])
    _count_terms(connection, fact, terms, -1)


def write_columns(connection: Connection, row: Mapping[str, Any], state: str) -> None:
    """Write a fact's columns; the index lets go of what is archived and takes in what comes back."""
    connection.execute(QUERIES["night_write"], {name: row[name] for name in ("id", *COLUMNS)})
    archived = row["state"] == State.ARCHIVED
    if archived or state == State.ARCHIVED:
        connection.execute(QUERIES["outbox_add"], (row["id"], "gone" if archived else "fact"))


def _count_terms(connection: Connection, fact: Fact, terms: Terms, by: int) -> None:
    counted = dict.fromkeys(terms(fact), by)
    if counted:
        add_texts(connection, {fact.owner: by}, {fact.owner: counted})
