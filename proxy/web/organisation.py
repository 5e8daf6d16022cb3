"""An organisation: its members and their roles, keys, and what was approved for all in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from memory.client_key import KeyScope
from memory.hooks.route_request import choice
from memory.member import PROJECT_ROLES, MemberRole
from proxy.api.keys import issue, key_json, keys_seen, revoke
from proxy.api.members import add_member, managed, may_manage, named_only, remove_member, set_role
from proxy.caller import MAX_NAME_CHARS, name
from proxy.errors import Refusal
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

PATH = "organisation"

MOST_DAYS = 3650
"""Days that a key may be issued for."""


async def organisation(visit: PageVisit) -> web.StreamResponse:
    """``?org=…``: the one that is meant; without it the settings', or that of whose token it is."""
    return await _shown(visit, {})


async def _shown(visit: PageVisit, made: Mapping[str, Any]) -> web.StreamResponse:
    """The page; with the text of a key that was ``made`` just now, which is told this once."""
    journal, org, asker = visit.memory.journal, visit.scope.org, visit.access.asker
    # A key for members alone opens nothing of what is remembered.
    opens = visit.access.scopes is None or KeyScope.MEMORY in visit.access.scopes
    rules = (await visit.ask("GET", "rules", everything=True))["rules"] if opens else None
    keys = [key_json(key) for key in await keys_seen(visit.memory) if key.org == org and key.revoked_at is None]
    members = await journal.members(org) if org else []
    return await show(
        visit,
        "organisation.html",
        "Organisation",
        org=org,
        asked=visit.query("org"),
        organisations=await journal.organisations() if asker.everything else [],
        members=members,
        named=named_only(visit.edge, org, members),
        manages=may_manage(org),
        asker=asker,
        roles=[role.value for role in MemberRole],
        project_roles=[role.value for role in PROJECT_ROLES],
        scopes=[scope.value for scope in visit.access.scopes or KeyScope],
        keys=keys,
        rules=rules,
        made=made,
    )


async def add(visit: PageVisit) -> web.StreamResponse:
    """``user=…&role=…``: make somebody a member."""
    org, user = managed(visit.scope), name(visit.filled("user", True, MAX_NAME_CHARS), "user")
    member = await add_member(visit.edge, visit.memory, org, user, choice(visit.filled("role"), "role", MemberRole))
    return _back(visit, f"{user} is {member.role} of {org}.")


async def give_role(visit: PageVisit) -> web.StreamResponse:
    """``role=…&project=…``: give a member another role, in the organisation, or in a project."""
    org, user, project = managed(visit.scope), visit.request.match_info["user"], visit.filled("project")
    role = choice(visit.filled("role"), "role", MemberRole)
    await set_role(visit.edge, visit.memory, org, user, role, project)
    return _back(visit, f"{user} is {role} {'in ' + project if project else 'of ' + org}.")


async def remove(visit: PageVisit) -> web.StreamResponse:
    """``project=…``: take a member's role in a project away; without it, the member."""
    org, user, project = managed(visit.scope), visit.request.match_info["user"], visit.filled("project")
    done = await remove_member(visit.edge, visit.memory, org, user, project or None)
    if project:
        return _back(visit, f"{user} has no role of their own in {project}.")
    gone = ", ".join((*done["keys"], *done["tokens"]))
    told = f"{user} is no member any more." + (f" These open nothing any more: {gone}." if gone else "")
    return _back(visit, " ".join((told, *done["stays"])))


async def issue_key(visit: PageVisit) -> web.StreamResponse:
    """``name=…&user=…&days=…`` and a field for each scope: issue a key, and show it once."""
    asker, days = visit.access.asker, visit.filled("days")
    text, key = await issue(
        visit.edge,
        visit.memory,
        name(visit.filled("name", True, MAX_NAME_CHARS), "name"),
        name(visit.filled("user", True, MAX_NAME_CHARS), "user"),
        visit.scope.org if asker.everything else asker.org,
        scopes=[scope for scope in KeyScope if visit.filled(scope)] or [KeyScope.CALLS],
        read_only=bool(visit.filled("read_only")),
        expires_at=visit.now + timedelta(days=_whole_days(days)) if days else None,
    )
    return await _shown(visit, {"name": key.name, "text": text})


async def revoke_key(visit: PageVisit) -> web.StreamResponse:
    """Let a key open nothing any more."""
    called = visit.request.match_info["name"]
    await revoke(visit.edge, visit.memory, called)
    return _back(visit, f"{called} opens nothing any more.")


def _whole_days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= MOST_DAYS):
        raise Refusal(422, f"days is a number from 1 to {MOST_DAYS}")
    return int(text)


def _back(visit: PageVisit, notice: str) -> web.Response:
    org = visit.query("org")
    return visit.sent_to(f"{PATH}?{urlencode({'org': org})}" if org else PATH, notice)
