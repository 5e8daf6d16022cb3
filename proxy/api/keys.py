"""Keys of clients: issued to a user, listed without what they are, and revoked. For admins."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

from aiohttp import web

from memory.client_key import ClientKey
from memory.hooks.route_request import Fields, checked_text
from proxy.api.access import access
from proxy.api.params import body_of, memory_of
from proxy.api.responses import Json, answer
from proxy.auth.client_keys import new_client_key
from proxy.auth.tokens import hash_of
from proxy.caller import MAX_NAME_CHARS, name
from proxy.edge import EDGE
from proxy.errors import Refusal

routes = web.RouteTableDef()

FIELDS = {"name": str, "user": str, "org": str, "projects": list, "read_only": bool, "expires_at": str}


class KeyState(TypedDict):
    """Whether a key lets somebody in."""

    in_force: bool


class KeyText(TypedDict):
    """What a client sends."""

    key: str


IssuedKey = Annotated[dict[str, Any], Fields("IssuedKey", ClientKey, KeyState, without=("hash",))]
NewKey = Annotated[dict[str, Any], Fields("NewKey", IssuedKey, KeyText)]


class KeysList(TypedDict):
    """Every key that was issued."""

    keys: list[IssuedKey]


class RevokedKey(TypedDict):
    """The name of a key that was revoked."""

    revoked: str


@routes.get("/api/keys")
async def listed(request: web.Request) -> Json[KeysList]:
    """Every key that was issued to a client's user, and whether it is in force."""
    return answer({"keys": [_issued_json(key) for key in await memory_of(request).journal.client_keys()]})


@routes.post("/api/keys")
async def issued(request: web.Request) -> Json[NewKey]:
    """Issue a key: for a ``user``, of an ``org``, for ``projects`` or any, ``read_only``, until ``expires_at``. Its
    text is told once."""
    body = await body_of(request, FIELDS)
    projects = [name(str(each), "projects") for each in body.get("projects") or ["*"]]
    text = new_client_key()
    key = ClientKey(
        name=name(checked_text(body.get("name", ""), "name", True, MAX_NAME_CHARS), "name"),
        hash=hash_of(text),
        user=name(checked_text(body.get("user", ""), "user", True, MAX_NAME_CHARS), "user"),
        made_at=datetime.now(UTC),
        made_by=access().who,
        org=name(body["org"], "org") if body.get("org") else None,
        projects=tuple(projects),
        read_only=body.get("read_only", False),
        expires_at=_moment(body["expires_at"]) if body.get("expires_at") else None,
    )
    if key.user == "*":
        raise Refusal(422, "a key is for one user")
    if not await memory_of(request).journal.add_client_key(key):
        raise Refusal(409, f"there is a key {key.name!r} that was not revoked")
    request.app[EDGE].client_keys.issued(key)
    return answer(_issued_json(key) | {"key": text}, 201)


@routes.delete("/api/keys/{name}")
async def revoked(request: web.Request) -> Json[RevokedKey]:
    """Revoke a key: it lets nobody in any more, at once here and within a second on other servers."""
    called = request.match_info["name"]
    if not await memory_of(request).journal.revoke_client_key(called, datetime.now(UTC)):
        raise Refusal(404, f"there is no key {called[:MAX_NAME_CHARS]!r} that was not revoked")
    request.app[EDGE].client_keys.revoked(called)
    return answer({"revoked": called})


def _issued_json(key: ClientKey) -> IssuedKey:
    told = asdict(key)
    del told["hash"]
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
