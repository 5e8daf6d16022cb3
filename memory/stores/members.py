"""The members of organisations, in the journal's database: every server on it knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import groupby
from typing import Final, TypeVar

from memory.member import Member, MemberRefused, MemberRole, Membership
from memory.stores.base import JournalPart
from memory.stores.connection import Connection, Row
from memory.stores.queries import QUERIES

T = TypeVar("T")

WHOLE: Final = ""
"""What stands in the place of a project's name where a role is one in the whole organisation."""


class MemberStore(JournalPart):
    """The part of the journal that knows who is a member of which organisation."""

    async def organisations(self) -> list[str]:
        """Those that have members."""

        def work(connection: Connection) -> list[str]:
            return [row["org"] for row in connection.execute(QUERIES["members_orgs"])]

        return await self._db.read(work)

    async def members(self, org: str) -> list[Member]:
        """The members of an organisation, by their names."""
        return await self._db.read(lambda connection: _members(connection, org))

    async def member(self, org: str, user: str) -> Member | None:
        """Somebody as a member of an organisation; None where they are none."""
        return await self._db.read(lambda connection: _member(connection, org, user))

    async def membership(self, org: str, user: str) -> Membership:
        """What somebody is in an organisation."""

        def work(connection: Connection) -> Membership:
            member = _member(connection, org, user)
            if member is not None:
                return Membership(member, organised=True)
            return Membership(organised=connection.execute(QUERIES["members_any"], (org,)).fetchone() is not None)

        return await self._db.read(work)

    async def add_member(self, member: Member) -> None:
        """Make somebody a member of an organisation, in the role that they have in the whole of it.

        Raises:
            MemberRefused: when they are one already, or would be the first one and no owner.
        """

        def work(connection: Connection) -> MemberRefused | None:
            known = {each.user: each for each in _members(connection, member.org)}
            if member.user in known:
                return MemberRefused(f"{member.user} is a member of {member.org} already ({known[member.user].role})")
            if not known and member.role is not MemberRole.OWNER:
                return MemberRefused(f"{member.org} has no members yet: the first one is its owner (--role owner)")
            _set(connection, member, WHOLE, member.role)
            return None

        await self._change(work)

    async def set_role(
        self, org: str, user: str, role: MemberRole, at: datetime, by: str, project: str = WHOLE
    ) -> Member:
        """Give a member another role, in the organisation or in a project of it: the member as they are then.

        Raises:
            MemberRefused: when there is no such member, or nobody would be the owner any more.
        """

        def work(connection: Connection) -> Member | MemberRefused:
            known = {each.user: each for each in _members(connection, org)}
            held = known.get(user)
            if held is None:
                return _no_member(org, user)
            if project == WHOLE and role is not MemberRole.OWNER and _is_only_owner(held, known.values()):
                return MemberRefused(f"{user} is the only owner of {org}: name another one first")
            _set(connection, Member(org, user, role, at, by), project, role)
            return _member(connection, org, user) or _no_member(org, user)

        return await self._change(work)

    async def remove_member(self, org: str, user: str, at: datetime, project: str = WHOLE) -> list[str]:
        """Somebody is no member of an organisation any more, and no key of theirs there lets anybody in: the names of
        those that did. With a ``project`` only their role in it goes, and that in the organisation holds there too.

        Raises:
            MemberRefused: when there is no such member, or there were others left and no owner among them.
        """
        revoked: list[str] = []

        def work(connection: Connection) -> MemberRefused | None:
            revoked.clear()
            known = {each.user: each for each in _members(connection, org)}
            held = known.get(user)
            if held is None or (project != WHOLE and project not in held.projects):
                return _no_member(org, user, project)
            if project != WHOLE:
                connection.execute(QUERIES["member_drop_project"], (org, user, project))
                return None
            if len(known) > 1 and _is_only_owner(held, known.values()):
                return MemberRefused(f"{user} is the only owner of {org}: name another one first")
            revoked.extend(row["name"] for row in connection.execute(QUERIES["member_keys"], (org, user)))
            connection.execute(QUERIES["member_keys_revoke"], (at.isoformat(), org, user))
            connection.execute(QUERIES["member_drop"], (org, user))
            return None

        await self._change(work)
        return revoked

    async def _change(self, work: Callable[[Connection], T | MemberRefused]) -> T:
        done = await self._db.write(work, anywhere=True)
        if isinstance(done, MemberRefused):
            raise done
        return done


def member_of(rows: Iterable[Row]) -> Member | None:
    """A member out of the rows of their roles; None where none of these is one in the whole organisation."""
    every = list(rows)
    whole = next((row for row in every if row["project"] == WHOLE), None)
    if whole is None:
        return None
    return Member(
        whole["org"],
        whole["user"],
        MemberRole(whole["role"]),
        datetime.fromisoformat(whole["added_at"]),
        whole["added_by"],
        {row["project"]: MemberRole(row["role"]) for row in every if row["project"] != WHOLE},
    )


def members_of(rows: Iterable[Row]) -> list[Member]:
    """Members out of the rows of their roles, of which those of one stand together."""
    found = [member_of(theirs) for _, theirs in groupby(rows, lambda row: (row["org"], row["user"]))]
    return [each for each in found if each is not None]


def _members(connection: Connection, org: str) -> list[Member]:
    return members_of(connection.execute(QUERIES["members_of"], (org,)).fetchall())


def _member(connection: Connection, org: str, user: str) -> Member | None:
    return member_of(connection.execute(QUERIES["member_get"], (org, user)).fetchall())


def _is_only_owner(member: Member, known: Iterable[Member]) -> bool:
    return [each.user for each in known if each.role is MemberRole.OWNER] == [member.user]


def _set(connection: Connection, member: Member, project: str, role: MemberRole) -> None:
    row = {
        "org": member.org,
        "user": member.user,
        "project": project,
        "role": role.value,
        "at": member.added_at.isoformat(),
        "by": member.added_by,
    }
    connection.execute(QUERIES["member_set"], row)


def _no_member(org: str, user: str, project: str = WHOLE) -> MemberRefused:
    where = f"{user} has no role of their own in {project}" if project else f"{user} is no member of {org}"
    return MemberRefused(where, missing=True)
