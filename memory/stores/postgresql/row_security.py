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

PROTECTED = ("facts", "passages", "summaries", "candidates", "research", "observations", "steps", "names")
"""The tables of which a transaction sees nothing that it does not name."""
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
