"""Members of organisations: listed by whoever is one, added, given roles and removed by owners and by admins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypedDict

from aiohttp import web

from memory.hooks.route_request import checked_text, choice
from memory.member import PROJECT_ROLES, Member, MemberRefused, MemberRole
from memory.parts import Memory
from memory.scope import Scope
from proxy.api.access import access
from proxy.api.params import body_of, memory_of, scope_of
from proxy.api.person import settings_of_person, without_tokens
from proxy.api.responses import Json, answer
from proxy.caller import MAX_NAME_CHARS, name
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal

routes = web.RouteTableDef()


class MembersList(TypedDict):
    """The members of an organisation, and the organisations that have any, as far as the asker may know them. ``named``
    are those whom the settings' credentials name for it and who are no members (``*`` is whomever a request names),
    told to who may add them: where it has members they have no memory."""

    org: str | None
    members: list[Member]
    organisations: list[str]
    named: list[str]


class RemovedMember(TypedDict):
    """Who was removed, or the project in which they have no role of their own any more; the names of the keys and
    tokens that open nothing any more, and sentences about what stays."""

    removed: str
    project: str | None
    keys: list[str]
    tokens: list[str]
    stays: list[str]


@routes.get("/api/members")
async def listed(request: web.Request) -> Json[MembersList]:
    """``?org=…``: the members of an organisation, with their roles in it and in single projects."""
    memory, org, asker = memory_of(request), scope_of(request).org, access().asker
    members = await memory.journal.members(org) if org else []
    organisations = await memory.journal.organisations() if asker.everything else [org] if org and members else []
    named = named_only(request.app[EDGE], org, members)
    return answer({"org": org, "members": members, "organisations": organisations, "named": named})


@routes.post("/api/members")
async def added(request: web.Request) -> Json[Member]:
    """``?org=…``: make a ``user`` a member, in a ``role`` (owner, maintainer, member or read-only; without it: member).
    The first one of an organisation is its owner."""
    body = await body_of(request, {"user": str, "role": str})
    user = name(checked_text(body.get("user", ""), "user", True, MAX_NAME_CHARS), "user")
    role = choice(body.get("role", MemberRole.MEMBER), "role", MemberRole)
    made = await add_member(request.app[EDGE], memory_of(request), managed(scope_of(request)), user, role)
    return answer(made, 201)


@routes.patch("/api/members/{user}")
async def given_role(request: web.Request) -> Json[Member]:
    """``?org=…``: give a member another ``role``, in the organisation or in a ``project`` of it."""
    body = await body_of(request, {"role": str, "project": str})
    project = checked_text(body.get("project", ""), "project", False, MAX_NAME_CHARS)
    role = choice(body.get("role"), "role", MemberRole)
    org, user = managed(scope_of(request)), request.match_info["user"]
    return answer(await set_role(request.app[EDGE], memory_of(request), org, user, role, project))


@routes.delete("/api/members/{user}")
async def removed(request: web.Request) -> Json[RemovedMember]:
    """``?org=…``: somebody is no member any more, and their keys and tokens open nothing. With ``project`` only their
    role in it goes, and that in the organisation holds there too. What they taught stays: see `/api/person/forget`."""
    scope, user = scope_of(request), request.match_info["user"]
    return answer(await remove_member(request.app[EDGE], memory_of(request), managed(scope), user, scope.project))


def named_only(edge: Edge, org: str | None, members: Sequence[Member]) -> list[str]:
    """Whom the settings' credentials name for an organisation who are none of its members, as far as the asker may know
    of them."""
    if not may_manage(org):
        return []
    known = {each.user for each in members}
    named = (entry.user for entry in edge.settings.credentials if org is not None and entry.org == org)
    return sorted({user for user in named if user not in known})


def managed(scope: Scope) -> str:
    """The organisation of which the asker may change the members.

    Raises:
        Refusal: 422, when none is named; 403, when they may not.
    """
    if not scope.org:
        raise Refusal(422, "say of which organisation: ?org=…, at the command line --org")
    if not may_manage(scope.org):
        raise Refusal(403, f"the members of {scope.org} are managed by its owners")
    return scope.org


def may_manage(org: str | None) -> bool:
    """Whether the asker may change the members of an organisation, and issue keys there."""
    asker = access().asker
    held = asker.member
    return asker.everything or (held is not None and (held.org, held.role) == (org, MemberRole.OWNER))


async def add_member(edge: Edge, memory: Memory, org: str, user: str, role: MemberRole) -> Member:
    """Make somebody a member.

    Raises:
        Refusal: 409, when they are one, or would be the first one and no owner.
    """
    member = Member(org, user, role, edge.now(), access().asker.name)
    try:
        await memory.journal.add_member(member)
    except MemberRefused as error:
        raise _refusal(error) from None
    edge.client_keys.member_changed(member)
    return member


async def set_role(edge: Edge, memory: Memory, org: str, user: str, role: MemberRole, project: str) -> Member:
    """Give a member another role, in the organisation, or in a project where one is named.

    Raises:
        Refusal: 404, when there is no such member; 409, when nobody would be the owner any more; 422, when there is no
            such role in a project.
    """
    if project and role not in PROJECT_ROLES:
        raise Refusal(422, f"in a project one is {', '.join(PROJECT_ROLES[:-1])} or {PROJECT_ROLES[-1]}")
    try:
        member = await memory.journal.set_role(org, user, role, edge.now(), access().asker.name, project)
    except MemberRefused as error:
        raise _refusal(error) from None
    edge.client_keys.member_changed(member)
    return member


async def remove_member(edge: Edge, memory: Memory, org: str, user: str, project: str | None) -> RemovedMember:
    """Somebody is no member any more, or (in a ``project``) has no role of their own there.

    Raises:
        Refusal: 404, when there is no such member, or no such role; 409, when others would be left without an owner.
    """
    try:
        keys = await memory.journal.remove_member(org, user, edge.now(), project or "")
    except MemberRefused as error:
        raise _refusal(error) from None
    person = Scope(org, user)
    if project and (left := await memory.journal.member(org, user)) is not None:
        edge.client_keys.member_changed(left)
    if not project:
        edge.client_keys.member_removed(org, user)
    for each in keys:
        edge.client_keys.revoked(each)
    tokens = [] if project else await asyncio.to_thread(without_tokens, edge, person)
    stays = [] if project else await settings_of_person(edge, memory, person)
    return {"removed": user, "project": project, "keys": keys, "tokens": tokens, "stays": stays}


def _refusal(error: MemberRefused) -> Refusal:
    return Refusal(404 if error.missing else 409, str(error))
