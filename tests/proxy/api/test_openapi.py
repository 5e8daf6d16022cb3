"""The description of our endpoints tells every route, and the fields that each one takes."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from aiohttp import web

from proxy.api import openapi
from proxy.api.endpoints import api
from proxy.api.openapi import BODY
from tests.proxy.api.asking import Asking
from tests.running import Running

CASES = 3
"""Cases for each operation: a few odd values find a fault of ours, and there are some seventy operations."""

UNTRIED = re.compile(r"/(?:consolidate|reindex|embedder|pause|resume|backups.*|import/records)$")
"""What begins work beside, changes what all others answer, or takes lines, which schemathesis does not make."""


async def test_every_route_is_described_and_nothing_else(proxy: Running, ask: Asking) -> None:
    told = await ask("GET", "api/openapi.json")
    described = {
        (method.upper(), path.removeprefix("/palimpsest")) for path, of in told["paths"].items() for method in of
    }
    there = {
        (route.method, re.sub(r"\{(\w+):[^}]*\}", r"{\1}", route.resource.canonical))
        for route in api(proxy.edge).router.routes()
        if isinstance(route.resource, web.Resource) and route.method not in ("HEAD", "OPTIONS", "*")
    }
    assert described == there
    bodiless = {
        (method, path)
        for path, of in told["paths"].items()
        for method, operation in of.items()
        if method in ("post", "put", "patch") and "requestBody" not in operation
    }
    assert bodiless == {("post", f"/palimpsest/api/{what}") for what in ("pause", "resume", "person/forget")}
    names = [operation["operationId"] for of in told["paths"].values() for operation in of.values()]
    assert len(set(names)) == len(names)
    assert all(operation["description"] for of in told["paths"].values() for operation in of.values())


async def test_the_description_is_for_those_who_do_not_read_python(ask: Asking) -> None:
    told = await ask("GET", "api/openapi.json")
    said = [operation["description"] for of in told["paths"].values() for operation in of.values()]
    said += [schema["description"] for schema in told["components"]["schemas"].values()]
    assert [text for text in said if re.search(r":\w+:`|``|\bNone\b|…$", text)] == []


async def test_the_description_is_made_once(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await ask("GET", "api/openapi.json")
    monkeypatch.setattr(openapi, "AnswerSchemas", None)
    assert await ask("GET", "api/openapi.json") == first


async def test_the_fields_that_are_described_are_those_that_are_taken(ask: Asking) -> None:
    for key, fields in BODY.items():
        method, _, path = key.partition(" ")
        path = re.sub(r"\{number\}", "1", re.sub(r"\{(?!number)\w+\}", "aaaa", path)).removeprefix("/")
        error = (await ask(method, f"{path}?project=zoo", {"nothing of this name": 1}, status=422))["error"]
        assert error.endswith(f"there are: {', '.join(fields) or 'none'}"), (key, error)


async def test_whatever_schemathesis_makes_of_the_description_is_answered_as_it_says(
    proxy: Running, ask: Asking
) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="make openapi brings it: a plugin that slows all tests")
    from hypothesis import HealthCheck, Phase, given, settings

    schema = schemathesis.openapi.from_dict(await ask("GET", "api/openapi.json"))
    told = schemathesis.specs.openapi.checks
    checks = (
        schemathesis.checks.not_a_server_error,
        told.status_code_conformance,
        told.content_type_conformance,
        told.response_schema_conformance,
    )
    headers = {"Authorization": f"Bearer {proxy.edge.token}"}

    def tried(operation: Any) -> None:
        @settings(
            max_examples=CASES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def one(case: Any) -> None:
            case.call_and_validate(base_url=proxy.url, headers=headers, checks=checks, timeout=30)

        one()

    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 60
    for operation in operations:
        if not UNTRIED.search(operation.path):
            await asyncio.to_thread(tried, operation)
