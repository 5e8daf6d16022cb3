"""What the provider must be given: the client's own bytes."""

from __future__ import annotations

import gzip
import json

from proxy.conformance.bench import Bench, difference
from proxy.conformance.case import Skipped, case, must

CACHE = "https://platform.openai.com/docs/guides/prompt-caching"
SIGNED = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
HTTP = "https://www.rfc-editor.org/rfc/rfc9110"
JSON = "https://www.rfc-editor.org/rfc/rfc8259"


def _oddly_spelt(on: Bench, inside: str) -> bytes:
    """A body with something behind its opening brace, as nobody's library would spell it."""
    text = on.json().decode()
    return ("{ " + inside + " ,\n\t" + text[1:-1] + " }\n").encode("utf-8", "surrogatepass")


@case(
    "body.untouched",
    "a request with nothing to change arrives byte for byte",
    why="prompt caches, signatures and recordings are of bytes",
    source=CACHE,
)
async def untouched(on: Bench) -> None:
    await on.unchanged(_oddly_spelt(on, '"metadata":{"z":1, "a" :2}'))


@case(
    "body.unknown-fields",
    "fields that the proxy does not know arrive",
    why="an API grows faster than a proxy; a dropped field is a feature that silently does not work",
    source=JSON + "#section-4",
)
async def unknown_fields(on: Bench) -> None:
    sent = on.json(x_new_feature={"deep": [1, {"er": None}]}, another_one=True)
    came = json.loads((await on.arrives(sent)).body)
    must(
        came.get("x_new_feature") == {"deep": [1, {"er": None}]}, f"x_new_feature became {came.get('x_new_feature')!r}"
    )
    must(came.get("another_one") is True, f"another_one became {came.get('another_one')!r}")


@case(
    "body.numbers",
    "numbers keep their spelling: 1e0, 0.10, 12345678901234567890123",
    why="load and dump makes floats of large integers and 1.0 of 1e0",
    source=JSON + "#section-6",
)
async def numbers(on: Bench) -> None:
    inside = '"x_numbers":[1e0,0.10,-0,12345678901234567890123,1E400]'
    came = await on.arrives(_oddly_spelt(on, inside))
    must(inside.encode() in came.body, f"of {inside} arrived {came.body[:120]!r}")


@case(
    "body.unicode",
    "text keeps its escapes, whole characters and halves of them",
    why="a half of a pair is what a cut file holds; re-encoding fails or changes the prefix",
    source=JSON + "#section-8.2",
)
async def unicode(on: Bench) -> None:
    inside = '"x_text":"caf\\u00e9 \\ud83d café 🦉 \\/ \\u0000"'
    came = await on.arrives(_oddly_spelt(on, inside))
    must(inside.encode() in came.body, f"of the text arrived {came.body[:120]!r}")


@case(
    "body.duplicate-keys",
    "a key that stands twice arrives twice",
    why="which of them counts is for the provider to say",
    source=JSON + "#section-4",
)
async def duplicates(on: Bench) -> None:
    inside = '"x_twice":1,"x_twice":2'
    came = await on.arrives(_oddly_spelt(on, inside))
    must(inside.encode() in came.body, "one of them is gone")


@case(
    "body.parallel-tools",
    "tools, parallel calls and their results arrive as they were sent, in their order",
    why="a result without its call, or in another order, is refused or misread",
    source="https://platform.openai.com/docs/guides/function-calling",
)
async def tools(on: Bench) -> None:
    await on.unchanged(json.dumps(on.format.with_history(on.model, on.format.work)).encode())


@case(
    "body.reasoning",
    "signed and encrypted reasoning arrives as it was sent",
    why="a provider refuses reasoning whose signature does not fit, or thinks anew",
    source=SIGNED,
)
async def reasoning(on: Bench) -> None:
    await on.unchanged(json.dumps(on.format.with_history(on.model, on.format.signed)).encode())


@case(
    "body.cache-markers",
    "cache markers, cache keys and what shall become of a long history arrive",
    why="without them every request is paid in full, or the server's own compaction never comes",
    source="https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
)
async def markers(on: Bench) -> None:
    await on.unchanged(json.dumps(on.format.with_history(on.model, on.format.marked)).encode())


@case(
    "body.large",
    "a large body (64 MiB, or as --large-mib says) arrives whole",
    why="agents send pictures, logs and a whole history",
    source="https://platform.claude.com/docs/en/api/overview#request-size-limits",
)
async def large(on: Bench) -> None:
    text = "x" * 1000 + "\n"
    body = on.json(text * ((on.large - 4096) // len(json.dumps(text)[1:-1])))
    came = await on.arrives(body)
    must(len(came.body) == len(body) and came.body == body, difference(body, came.body))


@case(
    "body.compressed",
    "a compressed body arrives as it was, or plain and the same",
    why="clients compress long histories; what is unpacked and packed wrong is refused",
    source=HTTP + "#section-8.4",
)
async def compressed(on: Bench) -> str:
    body = on.json()
    packed = gzip.compress(body, mtime=0)
    on.whole()
    got = await on.post(packed, Content_Encoding="gzip")
    if got.status == 415:
        raise Skipped("it says that it takes no compressed bodies (415)")
    must(got.status == 200, f"the client got {got.status}")
    came = on.only()
    how = came.header("Content-Encoding")
    if how == "gzip":
        must(came.body == packed or gzip.decompress(came.body) == body, "what is packed is another one")
        return "arrives packed"
    must(how is None and came.body == body, f"content-encoding is {how!r}, and the body {came.body[:40]!r}")
    return "arrives plain"
