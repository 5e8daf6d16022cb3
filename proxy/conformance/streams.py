"""Streams: as they come, when they come, and no other end than the provider's."""

from __future__ import annotations

import asyncio

from proxy.conformance.bench import Bench, difference
from proxy.conformance.case import CaseFailed, case, must

SSE = "https://html.spec.whatwg.org/multipage/server-sent-events.html"
WITHIN = 10.0


@case(
    "stream.bytes",
    "the bytes of a stream are the provider's",
    why="clients read fields, ids and orders that a proxy does not know",
    source=SSE,
)
async def same(on: Bench) -> None:
    events = on.format.events("One two three.")
    on.streamed(*events)
    got = await on.post(on.json(stream=True), stream=True)
    sent = b"".join(events)
    must(got.status == 200 and got.body == sent, difference(sent, got.body))


@case(
    "stream.at-once",
    "an event is passed on before the next one comes",
    why="a stream that is held back until its end is none: the person waits, and the client gives up",
    source=SSE,
)
async def at_once(on: Bench) -> None:
    events = on.format.events("One two three.")
    answer = on.streamed(*events, between=asyncio.Event())
    assert answer.between is not None
    try:
        async with on.open(on.json(stream=True), stream=True) as reply:
            seen = b""
            wanted = b"".join(events[:2])
            try:
                async with asyncio.timeout(WITHIN):
                    while len(seen) < len(wanted):
                        seen += await reply.content.readany()
            except TimeoutError:
                raise CaseFailed(f"after {WITHIN:.0f} s {len(seen)} bytes had come, with {len(wanted)} sent") from None
            answer.between.set()
            async for piece in reply.content.iter_any():
                seen += piece
    finally:
        answer.between.set()
    must(seen == b"".join(events), "what came in the end is not what was sent")


@case(
    "stream.split",
    "a stream that comes byte by byte is the same stream",
    why="characters and events are cut anywhere by a network",
    source=SSE,
)
async def split(on: Bench) -> None:
    sent = b"".join(on.format.events("Zwölf 🦉 drei."))
    on.streamed(*(sent[n : n + 1] for n in range(len(sent))))
    got = await on.post(on.json(stream=True), stream=True)
    must(got.body == sent, difference(sent, got.body))


@case(
    "stream.cut",
    "a stream that breaks off, at whichever byte, is passed on as far as it came, with no end made up",
    why="a made-up end makes half an answer a whole one",
    source="https://www.rfc-editor.org/rfc/rfc9112#section-8",
)
async def cut(on: Bench) -> None:
    sent = b"".join(on.format.events("One two three."))
    places = sorted({1, len(sent) // 4, len(sent) // 2 + 3, len(sent) - len(on.format.end) - 2, len(sent) - 3})
    for place in places:
        on.streamed(sent[:place], cut=True)
        got = await on.post(on.json(stream=True), stream=True)
        must(sent.startswith(got.body), f"cut at {place}: something else came: {got.body[-60:]!r}")
        must(len(got.body) < len(sent), f"cut at {place}: an end was made up")
        must(not got.whole, f"cut at {place}: it ended as if it were whole")


@case(
    "stream.error",
    "an error in the middle of a stream is passed on",
    why="clients try again by it",
    source="https://platform.claude.com/docs/en/build-with-claude/streaming#error-events",
)
async def error(on: Bench) -> None:
    first = on.format.events("One two three.")[:3]
    on.streamed(*first, on.format.stream_error)
    got = await on.post(on.json(stream=True), stream=True)
    sent = b"".join([*first, on.format.stream_error])
    must(got.body == sent, difference(sent, got.body))


@case(
    "stream.comments",
    "comments, pings and events of unknown kinds are passed on",
    why="they keep connections alive, and new ones are added without notice",
    source=SSE + "#authoring-notes",
    formats=("chat", "responses", "messages", "gemini"),
)
async def comments(on: Bench) -> None:
    first, *rest = on.format.events("One two three.")
    new = b'event: x.new\ndata: {"type":"x.new","n":1e0}\n\n'
    sent = b"".join([first, on.format.comment, new, *rest])
    on.streamed(first, on.format.comment, new, *rest)
    got = await on.post(on.json(stream=True), stream=True)
    must(got.body == sent, difference(sent, got.body))


@case(
    "stream.cancel",
    "who goes away in the middle of a stream ends it at the provider",
    why="what nobody reads is paid for",
    source="https://www.rfc-editor.org/rfc/rfc9112#section-9.6",
)
async def cancel(on: Bench) -> None:
    answer = on.streamed(*on.format.events("One two three."), between=asyncio.Event())
    assert answer.between is not None
    try:
        async with on.open(on.json(stream=True), stream=True) as reply:
            await reply.content.readany()
            reply.close()
        await _gone(answer.gone)
    finally:
        answer.between.set()


@case(
    "cancel.waiting",
    "who goes away before the first byte ends the request at the provider",
    why="a long thought that nobody waits for is paid for",
    source="https://www.rfc-editor.org/rfc/rfc9112#section-9.6",
)
async def waiting(on: Bench) -> None:
    answer = on.whole()
    answer.before = asyncio.Event()
    try:
        request = asyncio.create_task(on.post(on.json()))
        try:
            async with asyncio.timeout(WITHIN):
                await answer.came.wait()
        finally:
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
        await _gone(answer.gone)
    finally:
        answer.before.set()


async def _gone(gone: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(WITHIN):
            await gone.wait()
    except TimeoutError:
        raise CaseFailed(f"after {WITHIN:.0f} s the provider is still at it") from None
