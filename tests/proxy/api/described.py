"""Answers of our own endpoints, held against what the description says of them."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]

from memory.features import features
from memory.hooks.feature import Feature
from proxy.api.endpoints import endpoints
from proxy.api.openapi import ROOT, Operation, description

FORMATS = FormatChecker(("date",))
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")

Features = tuple[type[Feature], ...]


def check_answer(method: str, path: str, status: int, told: Any) -> None:
    """Fail where an answer is not what the description says: also where it has a field of which that says nothing.
    ``path`` is what follows ``/palimpsest/``, with its query."""
    operation = operation_of(method, path.partition("?")[0])
    if operation is not None:
        faults = [_said(each) for each in _validator(features(), operation, status // 100).iter_errors(told)]
        assert not faults, (method, path, faults[:5])


def operation_of(method: str, path: str) -> tuple[str, str] | None:
    """The path and the method, as the description writes them, of what a request asks for; None for nothing of ours."""
    for pattern, template, methods in _paths(features()):
        if pattern.fullmatch(path):
            return (template, method.lower()) if method.lower() in methods else None
    return None


@cache
def _told(of: Features) -> dict[str, Any]:
    """The description, while these are the features."""
    told = description(Operation(route.method, route.path, route.handler) for route in endpoints())
    closed: dict[str, Any] = _closed(told)
    return closed


def _closed(schema: Any) -> Any:
    """The same, but that no object has other fields than those that are described."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    return closed | {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else closed


@cache
def _paths(of: Features) -> list[tuple[re.Pattern[str], str, dict[str, Any]]]:
    """Those without names in them first, which a name would match as well."""
    every = sorted(_told(of)["paths"].items(), key=lambda each: each[0].count("{"))
    return [
        (re.compile(re.sub(r"\\\{(\w+)\\\}", _name, re.escape(path.removeprefix(f"{ROOT}/")))), path, methods)
        for path, methods in every
    ]


def _name(found: re.Match[str]) -> str:
    return ".+" if found[1] == "branch" else "[^/]+"


@cache
def _validator(of: Features, operation: tuple[str, str], sort: int) -> Draft202012Validator:
    path, method = operation
    [(kind, content)] = _told(of)["paths"][path][method]["responses"][f"{sort}XX"]["content"].items()
    schema = content["schema"] if kind == "application/json" else {}
    return Draft202012Validator({**schema, "components": _told(of)["components"]}, format_checker=FORMATS)


@FORMATS.checks("date-time", raises=ValueError)  # type: ignore[untyped-decorator]
def _is_moment(value: Any) -> bool:
    """By RFC 3339, for which jsonschema itself needs another package."""
    return not isinstance(value, str) or bool(_MOMENT.fullmatch(value) and datetime.fromisoformat(value))


def _said(error: Any) -> str:
    inner = [_said(each) for each in error.context or ()]
    return f"{error.json_path}: {error.message[:300]}" + (f" ({'; '.join(inner)})" if inner else "")
