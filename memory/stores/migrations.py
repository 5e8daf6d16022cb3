"""How a database comes to its present shape: an ordered list of named steps, each taken once.

A step is never changed after a release; a new one is added behind it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable

from memory.stores.connection import Connection
from memory.stores.queries import FOLDER

Migration = Callable[[Connection], None]


def m001_initial(connection: Connection) -> None:
    """The first shape, and the secret of this database: the key of all its keyed hashes."""
    _run(connection, "001_initial.sql")
    connection.execute("INSERT INTO meta (name, value) VALUES ('key', ?)", (os.urandom(32),))


def m002_tiers(connection: Connection) -> None:
    """Replacements and cuts in the ledger, the lower tiers of contents, and what a person wants whole."""
    _run(connection, "002_tiers.sql")


def m003_nights(connection: Connection) -> None:
    """What nights have changed, days in short, and what a person might approve."""
    _run(connection, "003_nights.sql")


def m004_candidates(connection: Connection) -> None:
    """What a person might approve, with what has become of it. What was told of it before could not be decided."""
    _run(connection, "004_candidates.sql")


def m005_behaviour(connection: Connection) -> None:
    """How work is done: steps, which facts hold what was observed, and the keys of errors that were put right."""
    _run(connection, "005_behaviour.sql")


def m006_devices_and_previews(connection: Connection) -> None:
    """On which machine a fact was learned, and how much of an old memory recall shows."""
    _run(connection, "006_devices_and_previews.sql")


def m007_research(connection: Connection) -> None:
    """What sub-agents found out, the errands that sent them, and how it was used again."""
    _run(connection, "007_research.sql")


def m008_unread(connection: Connection) -> None:
    """How far the nights have looked for what is old and unread."""
    _run(connection, "008_unread.sql")


def m009_graph(connection: Connection) -> None:
    """Which names stand in which memories, and how the legs of recall have done."""
    _run(connection, "009_graph.sql")


def m010_nights_in_turn(connection: Connection) -> None:
    """What is new of an owner is found behind a row, however much there is before it."""
    _run(connection, "010_nights_in_turn.sql")


def m011_retention(connection: Connection) -> None:
    """What builds on an exchange is found when that one leaves the journal."""
    _run(connection, "011_retention.sql")


def m012_courtesies(connection: Connection) -> None:
    """What recall leaves out of passages, and how far the nights have looked for it."""
    _run(connection, "012_courtesies.sql")


def m013_said(connection: Connection) -> None:
    """How often a memory was said again in a session, apart from how often it was used."""
    _run(connection, "013_said.sql")


def m014_tools(connection: Connection) -> None:
    """Whether a request offered tools."""
    _run(connection, "014_tools.sql")


def m015_credential(connection: Connection) -> None:
    """Whose credential a session was sent with."""
    _run(connection, "015_credential.sql")


def m016_audit(connection: Connection) -> None:
    """Who asked what of memory, which is only ever added to."""
    _run(connection, "016_audit.sql")


def m017_checkouts(connection: Connection) -> None:
    """In which checkout memories were learnt, what of it they cite, and what has become of branches."""
    _run(connection, "017_checkouts.sql")


def m020_held_out(connection: Connection) -> None:
    """Which sessions go without memory, to be compared with the others."""
    _run(connection, "020_held_out.sql")


def m021_cores(connection: Connection) -> None:
    """Which words of a fact say what to do or what holds."""
    _run(connection, "021_cores.sql")


def m022_client_keys(connection: Connection) -> None:
    """Keys that were issued to users of clients."""
    _run(connection, "022_client_keys.sql")


MIGRATIONS: tuple[Migration, ...] = (
    m001_initial,
    m002_tiers,
    m003_nights,
    m004_candidates,
    m005_behaviour,
    m006_devices_and_previews,
    m007_research,
    m008_unread,
    m009_graph,
    m010_nights_in_turn,
    m011_retention,
    m012_courtesies,
    m013_said,
    m014_tools,
    m015_credential,
    m016_audit,
    m017_checkouts,
    m020_held_out,
    m021_cores,
    m022_client_keys,
)


class FromTheFuture(Exception):
    """The database was written by a newer version; an older one must not touch it."""


def migrate(connection: sqlite3.Connection, steps: tuple[Migration, ...] = MIGRATIONS) -> list[str]:
    """Take the steps that are missing, all in one transaction; the names of those taken.

    ``PRAGMA user_version`` counts the steps, so that an up-to-date database costs one read.

    Raises:
        FromTheFuture: when the database has had more steps than are known.
    """
    (done,) = connection.execute("PRAGMA user_version").fetchone()
    if done > len(steps):
        raise FromTheFuture(f"it has had {done} migrations, this version knows {len(steps)}")
    if done == len(steps):
        return []
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first while we waited for the lock.
        (done,) = connection.execute("PRAGMA user_version").fetchone()
        taken = []
        for step in steps[done:]:
            step(connection)
            taken.append(step.__name__)
        connection.execute(f"PRAGMA user_version = {max(done, len(steps))}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return taken


def _run(connection: Connection, file: str) -> None:
    for statement in (FOLDER / file).read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            connection.execute(statement)
