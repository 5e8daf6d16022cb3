"""Every endpoint answers what the description says it does, and no field more."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import orjson
import pytest

from memory.hooks.route_request import Fields
from proxy.api.answer_schema import AnswerSchemas, answer_type
from proxy.api.endpoints import endpoints
from proxy.api.responses import Json
from tests.fake_provider import fake_provider
from tests.memory.features.checkouts.repository import Repository
from tests.memory.features.nights.test_routes import consolidated
from tests.proxy.api.asking import Asking
from tests.proxy.api.described import check_answer, operation_of
from tests.proxy.api.test_anything import CALLS, RIGHT
from tests.proxy.drafts import draft
from tests.proxy.web.filled import SMALL, fill, projects
from tests.running import running

LINES = ("metrics", "api/export/{sort}", "api/person/{table}")
"""What is told as lines of text."""


@dataclasses.dataclass(frozen=True)
class Visits(Asking):
    """Asks, and keeps which operations were."""

    seen: set[tuple[str, str]] = dataclasses.field(default_factory=set)

    async def __call__(
        self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str
    ) -> dict[str, Any]:
        operation = operation_of(method, path.partition("?")[0])
        assert operation is not None, path
        self.seen.add(operation)
        return await super().__call__(method, path, body, status=status, **headers)


async def test_every_operation_answers_as_it_is_described(tmp_path: Path) -> None:
    folder = Repository(tmp_path / "checkout").root
    async with (
        fake_provider() as provider,
        running(provider, tmp_path / "home", projects=projects(folder), **SMALL) as proxy,
    ):
        await fill(proxy, provider)
        ask = Visits(proxy, proxy.edge.token)
        told = await ask("GET", "api/openapi.json")
        await _looked(ask)
        await _decided(ask, folder)
        await _taken_in(ask)
        await _kept_and_forgotten(ask)
        await _switched(ask)
    every = {(path, method) for path, methods in told["paths"].items() for method in methods}
    left = every - ask.seen
    assert left == {(f"/palimpsest/{path}", "get") for path in LINES}


async def _looked(ask: Visits) -> None:
    for path in (
        *(
            "health",
            "ready",
            "api/doctor",
            "api",
            "api/glance",
            "api/status",
            "api/money",
            "api/audit",
            "api/config",
            "api/keys",
        ),
        *(
            "api/embedder",
            "api/reindex",
            "api/backups",
            "api/backups/index",
            "api/doctor",
            "api/config/trial?tokens=50",
        ),
        *("api/project?directory=/srv/zoo", "api/search?text=PostgreSQL", "api/search?text=PostgreSQL&explain=1"),
        *("api/names", "api/names?name=postgresql", "api/export", "api/page?project=loom", "api/branches", "api/gone"),
        "api/holders",
        *("api/page/history?project=loom", "api/quarantine", "api/why?project=loom", "api/learnt-on/main"),
        *("api/habits?project=loom", "api/conflicts", "api/research", "api/research?text=retry", "api/research/stale"),
        *("api/rules", "api/members"),
        *("api/log", "api/sessions", "api/facts", "api/candidates", "api/nights", "api/consolidate"),
    ):
        await ask("GET", path)
    for receipt in (await ask("GET", "api/log?limit=200"))["receipts"]:
        await ask("GET", f"api/log/{receipt['id']}")
    for session in (await ask("GET", "api/sessions"))["sessions"]:
        await ask("GET", f"api/sessions/{session['id']}")
        await ask("GET", f"api/log?session={session['id']}")
    for fact in (await ask("GET", "api/facts"))["facts"]:
        for more in ("", "/history", "/curve", "/sayings", "/uses", "/forget"):
            await ask("GET", f"api/facts/{fact['id']}{more}")
    for candidate in (await ask("GET", "api/candidates"))["candidates"]:
        await ask("GET", f"api/candidates/{candidate['id']}")


async def _decided(ask: Visits, folder: Path) -> None:
    fact = (await ask("POST", "api/remember?project=loom", {"text": "The mascot is an otter"}, status=201))["id"]
    await ask("POST", "api/remember?project=loom", {"text": "The mascot is not an otter"}, status=201)
    await ask("PATCH", f"api/facts/{fact}", {"pinned": True})
    await ask("POST", f"api/facts/{fact}/confirm", {})
    newer = (await ask("POST", f"api/facts/{fact}/update", {"text": "The mascot is a seal"}))["id"]
    await ask("GET", f"api/facts/{fact}/history")
    await ask("POST", "api/import/records", orjson.dumps(draft("u:/local")))
    [doubtful] = (await ask("GET", "api/facts?state=draft"))["facts"]
    await ask("POST", f"api/facts/{doubtful['id']}/defer", {})
    await ask("GET", "api/drafts")
    await ask("POST", f"api/facts/{doubtful['id']}/take-back", {})
    await ask("GET", "api/drafts")
    await ask("GET", f"api/facts/{doubtful['id']}/confirm")
    await ask("POST", f"api/facts/{doubtful['id']}/dismiss", {})
    await ask("GET", "api/decisions")
    for act in ("refute", "unlearn"):
        await ask("POST", f"api/facts/{newer}/{act}", {})
        await ask("POST", f"api/facts/{newer}/take-back", {})
    await ask("POST", f"api/facts/{newer}/promote", {"to": "user"})
    await ask("PUT", "api/page?project=loom", {"own": "- The lab has a lathe."})

    first, *more = [each["id"] for each in (await ask("GET", "api/candidates?state=waiting"))["candidates"]]
    await ask("POST", f"api/candidates/{first}/submit", {}, status=409)
    await ask("POST", f"api/candidates/{first}/defer", {})
    await ask("POST", f"api/candidates/{first}/reopen", {})
    approval = await ask("POST", f"api/candidates/{first}/approve", {})
    await ask("POST", f"api/candidates/{first}/approve", {"confirm": approval["confirm"]})
    tracked = await ask("POST", "api/tracked/text?project=loom", {"text": ""})
    rules = folder / ".palimpsest"
    rules.mkdir()
    theirs = "- Deploys go out on Tuesdays. <!-- 00000000-0000-4000-8000-0000000000ff -->"
    (rules / tracked["name"]).write_text(f"{tracked['text']}\n{theirs}\n")
    await ask("POST", "api/tracked/proposals?project=loom", {"folder": str(rules), "dry": True})
    undoing = await ask("POST", f"api/candidates/{first}/undo", {})
    await ask("POST", f"api/candidates/{first}/undo", {"confirm": undoing["confirm"]})
    await ask("POST", f"api/candidates/{(more or [first])[0]}/reject", {"why": "no"})

    night = (await ask("GET", "api/nights"))["nights"][0]["number"]
    await ask("GET", f"api/nights/{night}")
    await ask("POST", f"api/nights/{night}/undo", {})
    await consolidated(ask, {"dry_run": True})


async def _taken_in(ask: Visits) -> None:
    await ask("POST", "api/import/notes?project=zoo", {"text": "- We use pnpm.", "at": "2026-03-04T15:30:00Z"})
    await ask("POST", "api/import/session?project=zoo", RIGHT["POST /api/import/session"])
    fact = (await ask("POST", "api/remember?project=zoo", {"text": "The mascot is an otter"}, status=201))["id"]
    await ask("POST", "api/sync?project=zoo", {"new": [{"id": fact}], "changed": [], "compare": True})
    await ask("POST", "api/sync/there?project=zoo", {"ids": [fact]})
    await ask("POST", "api/sync/forgotten?project=zoo", {"records": [{"id": fact}]})
    await ask("POST", "api/sync/unsettled?project=zoo", {"rivals": {fact: []}})
    for event in ("prompt", "context", "reply"):
        told = {"client": "cursor", "session": "s", "event": event, "text": "Which database do we use?"}
        await ask("POST", "api/hook?project=loom", told)
    for name in CALLS:
        await ask("POST", f"api/tools/{name}?project=loom", {"arguments": CALLS[name]})


async def _kept_and_forgotten(ask: Visits) -> None:
    said = (await ask("GET", "api/search?text=PostgreSQL"))["results"][0]["id"]
    saying = (await ask("GET", f"api/facts/{said}/sayings"))["sayings"][0]
    await ask("GET", f"api/content/{saying['content']}")
    await ask("PATCH", f"api/content/{saying['content']}", {"pinned": True})
    research = (await ask("GET", "api/research"))["research"][0]["handle"]
    await ask("GET", f"api/research/{research}?trail=1")
    await ask("GET", f"api/content/{research}?tier=L0")
    whence = {"from": {"session": saying["session"]}}
    await ask("POST", "api/provenance", whence)
    await ask("POST", "api/quarantine", whence)
    await ask("GET", "api/quarantine")
    await ask("GET", f"api/facts/{said}")
    await ask("POST", "api/quarantine", {**whence, "release": True})
    would = await ask("POST", "api/forget", {"query": "PostgreSQL"})
    await ask("POST", "api/forget", {"ids": [would["would_forget"][0]["id"]]})
    await ask("DELETE", f"api/facts/{(await ask('GET', 'api/facts'))['facts'][0]['id']}")
    await ask("DELETE", f"api/research/{research}")


async def _switched(ask: Visits) -> None:
    await ask("POST", "api/tickets", {}, status=201)
    await ask("POST", "api/keys", {"name": "laptop", "user": "ada"}, status=201)
    await ask("GET", "api/keys")
    await ask("DELETE", "api/keys/laptop")
    for user in ("ada", "bob"):
        await ask("POST", "api/members?org=acme", {"user": user, "role": "owner"}, status=201)
    await ask("GET", "api/members?org=acme")
    await ask("PATCH", "api/members/bob?org=acme", {"role": "member"})
    await ask("DELETE", "api/members/bob?org=acme")
    await ask("GET", "api/person?user=ada")
    await ask("POST", "api/reindex", {}, status=202)
    await ask("GET", "api/reindex")
    # Where an index is being made anew already it begins none of its own.
    await ask("POST", "api/person/forget?user=ada")
    await ask("POST", "api/embedder", {"use": "nothing"}, status=422)
    await ask("POST", "api/pause", {})
    await ask("GET", "api/glance")
    await ask("POST", "api/resume", {})


async def test_an_answer_with_a_field_of_which_nothing_is_said_is_found() -> None:
    check_answer("GET", "api", 200, {"palimpsest": "1", "home": "/", "pid": 1})
    for wrong in (
        {"palimpsest": "1", "home": "/", "pid": 1, "more": 1},
        {"palimpsest": "1", "home": "/"},
        {"palimpsest": "1", "home": "/", "pid": "1"},
    ):
        with pytest.raises(AssertionError):
            check_answer("GET", "api", 200, wrong)


def test_a_time_that_is_none_is_found() -> None:
    entry = {"who": "ada", "what": "GET api", "memory": "", "user": "", "status": 200}
    check_answer("GET", "api/audit", 200, {"audit": [entry | {"at": "2026-03-04T05:06:07.89+00:00"}]})
    for wrong in ("yesterday", "2026-03-04", "2026-03-04T05:06:07", "2026-13-04T05:06:07Z"):
        with pytest.raises(AssertionError):
            check_answer("GET", "api/audit", 200, {"audit": [entry | {"at": wrong}]})


def test_every_endpoint_but_two_says_what_it_answers() -> None:
    silent = {route.path.removeprefix("/") for route in endpoints() if answer_type(route.handler) is None}
    assert silent == set(LINES)


@dataclasses.dataclass
class _Held:
    """What is held. ``name`` is its name; ``size`` is a number, None for none; see :class:`memory._Held`."""

    name: str
    size: int = 0


class _More(TypedDict):
    """In other words: ``size`` is a text."""

    size: str
    sort: NotRequired[Literal["held"]]


class _Kept(TypedDict):
    """What is kept. ``at`` is when; ``name`` is its name."""

    name: str
    at: int


def test_the_fields_of_several_types_are_those_of_one_object() -> None:
    schemas = AnswerSchemas()
    kind = Annotated[dict[str, Any], Fields("Whole", _Held | _Kept, _More, without=("at",))]
    assert schemas.of(list[kind | None]) == {
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/components/schemas/Whole"}, {"type": "null"}]},
    }
    assert schemas.named["Whole"] == {
        "type": "object",
        "description": (
            "What is held. `name` is its name; see `_Held`. What is kept. `name` is its name. "
            "In other words: `size` is a text."
        ),
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "string"},
            "sort": {"type": "string", "enum": ["held"]},
        },
        "required": ["name", "size"],
    }


def test_an_object_has_the_fields_of_one_of_its_types_whole() -> None:
    schemas = AnswerSchemas()
    schemas.of(Annotated[dict[str, Any], Fields("Either", _Held | _Kept)])
    assert schemas.named["Either"]["required"] == ["name"]
    assert schemas.named["Either"]["anyOf"] == [{"required": ["size"]}, {"required": ["at"]}]


def test_what_is_added_to_an_object_is_described_behind_it() -> None:
    schemas = AnswerSchemas()
    inner = Annotated[dict[str, Any], Fields("Inner", _Kept)]
    schemas.of(Annotated[dict[str, Any], Fields("Outer", inner, _More)])
    assert schemas.named["Outer"]["description"].startswith("What is kept.")


def test_two_kinds_of_answers_have_two_names() -> None:
    schemas = AnswerSchemas()
    schemas.of(Annotated[dict[str, Any], Fields("Held", _More)])
    with pytest.raises(TypeError, match="two kinds of answers are called Held"):
        schemas.of(_Held)


def test_a_handler_says_what_its_answer_holds() -> None:
    async def handler() -> Json:  # type: ignore[type-arg]
        raise NotImplementedError

    with pytest.raises(TypeError, match="does not say what its answer holds"):
        answer_type(handler)
