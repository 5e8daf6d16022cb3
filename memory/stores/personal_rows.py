"""Which rows of the journal are one person's: the one table by which they are counted, given out and deleted.

Every table of the journal stands here, or in :data:`NOBODYS` with why it is no one person's. Statements take
``:person`` (the owner of what is known of them in all projects), ``:owners`` (all their owners, a JSON list), ``:user``
and ``:org``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_PEOPLE = "(SELECT number FROM people WHERE name = :person)"
_SESSIONS = f"(SELECT number FROM sessions WHERE person IN {_PEOPLE})"
_SESSION_IDS = f"(SELECT id FROM sessions WHERE person IN {_PEOPLE})"
_EXCHANGES = f"(SELECT number FROM exchanges WHERE session IN {_SESSIONS})"
_OWNERS = "(SELECT value FROM json_each(:owners))"
_OWNED = f"owner IN {_OWNERS}"
_MEMORIES = f"(SELECT id FROM facts WHERE {_OWNED} UNION ALL SELECT id FROM passages WHERE {_OWNED})"
_NIGHTS = f"(SELECT number FROM nights WHERE {_OWNED})"
_RESEARCH = "(SELECT id FROM research WHERE person = :person)"


@dataclass(frozen=True, slots=True)
class PersonalRows:
    """The rows of a ``table`` that are a person's, as a condition (``where``). ``order`` are columns that tell its rows
    apart. What is not ``told`` is left out of what is given out: hashes and numbers by which the rest is found."""

    table: str
    where: str
    order: str = "number"
    told: bool = True


PERSONAL: Final = (
    PersonalRows("receipts", f"exchange IN {_EXCHANGES}"),
    PersonalRows(
        "mentions",
        f"memory IN {_MEMORIES} OR (place = 'exchange' AND number IN {_EXCHANGES})"
        f" OR (place = 'ledger' AND number IN (SELECT number FROM ledger WHERE session IN {_SESSIONS}))",
        "memory, place, number",
        told=False,
    ),
    PersonalRows("uses", f"session IN {_SESSION_IDS} OR memory IN {_MEMORIES}", "memory, session"),
    PersonalRows("ledger", f"session IN {_SESSIONS}"),
    PersonalRows("seen", f"session IN {_SESSIONS}", "session, digest", told=False),
    PersonalRows("trail", f"session IN {_SESSIONS}", "link, namespace, session", told=False),
    PersonalRows("exchanges", f"session IN {_SESSIONS}"),
    PersonalRows("research_uses", f"session IN {_SESSION_IDS} OR research IN {_RESEARCH}"),
    PersonalRows("research", "person = :person"),
    PersonalRows("spawns", "person = :person"),
    PersonalRows("spawners", "person = :person", "person, tool"),
    PersonalRows("overviews", f"owner = :person OR {_OWNED}"),
    PersonalRows("pins", f"owner = :person OR {_OWNED}", "owner, subject, part"),
    PersonalRows(
        "candidates",
        # One that others bear out as well stays, unless it says what this person said.
        f"{_OWNED} OR mark IN {_MEMORIES} OR ("
        f"id IN (SELECT candidate FROM candidate_evidence WHERE memory IN {_MEMORIES})"
        " AND NOT EXISTS (SELECT 1 FROM candidate_evidence AS other WHERE other.candidate = candidates.id"
        f" AND other.memory NOT IN {_MEMORIES}))",
    ),
    PersonalRows("candidate_evidence", f"memory IN {_MEMORIES}", "candidate, memory", told=False),
    PersonalRows("night_candidates", f"night IN {_NIGHTS}", "night, candidate", told=False),
    PersonalRows("night_changes", f"night IN {_NIGHTS} OR memory IN {_MEMORIES}"),
    PersonalRows("summaries", f"night IN {_NIGHTS} OR {_OWNED} OR memory IN {_MEMORIES}"),
    PersonalRows("nights", _OWNED),
    PersonalRows("night_cursors", _OWNED, "owner", told=False),
    PersonalRows("crystallized", _OWNED, "fact", told=False),
    PersonalRows("steps", _OWNED),
    PersonalRows("observations", _OWNED, "owner, subject"),
    PersonalRows("error_keys", _OWNED, "key, owner, memory", told=False),
    PersonalRows("legs", _OWNED, "owner, leg"),
    PersonalRows(
        "branches",
        "EXISTS (SELECT 1 FROM checkouts AS held WHERE held.repository = branches.repository"
        f" AND held.branch = branches.name AND held.owner IN {_OWNERS})"
        " AND NOT EXISTS (SELECT 1 FROM checkouts AS held WHERE held.repository = branches.repository"
        f" AND held.branch = branches.name AND held.owner NOT IN {_OWNERS})",
        "repository, name",
    ),
    PersonalRows("checkouts", _OWNED, "memory"),
    PersonalRows("named", f"name IN (SELECT number FROM names WHERE {_OWNED})", "name, memory", told=False),
    PersonalRows("names", _OWNED),
    PersonalRows("quota_uses", _OWNED, "day, owner, kind"),
    PersonalRows("graph_due", f"memory IN {_MEMORIES}", "memory", told=False),
    PersonalRows("facts", _OWNED),
    PersonalRows("passages", _OWNED),
    PersonalRows("terms", f"owner IN (SELECT number FROM owners WHERE name IN {_OWNERS})", "owner, term", told=False),
    PersonalRows("owners", f"name IN {_OWNERS}"),
    PersonalRows(
        "meta",
        "EXISTS (SELECT 1 FROM json_each(:owners) AS each WHERE substr(meta.name, -length(each.value)) = each.value)",
        "name",
    ),
    PersonalRows("messages", f"person IN {_PEOPLE}"),
    PersonalRows("sessions", f"person IN {_PEOPLE}"),
    PersonalRows("people", "name = :person"),
    PersonalRows("members", "user = :user AND org = :org", "org, user, project"),
    PersonalRows("client_keys", "user = :user AND coalesce(org, '') = :org", "hash"),
)
"""What is deleted, in this order: what points to something before that."""

KEPT: Final[tuple[PersonalRows, ...]] = ()
"""What is a person's, is given out, and stays."""

NOBODYS: Final[Mapping[str, str]] = {
    "audit": "names people without their organisations, so that it cannot be told whose of one name; it stays",
    "generations": "which indexes there are",
    "outbox": "ids that an index has still to let go of",
    "tombstones": "hashes, without whose they are",
}
"""What is no one person's, and why."""
