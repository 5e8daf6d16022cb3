"""The description of our own endpoints, as OpenAPI 3.1: made from the routes, their docstrings, what each of them
takes, and the types that they say they answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from aiohttp import web

from memory.features import features
from memory.hooks.route_request import MAX_TEXT_CHARS
from memory.version import release
from proxy.api.access import is_for_one_user
from proxy.api.answer_schema import AnswerSchemas, answer_type, description_of
from proxy.api.params import MOST
from proxy.api.responses import Fault, Json, answer

routes = web.RouteTableDef()

ROOT: Final = "/palimpsest"
PERSON: Final = ("user", "org", "project")
"""Parameters that say whose memories are meant."""

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_LIST: Final = {"type": "array"}
_MAP: Final = {"type": "object"}
_NUMBER: Final = {"type": "integer"}
_LIMIT: Final = {**_NUMBER, "minimum": 1, "maximum": MOST}
_NUMBERS: Final = frozenset(("limit", "days"))
_TYPES: Final[Mapping[type, Mapping[str, str]]] = {str: _TEXT, bool: _FLAG, int: _NUMBER, list: _LIST, dict: _MAP}

_SELECTION: Final = {"from": _MAP, "origins": _LIST, "since": _TEXT, "until": _TEXT, "sessions": _LIST, "held": _FLAG}

QUERY: Final[Mapping[str, str]] = {
    "GET /api/audit": "limit who what",
    "GET /api/status": "days",
    "GET /api/money": "days",
    "GET /api/search": "text limit as_of explain",
    "GET /api/names": "name limit",
    "GET /api/facts": "text kind state origin limit",
    "GET /api/drafts": "limit",
    "GET /api/decisions": "limit",
    "GET /api/export/{sort}": "owner after limit",
    "GET /api/person/{table}": "after limit",
    "POST /api/import/records": "dry",
    "POST /api/import/notes": "dry",
    "POST /api/import/session": "dry",
    "GET /api/content/{handle}": "tier",
    "GET /api/sessions": "runtime shed limit",
    "GET /api/config/trial": "user org trim fold rotate target tokens",
    "GET /api/project": "directory",
    "GET /api/log": "limit session",
    "GET /api/members": "org",
    "POST /api/members": "org",
    "PATCH /api/members/{user}": "org",
    "DELETE /api/members/{user}": "org project",
    "GET /api/facts/{id}/uses": "limit",
}
"""What an endpoint takes in its query, beside whose memories are meant."""

REQUIRED: Final = frozenset(
    ("GET /api/search text", "GET /api/export/{sort} owner", "GET /api/project directory", "GET /api/page project")
)
"""What of it may not be missing. A page is one project's."""

BODY: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "PATCH /api/facts/{id}": {"pinned": _FLAG},
    "POST /api/facts/{id}/confirm": {},
    "POST /api/facts/{id}/dismiss": {},
    "POST /api/facts/{id}/defer": {},
    "POST /api/facts/{id}/refute": {},
    "POST /api/facts/{id}/unlearn": {},
    "POST /api/facts/{id}/take-back": {},
    "POST /api/facts/{id}/update": {"text": _TEXT},
    "POST /api/remember": {"text": _TEXT, "kind": _TEXT, "pinned": _FLAG},
    "POST /api/hook": {
        "client": _TEXT,
        "session": _TEXT,
        "event": _TEXT,
        "text": _TEXT,
        "directory": _TEXT,
        "later": _FLAG,
    },
    "PATCH /api/content/{handle}": {"pinned": _FLAG},
    "POST /api/forget": {"query": _TEXT, "ids": _LIST},
    "PUT /api/page": {"own": _TEXT, "files": _MAP},
    "POST /api/provenance": _SELECTION,
    "POST /api/quarantine": {**_SELECTION, "release": _FLAG, "for_review": _FLAG},
    "POST /api/keys": {
        "name": _TEXT,
        "user": _TEXT,
        "org": _TEXT,
        "projects": _LIST,
        "scopes": _LIST,
        "read_only": _FLAG,
        "expires_at": _TEXT,
    },
    "POST /api/members": {"user": _TEXT, "role": _TEXT},
    "PATCH /api/members/{user}": {"role": _TEXT, "project": _TEXT},
    "POST /api/embedder": {"use": _TEXT},
    "POST /api/reindex": {},
    "POST /api/sync": {"new": _LIST, "changed": _LIST, "compare": _FLAG},
    "POST /api/sync/there": {"ids": _LIST},
    "POST /api/sync/forgotten": {"records": _LIST},
    "POST /api/sync/unsettled": {"rivals": _MAP},
    "POST /api/tickets": {},
    "POST /api/tools/{name}": {"arguments": _MAP},
}
"""The fields of each body that is a JSON object of ours; those of features say theirs themselves."""

