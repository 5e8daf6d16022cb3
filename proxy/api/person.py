"""One person everywhere: what is held of them, given out or deleted. For admins."""

from __future__ import annotations

import asyncio
from typing import Final, TypedDict

import orjson
from aiohttp import web

from memory.parts import Memory
from memory.scope import Scope
from memory.services.person.whole_person import ErasedPerson, stays
from memory.services.reindexing import ReindexInProgress
from proxy.api.embedder import begin_reindex
from proxy.api.params import MOST, memory_of, query_limit, scope_of
from proxy.api.responses import Json, answer
from proxy.auth import tokens
from proxy.auth.tokens import ApiToken
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal

routes = web.RouteTableDef()

_MOST_ROWS: Final = 10**9
_IN_INDEX: Final = (
    "the names of their projects may stand in the index's files until it is made anew (`palimpsest reindex`)"
)


class PersonReport(TypedDict):
    """What is held of a person: their ``owners``, how many rows of each table go (``would_go``) and how many stay
    (``would_stay``), how many shared facts go with them (``shared_alone``) or stay (``shared_with_others``), how much
    ``research`` of their sub-agents goes, names of the ``keys`` and ``tokens`` that go, which ``tables`` are given out,
    and what ``stays``, and why."""

    org: str | None
    user: str
    owners: list[str]
    would_go: dict[str, int]
    would_stay: dict[str, int]
    shared_alone: int
    shared_with_others: int
    research: int
    keys: list[str]
    tokens: list[str]
    tables: list[str]
    stays: list[str]


class PersonForgotten(TypedDict):
    """What went of a person: rows of each table, shared facts, research, keys, tokens and files; what ``stays``, and
    why; and what could not be done (``faults``). ``reindexing``: the index is being made anew, in whose files names of
    owners stand until then."""

    forgotten: dict[str, int]
    shared: int
    research: int
    keys: list[str]
    tokens: list[str]
    files: list[str]
    stays: list[str]
    faults: list[str]
    scrubbed: bool
    reindexing: bool


@routes.get("/api/person")
async def report(request: web.Request) -> Json[PersonReport]:
    """``?user=…&org=…``: what is held of this person in all projects, what of it would go, and what would stay."""
    person, edge, memory = _named_person(request), request.app[EDGE], memory_of(request)
    share = await memory.whole_person.share(person)
    return answer(
        {
            "org": person.org,
            "user": person.user or "",
            "owners": list(share.owners),
            "would_go": dict(share.rows),
            "would_stay": dict(share.kept),
            "shared_alone": len(share.alone),
            "shared_with_others": len(share.with_others),
            "research": len(share.research),
            "keys": list(share.keys),
            "tokens": [token.name for token in _tokens_of(edge, person)],
            "tables": list(share.tables),
            "stays": [*stays(share), *await settings_of_person(edge, memory, person)],
        }
    )


@routes.get("/api/person/{table}")
async def rows(request: web.Request) -> web.Response:
    """``?user=…&org=…&after=0&limit=1000``: the person's rows of a table behind so many, a JSON object a line. Fewer
    than the limit are the last ones."""
    limit, after = query_limit(request, MOST), _after(request)
    whole, table = memory_of(request).whole_person, request.match_info["table"]
    found = await whole.rows(_named_person(request), table, after, limit)
    body = b"".join(orjson.dumps(row) + b"\n" for row in found)
    return web.Response(body=body, content_type="application/x-ndjson", headers={"Cache-Control": "no-store"})


@routes.post("/api/person/forget")
async def forget(request: web.Request) -> Json[PersonForgotten]:
    """``?user=…&org=…``: delete all that is held of this person, in all projects. It cannot be undone."""
    person, edge, memory = _named_person(request), request.app[EDGE], memory_of(request)
    await _revoke_keys(edge, memory, person)
    revoked = await asyncio.to_thread(without_tokens, edge, person)
    memory.quota_use.forget(person)
    gone: ErasedPerson = await memory.whole_person.forget(person)
    reindexing = _renew_index(edge, memory)
    return answer(
        {
            "forgotten": dict(gone.rows),
            "shared": gone.shared,
            "research": gone.research,
            "keys": list(gone.keys),
            "tokens": revoked,
            "files": list(gone.files),
            "stays": [*gone.stays, *await settings_of_person(edge, memory, person)],
            "faults": [*gone.faults, *([] if reindexing else [_IN_INDEX])],
            "scrubbed": gone.scrubbed,
            "reindexing": reindexing,
        }
    )


async def _revoke_keys(edge: Edge, memory: Memory, person: Scope) -> None:
    """Nobody comes with a key of this person's any more."""
    for key in await memory.journal.client_keys():
        if (key.org, key.user) == (person.org, person.user) and key.revoked_at is None:
            await memory.journal.revoke_client_key(key.name, edge.now())
            edge.client_keys.revoked(key.name)


def _named_person(request: web.Request) -> Scope:
    """The person who is named: nobody is meant by default."""
    if not request.query.get("user"):
        raise Refusal(422, "say whose: ?user=…, and their ?org=… where it is another one than the settings'")
    scope = scope_of(request)
    return Scope(scope.org, scope.user)


def _after(request: web.Request) -> int:
    text = request.query.get("after", "0")
    if not (text.isascii() and text.isdigit() and int(text) <= _MOST_ROWS):
        raise Refusal(422, f"after is {text[:40]!r}; it is a number of rows")
    return int(text)


def _tokens_of(edge: Edge, person: Scope) -> list[ApiToken]:
    return [token for token in edge.tokens.known if _is_whose(token, person)]


def _is_whose(token: ApiToken, person: Scope) -> bool:
    return token.user is not None and (token.org, token.user) == (person.org, person.user)


def without_tokens(edge: Edge, person: Scope) -> list[str]:
    """Take a person's tokens out of this server's data folder: their names."""
    file = edge.settings.home / tokens.FILE
    every = tokens.read_tokens(file)
    gone = [token for token in every if _is_whose(token, person)]
    if gone:
        tokens.write_tokens(file, [token for token in every if token not in gone])
    return [token.name for token in gone]


def _renew_index(edge: Edge, memory: Memory) -> bool:
    """Have the index made anew, where it lies in this server's data folder alone; whether it is."""
    if memory.settings.qdrant.url is not None or memory.journal.replicated:
        return False
    try:
        begin_reindex(edge, memory)
    except ReindexInProgress:
        return False
    return True


async def settings_of_person(edge: Edge, memory: Memory, person: Scope) -> list[str]:
    """What the settings say of a person, which nobody but their owner changes; in an organisation that has members
    that opens nothing for who is none."""
    count = sum((entry.org, entry.user) == (person.org, person.user) for entry in edge.settings.credentials)
    if not count:
        return []
    told = "until they are taken out, what they say is learnt anew"
    if person.org and not (await memory.journal.membership(person.org, person.user or "")).belongs:
        told = f"they open no memory while {person.org} has members"
    return [f"{count} of the settings' credentials name them: {told}"]
