"""Keys of clients: issued to a user, listed without what they are, and revoked; by admins for anybody, by members of an
organisation for themselves, by its owners for who joins it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.client_key import ClientKey, KeyScope
from memory.hooks.route_request import Fields, checked_text, choice
from memory.parts import Memory
from memory.scope import Scope
from proxy.api.access import access
from proxy.api.members import may_manage
from proxy.api.params import MEMBERS_UNTOLD, body_of, memory_of
from proxy.api.responses import Json, answer
from proxy.auth.client_keys import new_client_key
from proxy.auth.tokens import hash_of
from proxy.caller import MAX_NAME_CHARS, name
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal

routes = web.RouteTableDef()

FIELDS = {
    "name": str,
    "user": str,
    "org": str,
    "projects": list,
    "scopes": list,
    "read_only": bool,
    "expires_at": str,
}


class KeyState(TypedDict):
    """Whether a key lets somebody in."""

    in_force: bool


class KeyText(TypedDict):
    """What a client sends."""

    key: str


IssuedKey = Annotated[dict[str, Any], Fields("IssuedKey", ClientKey, KeyState, without=("hash", "member"))]
NewKey = Annotated[dict[str, Any], Fields("NewKey", IssuedKey, KeyText)]


class KeysList(TypedDict):
    """Every key that was issued."""

    keys: list[IssuedKey]


class RevokedKey(TypedDict):
    """The name of a key that was revoked."""

    revoked: str


@routes.get("/api/keys")
async def listed(request: web.Request) -> Json[KeysList]:
    """Every key that was issued to a client's user, and whether it is in force: a member is told of their own, an owner
    of those of their organisation."""
    return answer({"keys": [key_json(key) for key in await keys_seen(memory_of(request))]})


@routes.post("/api/keys")
async def issued(request: web.Request) -> Json[NewKey]:
    """Issue a key: for a ``user``, of an ``org``, for ``projects`` or any, ``read_only``, until ``expires_at``. Its
    ``scopes`` are `calls` (model calls, where none is named), `memory` (what is remembered, on our own endpoints and
    pages) and `members` (members and keys there). Its text is told once. A member issues their own, and an owner the
    first one of a member of whom nothing is known yet, none of which outlives the key by which it is issued."""
    body = await body_of(request, FIELDS)
    org, user = access().org, access().user
    if access().asker.everything:
        org = name(body["org"], "org") if body.get("org") else None
        user = name(checked_text(body.get("user", ""), "user", True, MAX_NAME_CHARS), "user")
    elif body.get("user"):
        user = name(body["user"], "user")
    text, key = await issue(
        request.app[EDGE],
        memory_of(request),
        name(checked_text(body.get("name", ""), "name", True, MAX_NAME_CHARS), "name"),
        user or "",
        org,
        projects=[name(str(each), "projects") for each in body.get("projects") or ["*"]],
        scopes=[choice(each, "scopes", KeyScope) for each in body.get("scopes") or [KeyScope.CALLS]],
        read_only=body.get("read_only", False),
        expires_at=_moment(body["expires_at"]) if body.get("expires_at") else None,
    )
    return answer(key_json(key) | {"key": text}, 201)


@routes.delete("/api/keys/{name}")
async def revoked(request: web.Request) -> Json[RevokedKey]:
    """Revoke a key: it lets nobody in any more, at once here and within a second on other servers."""
    called = request.match_info["name"]
    await revoke(request.app[EDGE], memory_of(request), called)
    return answer({"revoked": called})


async def keys_seen(memory: Memory) -> list[ClientKey]:
    """Every key that the asker may know of."""
    asker, every = access().asker, await memory.journal.client_keys()
    if asker.user is None:
        return every
    return [key for key in every if key.org == asker.org and (may_manage(key.org) or key.user == asker.user)]


async def issue(
    edge: Edge,
    memory: Memory,
    called: str,
    user: str,
    org: str | None,
    *,
    projects: Sequence[str] = ("*",),
    scopes: Sequence[KeyScope] = (KeyScope.CALLS,),
    read_only: bool = False,
    expires_at: datetime | None = None,
) -> tuple[str, ClientKey]:
    """Issue a key: its text, and what is kept of it. It ends with that by which it is issued, or before.

    Raises:
        Refusal: 403, when the asker may not issue it; 409, when there is one of its name, or its user is no member of
            an organisation that has members; 422, when it is for nobody; 503, when members cannot be looked up.
    """
    if user == "*":
        raise Refusal(422, "a key is for one user")
    if tuple(projects) != ("*",) and {*scopes} != {KeyScope.CALLS}:
        raise Refusal(422, "a key for some projects is for model calls alone: our own endpoints show all of a person's")
    await _check_may_issue(memory, user, org, scopes)
    text = new_client_key()
    membership = await edge.membership(org, user)
    if not membership.told:
        raise Refusal(503, MEMBERS_UNTOLD)
    key = ClientKey(
        name=called,
        hash=hash_of(text),
        user=user,
        made_at=datetime.now(UTC),
        made_by=access().asker.name,
        org=org,
        projects=tuple(projects),
        read_only=read_only,
        expires_at=_capped_expiry(expires_at),
        scopes=tuple(dict.fromkeys(scopes)),
        member=membership.member,
    )
    if not await memory.journal.add_client_key(key):
        if membership.organised and membership.member is None:
            raise Refusal(409, f"{user} is no member of {org}: palimpsest members add {user} --org {org}")
        raise Refusal(409, f"there is a key {called!r} that was not revoked")
    edge.client_keys.issued(key)
    return text, key


async def revoke(edge: Edge, memory: Memory, called: str) -> None:
    """Let a key open nothing any more.

    Raises:
        Refusal: 404, when the asker knows of none of this name that was not revoked.
    """
    known = [key for key in await keys_seen(memory) if key.name == called and key.revoked_at is None]
    if not known or not await memory.journal.revoke_client_key(called, datetime.now(UTC)):
        raise Refusal(404, f"there is no key {called[:MAX_NAME_CHARS]!r} that was not revoked")
    edge.client_keys.revoked(called)


async def _check_may_issue(memory: Memory, user: str, org: str | None, scopes: Sequence[KeyScope]) -> None:
    asker, of = access().asker, access()
    if asker.everything:
        return
    if of.scopes is not None and (more := [scope for scope in scopes if scope not in of.scopes]):
        raise Refusal(403, f"the key {of.who!r} is not for {' and '.join(more)}, and issues none that is")
    if user == asker.user:
        return
    if not may_manage(org):
        raise Refusal(403, "you issue keys for yourself; who joins is given the first one by an owner")
    # Who has somebody's key is that person for memory, and is told what that person has said.
    share = await memory.journal.share_of(Scope(org, user))
    if share.rows.keys() - {"members"}:
        raise Refusal(403, f"{user} is known here, and issues keys for themselves")


def _capped_expiry(wanted: datetime | None) -> datetime | None:
    """When a key ends that is to end at a moment, or never: who comes with a key does not outstay it by another."""
    ends = None if access().asker.everything else access().expires_at
    return min(filter(None, (wanted, ends)), default=None)


def key_json(key: ClientKey) -> IssuedKey:
    """A key as JSON tells it: without what it is."""
    told = asdict(key)
    del told["hash"], told["member"]
    return told | {"in_force": key.in_force(datetime.now(UTC))}


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Refusal(422, "expires_at is no moment, as 2026-03-01T12:00:00+00:00") from None
    if at.tzinfo is None:
        raise Refusal(422, "expires_at has no offset from UTC")
    if at <= datetime.now(UTC):
        raise Refusal(422, "expires_at is over")
    return at
