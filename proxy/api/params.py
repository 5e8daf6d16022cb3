"""What a request asks for, checked: whole or refused with a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from enum import StrEnum
from typing import Any, Final, TypeVar

import orjson
from aiohttp import web

from memory.candidate import undecided
from memory.fact import Fact, Passage
from memory.hooks.route_request import checked_id, checked_text, choices
from memory.parts import Memory
from memory.provenance import owner_before, quarantined
from memory.research import QUESTIONS, TRAILS, index_owners
from memory.scope import Layer, Scope, owned_by, place_of
from memory.services.person.commands import Ambiguous, NotFound
from memory.session import Mode
from memory.visibility import only
from proxy.api.access import Access, access, is_change
from proxy.caller import name, without_secrets
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

LARGEST = 2**20
"""Bytes of a body."""

MAINTAINED: Final = "you may not change what is its owner's: many share it, or you only read in that project"

MEMBERS_UNTOLD: Final = (
    "what you may change cannot be told just now: members cannot be looked up, the journal does not answer; "
    "try again in a moment"
)

MOST = 1000
"""How much one answer lists."""


def memory_of(request: web.Request) -> Memory:
    """The open memory.

    Raises:
        Refusal: 503, when there is none at the moment.
    """
    edge = request.app[EDGE]
    if edge.memory is None:
        raise Refusal(503, _why_closed(edge))
    return edge.memory


def _why_closed(edge: Edge) -> str:
    if edge.settings.memory.mode is Mode.OFF and not edge.standby:
        return "memory is switched off (memory.mode)"
    return f"memory cannot be asked: {edge.standby or edge.memory_fault or 'it is not open yet'}"


def why_untold(edge: Edge, of: Access) -> str:
    """Why it cannot be told what somebody may change; empty where it can."""
    if of.membership.told:
        return ""
    return MEMBERS_UNTOLD if edge.memory is not None else _why_closed(edge)


def scope_of(request: web.Request) -> Scope:
    """Whose memories are meant: ``?user=``, ``?org=`` and ``?project=``, else the settings' own."""
    edge, by = request.app[EDGE], access()
    names = {key: name(request.query[key], key) for key in ("org", "user", "project") if key in request.query}
    own = {"org": edge.settings.org, "user": edge.settings.user}
    if by.user is not None:
        own = {"org": by.org, "user": by.user}
        for key, value in own.items():
            if names.get(key, value) != value:
                raise Refusal(403, f"the token {by.who!r} is not for that {key}")
    scope = Scope(names.get("org", own["org"]), names.get("user", own["user"]), names.get("project"))
    return without_secrets(scope, edge.identity_key)


def taught(scope: Scope) -> Scope:
    """A scope in which who asks has something learnt, or brings something in.

    Raises:
        Refusal: 403, when they only read there.
    """
    if not access().asker.writes(scope.project):
        raise Refusal(403, _only_reads(scope))
    return scope


def person_of(request: web.Request) -> Scope | None:
    """Whose requests and sessions are meant: those of the person whom the query names; None for everybody's."""
    named = request.query.keys() & {"user", "org"} or access().user is not None
    return scope_of(request) if named else None


async def reads_of(request: web.Request, of: Access) -> AbstractContextManager[None]:
    """What may be read while a request is answered: for a user's token only what is theirs. What changes something
    looks at everybody's, so that it takes nobody's place."""
    edge = request.app[EDGE]
    if of.user is None or edge.memory is None or request.method not in ("GET", "HEAD"):
        return nullcontext()
    scope = without_secrets(Scope(of.org, of.user, request.query.get("project")), edge.identity_key)
    return only((*scope.owners(), *await edge.memory.commands.everything_of(scope)))


async def seen_owners(request: web.Request) -> tuple[str, ...]:
    """The owners that are meant: of one project and of what holds in all, or all of a person's."""
    scope = scope_of(request)
    return scope.owners() if scope.project else await memory_of(request).commands.everything_of(scope)


async def owners_of(request: web.Request, ids: Sequence[str] = ()) -> tuple[str, ...]:
    """Of the owners that are meant those whose memories a request may change, where it changes anything.

    Raises:
        Refusal: as :func:`changeable`.
    """
    return await changeable(request, await seen_owners(request), ids)


