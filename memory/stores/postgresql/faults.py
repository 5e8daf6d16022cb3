"""What PostgreSQL reports, told in a sentence that a person can act on."""

from __future__ import annotations

import ipaddress
import re

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memory.stores.errors import Overtaken, PersonForgottenError, StoreFault, StoreFaultKind

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

# What is said of the way there has no code, and may quote the URL: only these words of it are passed on.
_REASONS = (
    "password authentication failed",
    "no pg_hba.conf entry",
    "does not exist",
    "failed to resolve host",
    "could not translate host name",
    "Connection refused",
    "No such file or directory",
    "Permission denied",
    "timeout expired",
    "server closed the connection unexpectedly",
    "too many clients",
    "starting up",
    "shutting down",
    "SSL",
)
# Classes whose sentences quote what stands in rows, or in the URL.
_QUOTING = ("08", "22", "23", "28", "3D")

_UNSHOWN = "PostgreSQL (its address is not shown: write what is no letter or digit of the password as %XX)"
_NAME = re.compile(r"[\w.-]+")
_SOCKETS = re.compile(r"/[\w./+-]*")


def where_of(url: str) -> str:
    """The database that a URL names, without the words that open it: nothing of it where they may stand elsewhere, as
    when a password has an ``@`` that is not written ``%40``.

    Raises:
        StoreFault: when it is no such URL.
    """
    try:
        said = conninfo_to_dict(url)
    except (psycopg.ProgrammingError, UnicodeError):
        raise StoreFault(
            "memory.postgresql.url is no address of a database, as postgresql://ada@host/palimpsest",
            StoreFaultKind.DENIED,
        ) from None
    host, port = str(said.get("host") or "localhost"), str(said.get("port") or 5432)
    name = str(said.get("dbname") or said.get("user") or "")
    plain = (
        url.count("@") <= 1
        and all(map(_is_host, host.split(",")))
        and re.fullmatch(r"\d*(,\d*)*", port)
        and (not name or _NAME.fullmatch(name))
    )
    return f"PostgreSQL at {host}:{port}/{name}" if plain else _UNSHOWN


def _is_host(text: str) -> bool:
    if _NAME.fullmatch(text) or _SOCKETS.fullmatch(text):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def postgres_fault(error: psycopg.Error, where: str) -> StoreFault:
    """A fault for what PostgreSQL, or the way to it, reported. It is raised without its cause, whose text a trace of it
    would show."""
    code = error.sqlstate
    if code == "PL003":
        return Overtaken("another process has written since")
    if code == "PL004":
        return PersonForgottenError("its person was forgotten since it was asked")
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
    said = _reportable_text(error)
    return StoreFault(sentence.format(where=where) + (f" ({said})" if said else ""), kind)


def _reportable_text(error: psycopg.Error) -> str:
    """What may be told of what was reported: no text of a row, and nothing of the URL."""
    code, diag = error.sqlstate, error.diag
    if code is None:
        text = str(error)
        return next((reason for reason in _REASONS if reason in text), "")
    if not code.startswith(_QUOTING):
        return diag.message_primary or code
    places = (("constraint", diag.constraint_name), ("table", diag.table_name), ("column", diag.column_name))
    return ", ".join([code, *(f"{sort} {name}" for sort, name in places if name)])