_OTHER_BODIES: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "POST /api/import/records": ("application/x-ndjson", {"type": "string"}),
    "POST /api/import/notes": ("application/json", {"type": "object"}),
    "POST /api/import/session": ("application/json", {"type": "object"}),
}
_OTHER_ANSWERS: Final = {
    "GET /metrics": "text/plain",
    "GET /api/export/{sort}": "application/x-ndjson",
    "GET /api/person/{table}": "application/x-ndjson",
}
"""Those that are no JSON but lines of text."""

_OPEN_TO_ALL: Final = ("/health", "/ready")
"""What asks for no token, and answers in the same words where not all is well."""


class Operation(NamedTuple):
    """A route: its method, its path below ``/palimpsest``, and its handler."""

    method: str
    path: str
    handler: Callable[..., Any]


@routes.get("/api/openapi.json")
async def openapi(request: web.Request) -> Json[dict[str, Any]]:
    """This description, as OpenAPI 3.1."""
    return answer(_described_once(tuple(_operations(request.app.router.resources()))))


@lru_cache(maxsize=1)
def _described_once(operations: tuple[Operation, ...]) -> dict[str, Any]:
    """The document, made once for all who ask: routes and features stay as they are while a server runs."""
    return description(operations)


def description(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document."""
    paths: dict[str, dict[str, Any]] = {}
    schemas = AnswerSchemas()
    for each in operations:
        path = _plain(each.path)
        paths.setdefault(f"{ROOT}{path}", {})[each.method.lower()] = _described(each._replace(path=path), schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Palimpsest",
            "version": release(),
            "description": (
                "Palimpsest's own endpoints. All but `health` and `ready` ask for the token that stands in the file "
                "`token` of the home folder, or for one of `palimpsest tokens add`. "
                "A fault is a sentence under `error`."
            ),
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.named.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operations(resources: Iterable[web.AbstractResource]) -> list[Operation]:
    found = []
    for resource in resources:
        for route in resource:
            if route.method not in ("HEAD", "OPTIONS", "*"):
                path = resource.canonical.removeprefix(ROOT)
                found.append(Operation(route.method, path, route.handler))
    return found


def _described(each: Operation, schemas: AnswerSchemas) -> dict[str, Any]:
    key = f"{each.method} {each.path}"
    text = description_of(inspect.getdoc(each.handler) or "")
    open_to_all = each.path in _OPEN_TO_ALL
    told = answer_type(each.handler)
    schema = {"type": "string"} if told is None else schemas.of(told)
    fault = schemas.of(Fault)
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{each.method.lower()}_{each.path.removeprefix('/api/')}").strip("_"),
        "tags": [each.path.removeprefix("/api/").strip("/").partition("/")[0] or "api"],
        "description": text,
        "parameters": [*_in_path(each.path), *_in_query(key, each.path)],
        "responses": {
            "2XX": _response("The answer.", schema, _OTHER_ANSWERS.get(key, "application/json")),
            "4XX": _response("What was asked is wrong, or not allowed.", fault),
            "5XX": _response("503 while memory is not open.", {"anyOf": [schema, fault]} if open_to_all else fault),
        },
    }
    if open_to_all:
        operation["security"] = []
    if (fields := _body_fields().get(key)) is not None:
        body = {"type": "object", "properties": dict(fields), "additionalProperties": False}
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    elif key in _OTHER_BODIES:
        kind, of_body = _OTHER_BODIES[key]
        operation["requestBody"] = {"required": True, "content": {kind: {"schema": of_body}}}
    return operation


def _body_fields() -> dict[str, Mapping[str, Mapping[str, str]]]:
    of_features = {
        f"{route.method} /api/{route.path}": {name: _TYPES[kind] for name, kind in route.fields.items()}
        for feature in features()
        for route in feature.routes()
        if route.fields is not None
    }
    return {**BODY, **of_features}


def _in_path(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _in_query(key: str, path: str) -> list[dict[str, Any]]:
    names = [*QUERY.get(key, "").split(), *_query_of_features(key)]
    if is_for_one_user(f"{ROOT}{path}"):
        names += PERSON
    return [
        {
            "name": name,
            "in": "query",
            "required": f"{key} {name}" in REQUIRED,
            "schema": _LIMIT if name in _NUMBERS else {"type": "string", "maxLength": MAX_TEXT_CHARS},
        }
        for name in dict.fromkeys(names)
    ]


def _query_of_features(key: str) -> list[str]:
    every = (route for feature in features() for route in feature.routes())
    found = [route for route in every if f"{route.method} /api/{_plain(route.path)}" == key]
    return [name for route in found for name in (*route.query, *(["limit"] if route.limit else []))]


def _plain(path: str) -> str:
    return re.sub(r"\{(\w+):[^}]*\}", r"{\1}", path)


def _response(told: str, schema: Mapping[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"description": told, "content": {kind: {"schema": schema}}}
