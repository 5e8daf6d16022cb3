"""A key that was issued to a client's user: what it lets in, until when. Of the key itself only a hash is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory.member import Member


class KeyScope(StrEnum):
    """What a key is for: model calls; what is remembered, on our own endpoints and pages; members and keys there, as
    far as its user's role goes."""

    CALLS = "calls"
    MEMORY = "memory"
    MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class ClientKey:
    """One key. ``hash`` is that of its text; ``projects`` are names, ``*`` for any; ``made_by`` is who issued it;
    ``member`` is its user in their organisation, None where they are none."""

    name: str
    hash: str
    user: str
    made_at: datetime
    made_by: str
    org: str | None = None
    projects: tuple[str, ...] = ("*",)
    read_only: bool = False
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    scopes: tuple[KeyScope, ...] = (KeyScope.CALLS,)
    member: Member | None = None

    def in_force(self, now: datetime) -> bool:
        """Whether it lets anybody in."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class KeysAndMembers:
    """Every key that was issued, in force or not, and every member of an organisation."""

    keys: tuple[ClientKey, ...] = ()
    members: tuple[Member, ...] = ()
