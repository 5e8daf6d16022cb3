"""What PostgreSQL reports, told in a sentence that a person can act on."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memory.stores.errors import StoreFault, StoreFaultKind

_UNREACHED = StoreFaultKind.FAILING, "{where} cannot be reached: check that it runs, and memory.postgresql.url"
_LOCKED = StoreFaultKind.LOCKED, "another process holds {where} locked"
_DENIED = StoreFaultKind.DENIED, "{where} lets nobody in with what memory.postgresql.url says"

# By the first two characters of the code, or by all five (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_FAULTS: dict[str, tuple[StoreFaultKind, str]] = {
    "08": _UNREACHED,
    "57": _UNREACHED,
    "28": _DENIED,
    "40": _LOCKED,
    "53100": (StoreFaultKind.FULL, "the disk of {where} is full"),
    "53": (StoreFaultKind.FAILING, "{where} has no room for more connections, or no memory"),
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "25P03": _LOCKED,
    "25006": (StoreFaultKind.FAILING, "{where} may only be read now, as a standby may"),
    "42501": (StoreFaultKind.DENIED, "{where} does not allow that to this user"),
    "3D000": (StoreFaultKind.DENIED, "{where} has no such database: createdb makes it"),
    "XX001": (StoreFaultKind.CORRUPT, "{where} is damaged: put a backup of it back"),
    "XX002": (StoreFaultKind.CORRUPT, "{where} has a damaged index: REINDEX makes it anew"),
}


def where_of(url: str) -> str:
    """The database that a URL names, without the words that open it.

    Raises:
        StoreFault: when it is no such URL.
    """
    try:
        said = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreFault(
            "memory.postgresql.url is no address of a database, as postgresql://ada@host/palimpsest",
            StoreFaultKind.DENIED,
        ) from None
    place = f"{said.get('host') or 'localhost'}:{said.get('port') or 5432}"
    return f"PostgreSQL at {place}/{said.get('dbname') or said.get('user') or ''}"


def postgres_fault(error: psycopg.Error, where: str) -> StoreFault:
    """A fault for what PostgreSQL, or the way to it, reported."""
    code = error.sqlstate
    if code is None:
        # The way there: what was said about it has no code.
        text = str(error)
        refused = "authentication failed" in text or "no pg_hba.conf entry" in text or "does not exist" in text
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        kind, sentence = (
            _DENIED if refused else _UNREACHED if lost else (StoreFaultKind.OTHER, "{where} did not take a statement")
        )
    else:
        kind, sentence = (
            _FAULTS.get(code) or _FAULTS.get(code[:2]) or (StoreFaultKind.OTHER, "{where} did not take a statement")
        )
    return StoreFault(f"{sentence.format(where=where)} ({str(error).strip()})", kind)
