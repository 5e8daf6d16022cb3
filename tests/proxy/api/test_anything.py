"""Whatever is sent to our own endpoints, the answer is one: a fault in a sentence, and never one of ours (500).

Requests that are right are sent with one thing in them changed: all of that with `make fuzz`, some of it otherwise.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson
import pytest
from hypothesis import settings
from yarl import URL

from proxy.api.endpoints import api
from tests.proxy.api.asking import Asking
from tests.running import Running

SOME = 400

TEXTS = (
    *("", " ", "\0", "a\0b", "\x01\x1b[2J", "\ud800", "\u202eabc", "é" * 300, "a" * 5000, "%", "%00", "%s%n", ".."),
    *(
        "'; DROP TABLE facts; --",
        "[",
        "]",
        "(",
        "*",
        '"',
        "NaN",
        "-1",
        "0",
        "1e999",
        "9" * 30,
        "2026-13-45",
        "../../etc",
    ),
    *("0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "true", "null", "{}"),
    *("r:", "r:0", "000000000000.0", f"000000000000.{'9' * 20}", "local", "u:/local", "@", "a\nb", "٣", "¹", "aaaa"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 2**63, 2**64 - 1, 1.5, 1e308, [], {}, [None], [[]], {"a": None}, ["a\0"], [-1], [2**62]),
    *({"identity": 1}, {"identity": "a\0\x1b"}, {"\0": "x"}, *TEXTS),
)
BODIES = (b"\0", b"[]", b"null", b"{", b'{"a":1}', b"\xff\xfe", b'{"text":"\xff"}', b"[" * 5000, b'{"text":' * 500)
QUERY: tuple[str, ...] = (
    "org",
    "user",
    "project",
    "limit",
    "kind",
    "state",
    "as_of",
    "explain",
    "after",
    "owner",
    "directory",
)
QUERY += ("runtime", "shed", "tier", "trail", "dry", "text")

SESSION = {
    "runtime": "codex",
    "session": "s",
    "path": "/v1/chat/completions",
    "model": "m",
    "at": ["2026-03-04T15:30:00Z"],
    "messages": [{"role": "user", "content": "The mascot is an otter"}],
    "parent": "p",
    "directory": "/srv/zoo",
    "remote": "git@x.example:a/b.git",
    "copied": [0],
    "subagent": True,
}
RIGHT: dict[str, Mapping[str, Any]] = {
    "POST /api/consolidate": {"since": "2026-01-01", "dry_run": True},
    "PUT /api/page": {"own": "- The lab has a lathe.", "files": {"identity": "- Call me Ada."}},
    "POST /api/remember": {"text": "The mascot is an otter", "kind": "fact", "pinned": False},
    "POST /api/forget": {"query": "mascot", "ids": ["aaaa"]},
    "POST /api/facts/{id}/update": {"text": "The mascot is a seal"},
    "POST /api/facts/{id}/promote": {"to": "user"},
    "PATCH /api/facts/{id}": {"pinned": True},
    "PATCH /api/content/{handle}": {"pinned": True},
    "POST /api/candidates/{id}/approve": {"text": "x", "to": "project", "confirm": "x"},
    "POST /api/candidates/{id}/reject": {"why": "x"},
    "POST /api/embedder": {"use": "nothing"},
    "POST /api/import/notes": {"text": "# Notes\n- The mascot is an otter", "at": "2026-03-04T15:30:00Z"},
    "POST /api/import/session": SESSION,
}
CALLS: dict[str, Mapping[str, Any]] = {
    "memory_search": {"query": "mascot", "limit": 3, "as_of": "2026-01-01"},
    "memory_get": {"id": "aaaa"},
    "memory_expand": {"handle": "000000000000.0", "tier": "L1", "page": 1},
    "memory_day": {"date": "2026-01-01"},
    "memory_note": {"action": "add", "text": "The mascot is an otter", "id": "aaaa"},
}
ONCE = ("/api/reindex", "/api/consolidate")
"""What begins work beside: not again and again."""


class Sent(NamedTuple):
    method: str
    path: str
    query: str = "project=zoo"
    body: bytes | None = None


def every_request(proxy: Running, record: Mapping[str, Any], id: str) -> Iterator[Sent]:
    for resource in api(proxy.edge).router.resources():
        path = resource.canonical
        for route in resource:
            if route.method in ("HEAD", "OPTIONS", "*") or (route.method == "POST" and path in ONCE):
                continue
            plain = re.sub(r"\{\w+\}", id, path)
            if plain != path:
                yield from (Sent(route.method, re.sub(r"\{\w+\}", percent(text), path)) for text in TEXTS)
            for key in QUERY if route.method == "GET" else QUERY[:3]:
                others = "&".join(
                    f"{each}={said}" for each, said in (("project", "zoo"), ("text", "otter")) if each != key
                )
                yield from (Sent(route.method, plain, f"{others}&{key}={percent(text)}") for text in TEXTS)
            if route.method != "GET":
                right = RIGHT.get(f"{route.method} {path}", {})
                yield from (Sent(route.method, plain, body=body) for body in (*BODIES, *changed(right)))
    for name, arguments in CALLS.items():
        path = f"/api/tools/{name}"
        yield from (Sent("POST", path, body=b'{"arguments":%b}' % each) for each in changed(arguments))
    yield from (Sent("POST", "/api/import/records", body=each) for each in changed(record))


def changed(right: Mapping[str, Any]) -> Iterator[bytes]:
    for key in right:
        for value in VALUES:
            if not (isinstance(value, str) and "\ud800" in value):
                yield orjson.dumps({**right, key: value})
        yield orjson.dumps({each: said for each, said in right.items() if each != key})


def percent(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.parametrize("text", ["a\0b", "\x1b[2J", "\x7f"])
async def test_what_commands_a_terminal_is_no_text(ask: Asking, text: str) -> None:
    for method, path, body in (
        ("PUT", "api/page?project=zoo", {"own": text}),
        ("PUT", "api/page?project=zoo", {"files": {"identity": text}}),
        ("POST", "api/remember", {"text": text}),
    ):
        assert "no text" in (await ask(method, path, body, status=422))["error"]


async def test_every_endpoint_answers_anything(proxy: Running, ask: Asking) -> None:
    fact = await ask("POST", "api/remember?project=zoo", {"text": "The mascot is an otter"}, status=201)
    await proxy.chat("I keep an otter called Bob in the pond behind the house, and I prefer tabs.", project="zoo")
    await proxy.learned()
    headers = {"Authorization": f"Bearer {proxy.edge.token}"}
    async with proxy.client.get(f"{proxy.url}/palimpsest/api/export/facts?project=zoo", headers=headers) as reply:
        record = orjson.loads((await reply.read()).split(b"\n")[0])
    sent = list(every_request(proxy, record, fact["id"]))
    if settings().derandomize:
        sent = random.Random(1).sample(sent, SOME)
    wrong = []
    for each in sent:
        url = URL(f"{proxy.url}/palimpsest{each.path}?{each.query}", encoded=True)
        data = None if each.body is None else io.BytesIO(each.body)
        async with proxy.client.request(each.method, url, data=data, headers=headers) as reply:
            told = await reply.read()
            if reply.status >= 500 or b"Traceback" in told:
                wrong.append((each, reply.status, told[:300]))
    assert not wrong
