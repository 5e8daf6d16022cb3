"""A member of an organisation: which role they have in it, and in single projects of it.

An organisation that has members has an owner among them. Who asks for something is an :class:`Asker`, who may do what
their role allows; who runs the server may do everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.scope import Layer, place_of


class MemberRole(StrEnum):
    """What a member may do, each what those behind it may as well: manage members and keys; approve for others; learn,
    and submit candidates to the maintainers; be given what is known."""

    OWNER = "owner"
    MAINTAINER = "maintainer"
    MEMBER = "member"
    READ_ONLY = "read-only"


PROJECT_ROLES: Final = (MemberRole.MAINTAINER, MemberRole.MEMBER, MemberRole.READ_ONLY)
"""The roles that one may have in a single project: an owner is one of the whole organisation."""


class Releaser(StrEnum):
    """Who may release what is in quarantine, those first who may least, as it stands in the owner: whoever may change
    it, an owner of its organisation, who runs the server."""

    CHANGER = ""
    ORG_OWNER = "org-owner/"
    SERVER = "server/"


@dataclass(frozen=True, slots=True)
class Member:
    """One member. ``projects`` are the roles that stand in the place of ``role`` in single projects, by their names;
    ``added_by`` is who made them a member."""

    org: str
    user: str
    role: MemberRole
    added_at: datetime
    added_by: str
    projects: Mapping[str, MemberRole] = field(default_factory=dict)

    def role_in(self, project: str | None) -> MemberRole:
        """The role in a project; None for the organisation as a whole."""
        if self.role is MemberRole.OWNER or project is None:
            return self.role
        return self.projects.get(project, self.role)

    def maintains(self, project: str | None) -> bool:
        """Whether they decide what holds for all in a project, or (None) in the organisation."""
        return self.role_in(project) in (MemberRole.OWNER, MemberRole.MAINTAINER)

    @property
    def reads_only(self) -> bool:
        """Whether they may change nothing, in whatever project."""
        return {self.role, *self.projects.values()} == {MemberRole.READ_ONLY}


@dataclass(frozen=True, slots=True)
class Membership:
    """What somebody is in an organisation: its ``member``, if they are one. ``organised`` is whether it has members at
    all, ``told`` whether this could be found out."""

    member: Member | None = None
    organised: bool = False
    told: bool = True

    @property
    def belongs(self) -> bool:
        """Whether what the organisation's projects share is for them: they are a member, or it has no members."""
        return self.told and (self.member is not None or not self.organised)


NO_MEMBERS: Final = Membership()
"""That of anybody where an organisation has no members, or there is none."""

UNTOLD: Final = Membership(organised=True, told=False)
"""What is known while members cannot be looked up: nobody has the rights of a member, and there may be some."""


class MemberRefused(Exception):
    """Members cannot be changed so; the message says why. ``missing`` is whether there is no such member."""

    def __init__(self, message: str, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: by a ``name`` that decisions are told with, as a ``user`` of an ``org`` (None for who runs the server,
    who may do ``everything``), and what they are in it."""

    name: str = ""
    everything: bool = True
    user: str | None = None
    org: str | None = None
    membership: Membership = NO_MEMBERS

    @property
    def member(self) -> Member | None:
        """The member that they are of their organisation."""
        return self.membership.member

    def owns(self, owner: str) -> bool:
        """Whether memories of an owner are this person's own, and nobody else's."""
        if self.everything:
            return True
        place = place_of(owner)
        if place is None or place[1] not in (Layer.USER, Layer.USER_PROJECT):
            return False
        return (place[0].org, place[0].user) == (self.org, self.user)

    def approves(self, owner: str, layer: Layer) -> bool:
        """Whether they decide whether what bears out a candidate of an ``owner`` is to hold for a ``layer``."""
        if self.everything:
            return True
        place = place_of(owner)
        if place is None or self.member is None or place[0].org != self.member.org:
            return False
        return self.member.maintains(place[0].project if layer is Layer.PROJECT else None)

    def writes(self, project: str | None) -> bool:
        """Whether they may teach and change what is their own in a project, or (None) in all of them."""
        return self.everything or self.member is None or self.member.role_in(project) is not MemberRole.READ_ONLY

    def released_by(self, owner: str) -> Releaser:
        """Who may release what this person puts into quarantine of an owner: their own they may themselves whatever
        they become, and of what many share whoever may as much as they."""
        if self.everything:
            return Releaser.SERVER
        owned = self.member is not None and self.member.role is MemberRole.OWNER and not self.owns(owner)
        return Releaser.ORG_OWNER if owned else Releaser.CHANGER

    def releases(self, owner: str) -> tuple[Releaser, ...]:
        """What they may release of what they may change of an owner, by who may."""
        return tuple(Releaser)[: tuple(Releaser).index(self.released_by(owner)) + 1]

    def changes(self, owner: str) -> bool:
        """Whether they may teach or change memories of an owner: of what many share only what they maintain, of their
        own what is not in a project in which they only read. In an organisation without members nobody maintains
        anything, and nobody is kept from it here."""
        place, member = place_of(owner), self.member
        if self.everything or place is None:
            return True
        if place[1] in (Layer.USER, Layer.USER_PROJECT):
            return self.writes(place[0].project)
        if not self.membership.organised:
            return True
        return member is not None and place[0].org == member.org and member.maintains(place[0].project)