async def changeable(request: web.Request, owners: tuple[str, ...], ids: Sequence[str] = ()) -> tuple[str, ...]:
    """Of some owners those whose memories a request may change; all of them where it changes nothing. ``ids`` are of
    the memories that it is about, beside the one in its path.

    Raises:
        Refusal: 403, when one of these is of an owner whose memories may be seen and not changed. What may not be seen
            is left to whoever looks for it and finds nothing.
    """
    if not is_change(request.method, request.path):
        return owners
    asker = access().asker
    mine = tuple(owner for owner in owners if asker.changes(owner))
    if mine != owners:
        every = [*ids, *filter(None, (request.match_info.get("id"),))]
        for id in every:
            if (found := await _found(request, id, mine, owners)) is not None:
                raise Refusal(403, _why_unchanged(owner_before(found.owner)))
    return mine


async def _found(request: web.Request, id: str, mine: Sequence[str], seen: Sequence[str]) -> Fact | Passage | None:
    """The memory that an id names, where it is not among those of ``mine``, and is among those that are ``seen``."""
    commands = memory_of(request).commands
    try:
        await commands.named([id], _shelves(mine))
    except NotFound:
        with suppress(NotFound, Ambiguous):
            return await commands.memory(id, _shelves(seen))
    except Ambiguous:
        pass
    return None


def _shelves(owners: Sequence[str]) -> tuple[str, ...]:
    every = (*owners, *index_owners(owners, QUESTIONS), *index_owners(owners, TRAILS))
    return (*every, *quarantined(every))


def _why_unchanged(owner: str) -> str:
    place = place_of(owner.removeprefix(QUESTIONS).removeprefix(TRAILS))
    if place is None or place[1] in (Layer.PROJECT, Layer.ORG):
        return "it is shared with others, and only their maintainers change it"
    return _only_reads(place[0])


def _only_reads(scope: Scope) -> str:
    return f"you may only read in {scope.project or scope.org}"


def as_told(record: T) -> T | dict[str, Any]:
    """A record as it is taken from who asks: who runs the server alone brings along what was decided elsewhere."""
    if isinstance(record, dict) and record.get("sort") == "candidate" and not access().asker.everything:
        return undecided(record)
    return record


def is_maintained(record: object, scope: Scope) -> bool:
    """Whether a record is of what who asks may not change: they do not maintain it, or only read there."""
    owner = record.get("owner") if isinstance(record, dict) else None
    place = owned_by(owner, scope) if isinstance(owner, str) else None
    return place is not None and not access().asker.changes(place[0].owner(place[1]) or "")


def query_text(request: web.Request, key: str, required: bool = False) -> str:
    """A text in the query."""
    return checked_text(request.query.get(key, ""), key, required)


def query_limit(request: web.Request, default: int, key: str = "limit") -> int:
    """``?limit=``, or another number, from 1 to :data:`MOST`."""
    text = request.query.get(key)
    if text is None:
        return default
    # int() takes "1_000", " 7 " and digits of other scripts; a limit is plain digits.
    if not (text.isascii() and text.isdigit() and len(text) < 7 and 1 <= int(text) <= MOST):
        raise Refusal(422, f"{key} is {text[:40]!r}; it is a number from 1 to {MOST}")
    return int(text)


def query_choices(request: web.Request, key: str, of: type[E]) -> frozenset[E]:
    """Values of a list, ``?kind=decision,preference``; all of them where none is named."""
    return choices(request.query.get(key, ""), key, of)


def id_of(request: web.Request) -> str:
    """The id in the path, or the beginning of one."""
    return checked_id(request.match_info["id"])


async def body_of(request: web.Request, fields: Mapping[str, type]) -> dict[str, Any]:
    """The JSON object in the body with fields of these types; any may be missing, others may not be there."""
    if (request.content_length or 0) > LARGEST:
        raise Refusal(413, f"the body has more than {LARGEST} bytes")
    data = bytearray()
    async for chunk in request.content.iter_any():
        data.extend(chunk)
        if len(data) > LARGEST:
            raise Refusal(413, f"the body has more than {LARGEST} bytes")
    try:
        payload = orjson.loads(bytes(data)) if data.strip() else {}
    except orjson.JSONDecodeError as error:
        raise Refusal(400, f"the body is not JSON: {error}") from None
    if not isinstance(payload, dict):
        raise Refusal(400, "the body is not a JSON object")
    for key, value in payload.items():
        if key not in fields:
            raise Refusal(422, f"there is no field {key[:40]!r} here; there are: {', '.join(fields) or 'none'}")
        if not isinstance(value, fields[key]):
            raise Refusal(422, f"{key} is not a {_TYPES.get(fields[key], fields[key].__name__)}")
    return payload


_TYPES = {str: "text", bool: "boolean", list: "list", dict: "JSON object"}
