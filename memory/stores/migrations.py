"""How a database comes to its present shape: an ordered list of named steps, each taken once.

A step is never changed after a release; a new one is added behind it.
"""

from __future__ import annotations

import os
import sqlite3

from memory.stores.connection import Connection
from memory.stores.queries import FOLDER

MIGRATIONS: tuple[str, ...] = (
    # The first shape, and the secret of this database: the key of all its keyed hashes.
    "m001_initial",
    # Replacements and cuts in the ledger, the lower tiers of contents, and what a person wants whole.
    "m002_tiers",
    # What nights have changed, days in short, and what a person might approve.
    "m003_nights",
    # What a person might approve, with what has become of it. What was told of it before could not be decided.
    "m004_candidates",
    # How work is done: steps, which facts hold what was observed, and the keys of errors that were put right.
    "m005_behaviour",
    # On which machine a fact was learned, and how much of an old memory recall shows.
    "m006_devices_and_previews",
    # What sub-agents found out, the errands that sent them, and how it was used again.
    "m007_research",
    # How far the nights have looked for what is old and unread.
    "m008_unread",
    # Which names stand in which memories, and how the legs of recall have done.
    "m009_graph",
    # What is new of an owner is found behind a row, however much there is before it.
    "m010_nights_in_turn",
    # What builds on an exchange is found when that one leaves the journal.
    "m011_retention",
    # What recall leaves out of passages, and how far the nights have looked for it.
    "m012_courtesies",
    # How often a memory was said again in a session, apart from how often it was used.
    "m013_said",
    # Whether a request offered tools.
    "m014_tools",
    # Whose credential a session was sent with.
    "m015_credential",
    # Who asked what of memory, which is only ever added to.
    "m016_audit",
    # In which checkout memories were learnt, what of it they cite, and what has become of branches.
    "m017_checkouts",
    # Which sessions go without memory, to be compared with the others.
    "m020_held_out",
    # Which words of a fact say what to do or what holds.
    "m021_cores",
    # Keys that were issued to users of clients.
    "m022_client_keys",
    # Which memories name what their checkout does not hold yet.
    "m023_awaited_citations",
    # What facts say, in the order of time.
    "m024_texts_by_time",
    # How much of their quotas people and organisations have used today.
    "m025_quota_uses",
    # Who is a member of an organisation, what keys are for, and who submitted and decided candidates.
    "m026_members",
    # What a person said, by whose it is.
    "m027_messages_by_owner",
)
"""The steps in their order. Each is the file of its name, without the ``m``."""


class FromTheFuture(Exception):
    """The database was written by a newer version; an older one must not touch it."""


def migrate(connection: sqlite3.Connection, steps: tuple[str, ...] = MIGRATIONS) -> list[str]:
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
            take(step, connection)
            taken.append(step)
        connection.execute(f"PRAGMA user_version = {max(done, len(steps))}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return taken


def take(step: str, connection: Connection) -> None:
    """Take one step. With the first comes the secret of this database: the key of all its keyed hashes."""
    for statement in (FOLDER / f"{step.removeprefix('m')}.sql").read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            connection.execute(statement)
    if step == MIGRATIONS[0]:
        connection.execute("INSERT INTO meta (name, value) VALUES ('key', ?)", (os.urandom(32),))
