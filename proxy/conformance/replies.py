"""Whole replies and their usage."""

from __future__ import annotations

import gzip
import json

from proxy.conformance.bench import Bench, difference
from proxy.conformance.case import case, must
from proxy.conformance.upstream import ScriptedAnswer

HTTP = "https://www.rfc-editor.org/rfc/rfc9110"


@case(
    "reply.bytes",
    "a whole reply is the provider's, byte for byte",
    why="clients read fields that a proxy does not know",
    source=HTTP + "#section-7.7",
)
async def same(on: Bench) -> None:
    body = b'{ "x_new" : 1e0,\n' + json.dumps(on.format.reply("Very well."))[1:].encode() + b"\n"
    on.upstream.answers(ScriptedAnswer([body]))
    got = await on.post(on.json())
    must(got.status == 200 and got.body == body, difference(body, got.body))


@case(
    "reply.calls",
    "parallel calls of tools come back as they were made",
    why="the text of an argument is what a client runs",
    source="https://platform.openai.com/docs/guides/function-calling",
)
async def calls(on: Bench) -> None:
    body = json.dumps(on.format.calls).encode()
    on.upstream.answers(ScriptedAnswer([body]))
    got = await on.post(on.json())
    must(got.body == body, difference(body, got.body))


@case(
    "reply.usage",
    "usage is what the provider reported, whole and streamed, cached tokens and reasoning included",
    why="clients compact, and people pay, by these numbers",
    source="https://platform.openai.com/docs/guides/prompt-caching",
)
async def usage(on: Bench) -> None:
    on.whole()
    whole = (await on.post(on.json())).body
    on.streamed()
    streamed = (await on.post(on.json(stream=True), stream=True)).body
    for reply, how in ((whole, "whole"), (streamed, "streamed")):
        for number in (b"1024",) if on.format.name != "ollama" else (b"1234",):
            must(number in reply, f"{how}: {number.decode()} tokens of the usage are gone")


@case(
    "reply.compressed",
    "a provider may compress where the client takes it, and the client can read what comes",
    why="a header that says gzip over plain bytes, or the other way, cannot be read",
    source=HTTP + "#section-12.5.3",
)
async def compressed(on: Bench) -> str:
    body = json.dumps(on.format.reply("Very well.")).encode()

    def answer(came: object) -> ScriptedAnswer:
        takes = "gzip" in (getattr(came, "header")("Accept-Encoding") or "")  # noqa: B009
        headers = {"Content-Type": "application/json", **({"Content-Encoding": "gzip"} if takes else {})}
        return ScriptedAnswer([gzip.compress(body) if takes else body], headers=headers)

    on.upstream.came.clear()
    on.upstream.choose = answer
    got = await on.post(on.json(), Accept_Encoding="gzip")
    how = got.headers.get("Content-Encoding")
    read = gzip.decompress(got.body) if how == "gzip" else got.body
    must(b"Very well." in read, f"content-encoding is {how!r}, and the body cannot be read by it")
    return "comes packed" if how == "gzip" else "comes plain"
