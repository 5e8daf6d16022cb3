"""Refusals and faults: the provider's own words, and no second try behind the client's back."""

from __future__ import annotations

import asyncio
import json
import re

from proxy.conformance.bench import Bench, difference
from proxy.conformance.case import case, must
from proxy.conformance.upstream import RecordedRequest, ScriptedAnswer

RETRY = "https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2"
ERRORS = "https://platform.claude.com/docs/en/api/errors"


async def _refused(on: Bench, status: int, kind: str, **headers: str) -> None:
    body = json.dumps(on.format.error(kind), indent=1).encode()
    on.upstream.answers(ScriptedAnswer([body], status=status, headers={"Content-Type": "application/json", **headers}))
    got = await on.post(on.json())
    must(got.status == status, f"{status} became {got.status}")
    must(got.body == body, difference(body, got.body))
    lost = [name for name, value in headers.items() if got.headers.get(name) != value]
    must(not lost, f"{', '.join(lost)} did not come back")


@case(
    "refusal.client",
    "400, 401, 403, 404 and 422 come back with their own bodies",
    why="a client tells the person what is wrong by the provider's words",
    source=ERRORS,
)
async def client(on: Bench) -> None:
    for status in (400, 401, 403, 404, 422):
        await _refused(on, status, "invalid_request_error")


@case(
    "refusal.rate-limit",
    "429 comes back with its retry-after",
    why="clients wait as long as they are told",
    source="https://www.rfc-editor.org/rfc/rfc6585#section-4",
)
async def rate_limit(on: Bench) -> None:
    headers = {"retry-after": "17", "x-ratelimit-reset-tokens": "6m0s", "x-should-retry": "true"}
    await _refused(on, 429, "rate_limit_error", **headers)


@case(
    "refusal.server",
    "500, 503 and 529 come back with their own bodies",
    why="clients try again by themselves, each in its own way",
    source=ERRORS,
)
async def server(on: Bench) -> None:
    for status in (500, 503, 529):
        await _refused(on, status, "overloaded_error")


@case(
    "refusal.too-long",
    "that a request is too long is said in the provider's words",
    why="clients compact when they read them",
    source=ERRORS,
)
async def too_long(on: Bench) -> None:
    sentence = "prompt is too long: 213462 tokens > 200000 maximum"
    data = json.loads(
        json.dumps(on.format.error("invalid_request_error")).replace("said: invalid_request_error", sentence)
    )
    body = json.dumps(data).encode()
    on.upstream.answers(ScriptedAnswer([body], status=400))
    got = await on.post(on.json())
    must(got.status == 400 and got.body == body, f"it became {got.status}: {got.body[:200]!r}")


@case(
    "refusal.no-json",
    "a page of HTML that a load balancer sends comes back as it is",
    why="what is no JSON must not be made into a success, or into nothing",
    source="https://www.rfc-editor.org/rfc/rfc9110#section-15.6.3",
)
async def no_json(on: Bench) -> None:
    body = b"<html><h1>502 Bad Gateway</h1></html>\n"
    on.upstream.answers(ScriptedAnswer([body], status=502, headers={"Content-Type": "text/html"}))
    got = await on.post(on.json())
    must(got.status == 502 and got.body == body, f"it became {got.status}: {got.body[:200]!r}")


@case(
    "retry.none",
    "a request that the provider has answered is not sent again, whatever the answer",
    why="it may have been billed, and the client tries again by itself",
    source=RETRY,
)
async def none(on: Bench) -> None:
    for status in (429, 500, 503):
        body = json.dumps(on.format.error("overloaded_error")).encode()
        on.upstream.answers(ScriptedAnswer([body], status=status))
        await on.post(on.json())
        must(len(on.upstream.came) == 1, f"after {status} it was sent {len(on.upstream.came)} times")


@case(
    "retry.broken",
    "a connection that ends without an answer is told as a gateway's error, after one try",
    why="the request was sent: nobody knows whether it was done",
    source=RETRY,
)
async def broken(on: Bench) -> str:
    on.upstream.answers(ScriptedAnswer([], cut=True))
    got = await on.post(on.json())
    must(500 <= got.status < 600, f"the client got {got.status}")
    must(len(on.upstream.came) == 1, f"it was sent {len(on.upstream.came)} times")
    return f"{got.status}"


@case(
    "parallel.apart",
    "twenty requests at once each get their own reply",
    why="one client's words in another's reply is the worst that a proxy can do",
    source="https://www.rfc-editor.org/rfc/rfc9112#section-9.3",
)
async def apart(on: Bench) -> None:
    def echo(came: RecordedRequest) -> ScriptedAnswer:
        tag = re.search(rb"tag-\d+-", came.body)
        return ScriptedAnswer([json.dumps(on.format.reply(f"for {tag[0].decode() if tag else '?'}")).encode()])

    on.upstream.came.clear()
    on.upstream.choose = echo
    got = await asyncio.gather(*(on.post(on.json(f"Hello tag-{n}-.")) for n in range(20)))
    wrong = [n for n, each in enumerate(got) if f"for tag-{n}-".encode() not in each.body]
    must(not wrong, f"{len(wrong)} of 20 got another one's, or none")
