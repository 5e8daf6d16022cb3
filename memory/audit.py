"""Who asked what of memory, for the audit log: no text of any memory, and none that was looked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One question to our own endpoints. ``what`` is its method and path without names, ``memory`` the id in it,
    ``user`` whom the token is for, empty for everybody."""

    at: datetime
    who: str
    what: str
    memory: str = ""
    user: str = ""
    status: int = 200
