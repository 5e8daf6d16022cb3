"""Whose rows a transaction sees: named to PostgreSQL, whose policies (``row_security.sql``) hold it up.

It is named in the transaction itself and ends with it, so that a pooler may give each transaction another connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

ALL = "*"
"""Every owner's rows."""
SEE_ALL = f"SET LOCAL palimpsest.owners = '{ALL}'"
"""What a transaction begins with that works for all owners."""
NAME_OWNERS = "SELECT set_config('palimpsest.owners', $1, true)"
"""What is sent ahead of a statement that reads, on the same way there and back."""

PROTECTED = (
    *("facts", "passages", "summaries", "candidates", "research", "observations", "steps", "names"),
    *("sessions", "messages", "exchanges", "ledger", "receipts", "overviews", "pins", "spawns", "spawners"),
)
"""The tables of which a transaction sees nothing that it does not name: an owner's, and behind those a person's, whose
name is the owner of what is known of them in all projects."""
UNPROTECTED = {
    "nights": "holds counts, and no text of a memory",
    "night_cursors": "holds numbers of rows",
    "crystallized": "holds ids of facts",
    "checkouts": "holds repositories and branches, and is reached by the id of a memory",
    "error_keys": "holds hashes, which lead to facts",
    "legs": "holds counts",
    "terms": "holds counts of terms, by an owner's number",
    "owners": "holds names of owners, and counts",
    "people": "holds names of people",
    "trail": "holds hashes, by which a session is found before it is known whose a request is",
    "seen": "is reached by the number of a session, and holds hashes",
    "uses": "is reached by the id of a memory, and holds counts",
    "research_uses": "is reached by the number of a research, and holds counts",
    "named": "is reached by the number of a name",
    "mentions": "is reached by the id of a memory, and holds numbers",
    "night_changes": "is reached by the number of a night, and holds no text of a memory",
    "night_candidates": "is reached by the number of a night",
    "candidate_evidence": "is reached by the id of a candidate, and holds ids of facts",
    "branches": "holds names of branches, by their repository",
    "audit": "holds who asked what, for administrators",
    "client_keys": "holds names and hashes of keys, by which it is known who asks",
    "members": "holds names of people and their roles, by which it is known what who asks may do",
    "quota_uses": "holds counts of a day, by the names of people and organisations",
}
"""The tables that hold something of somebody's and have no policy, each with why."""

BYPASSES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
"""Whether the user of a connection sees all rows, whatever policies say."""

_PROTECTED = re.compile(rf"\b(?:{'|'.join(PROTECTED)})\b")


@lru_cache(maxsize=4096)
def needs_owners(statement: str) -> bool:
    """Whether a statement looks into a protected table."""
    return _PROTECTED.search(statement) is not None


def named(owners: Sequence[str] | None) -> str:
    """Owners as the policies read them; None for everybody."""
    return ALL if owners is None else "\n".join(owners)
