"""Sessions: the prefix that a provider caches grows, whatever a proxy adds."""

from __future__ import annotations

import json
import uuid

from proxy.conformance.bench import Bench
from proxy.conformance.case import case, must

CACHE = "https://platform.openai.com/docs/guides/prompt-caching"
TURNS = 6


@case(
    "prefix.grows",
    "two successive requests of a session share no shorter a beginning at the provider than at the client",
    why="a cached token costs a tenth; one byte changed at the front is the whole price again",
    source=CACHE,
)
async def grows(on: Bench) -> str:
    session, texts = uuid.uuid4().hex, [on.unique_text]
    sent: list[bytes] = []
    came: list[bytes] = []
    for number in range(TURNS):
        body = on.json(*texts)
        sent.append(body)
        came.append((await on.arrives(body, {"x-session-id": session})).body)
        texts += [f"Very well, {number}.", f"And what of part {number} of {session}? The port is {7000 + number}."]
    for number in range(1, TURNS):
        own, there = _shared(sent[number - 1], sent[number]), _shared(came[number - 1], came[number])
        must(there >= own, f"request {number + 1} shares {there} bytes with the one before, the client's own {own}")
    added = sum(map(len, came)) - sum(map(len, sent))
    return f"{added} bytes added in {TURNS} requests" if added else ""


@case(
    "prefix.again",
    "the same request again arrives as the same bytes",
    why="a client tries again after a fault, and should find its own cache",
    source=CACHE,
)
async def again(on: Bench) -> None:
    session = uuid.uuid4().hex
    body = on.json(f"We decided that the harbour of {session} opens at nine.", "Very well.", "When does it open?")
    first = (await on.arrives(body, {"x-session-id": session})).body
    second = (await on.arrives(body, {"x-session-id": session})).body
    must(first == second, "the second one is another one")


@case(
    "prefix.tools",
    "in an agent's loop of calls and results the beginning grows as the client's does",
    why="a loop sends its whole history a hundred times",
    source=CACHE,
)
async def loop(on: Bench) -> None:
    session = uuid.uuid4().hex
    first = on.format.with_history(on.model, on.format.work)
    key = next(key for key in ("messages", "input", "contents") if key in first)
    one = json.dumps(first).encode()
    second = {**first, key: [*first[key], *on.format.body(on.model, "x", "Read.", "Go on.")[key][1:]]}
    two = json.dumps(second).encode()
    came = [(await on.arrives(each, {"x-session-id": session})).body for each in (one, two)]
    own, there = _shared(one, two), _shared(*came)
    must(there >= own, f"they share {there} bytes, the client's own {own}")


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two bodies begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
