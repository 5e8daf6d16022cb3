"""Malformed and odd requests by a seed, as bytes for a raw socket: bodies, heads, chunking, compression, paths."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tests.proxy.wire.shapes import BY_PATH

PATHS = tuple(BY_PATH)
CHAT = "/v1/chat/completions"
LEAVES = "leaves"
"""The kind of those who leave amid their request, and wait for nothing."""


@dataclass(frozen=True, slots=True)
class Odd:
    """One request. ``sent`` is its body as a provider should get it, None where no provider should get anything that
    can be foretold; ``whole`` says that a server should answer it at all."""

    kind: str
    data: bytes
    sent: bytes | None = None
    whole: bool = True


def odd(lot: random.Random, host: str) -> Odd:
    """One of them."""
    kind = lot.choice(list(KINDS))
    made = KINDS[kind](lot, host)
    return Odd(f"{kind}", made.data, made.sent, made.whole)


def head(method: str, path: str, host: str, *lines: str) -> bytes:
    """The head of a request."""
    told = [f"{method} {path} HTTP/1.1", f"Host: {host}", *lines]
    return "\r\n".join(told).encode("utf-8", "surrogateescape") + b"\r\n\r\n"


def posted(path: str, host: str, body: bytes, *lines: str) -> bytes:
    """A request with a body whose length is told."""
    kind = (
        () if any(line.lower().startswith("content-type:") for line in lines) else ("Content-Type: application/json",)
    )
    return head("POST", path, host, *kind, *lines, f"Content-Length: {len(body)}") + body


def _shape(lot: random.Random) -> tuple[str, bytes]:
    path = lot.choice(PATHS)
    return path, lot.choice(BY_PATH[path])


def _mutated(lot: random.Random, body: bytes) -> bytes:
    """A body with some bytes changed, cut out, doubled or put in."""
    data = bytearray(body)
    for _ in range(lot.choice((1, 1, 2, 5, 20))):
        at = lot.randrange(len(data) + 1)
        match lot.randrange(6):
            case 0 if data:
                data[min(at, len(data) - 1)] = lot.randrange(256)
            case 1:
                del data[at : at + lot.randrange(1, 40)]
            case 2:
                data[at:at] = data[at : at + lot.randrange(1, 40)]
            case 3:
                data[at:at] = lot.choice(TOKENS)
            case 4:
                del data[at:]
            case _:
                data[at:at] = lot.randbytes(lot.randrange(1, 9))
    return bytes(data)


ODD_PATHS = (
    "/v1//chat/completions",
    "/v1/chat/completions/",
    "//v1/chat/completions",
    "/v1/./chat/../chat/completions",
    "/v1/chat%2Fcompletions",
    "/%76%31/chat/completions",
    "/v1/chat/completions?" + "a=b&" * 500,
    "/%00",
    "/%0a",
    "/p/loom/v1/chat/completions",
    "/P/loom/v1/chat/completions",
    "/p//v1/chat/completions",
    "/k/x/v1/models",
    "/u/ann/p/boat/v1/messages",
    "/v1/models/../../palimpsest/api/facts",
    "/palimpsest/api/%66acts",
    "/v1/" + "x" * 5000,
    "/v1beta/models/m:generateContent",
    "/v1beta/models/%20:x",
    "/api/chat",
    "http://evil.example/v1/models",
    "*",
    "/ä",
)

TOKENS = (
    b"null", b"true", b"[]", b"{}", b"-0", b"1e999", b"123456789012345678901234567890", b'"\\ud800"', b'"\\u0000"',
    b'"content":', b'"role":"user",', b'"messages":[],', b"[[[[[[[[", b"\xff\xfe", b"\xed\xa0\x80", b"NaN", b"//",
    b'{"role":7}', b'{"type":"text","text":null}', b'"stream":"yes",', b'"model":{},', b"\x00", b"\\", b'"',
)  # fmt: skip


def _body(lot: random.Random, host: str) -> Odd:
    path, shape = _shape(lot)
    body = _mutated(lot, shape)
    return Odd("", posted(path, host, body), body)


def _fields(lot: random.Random, host: str) -> Odd:
    """A body that is JSON all the same: with fields that nobody knows, odd numbers and white space."""
    path, shape = _shape(lot)
    token = lot.choice([token for token in TOKENS if _is_json(token)])
    odd_field = b'"%s":%s%s,' % (
        lot.choice((b"x", b"model2", b"", b"\\u0000", "ж".encode())),
        b" " * lot.randrange(9),
        token,
    )
    at = shape.index(b"{") + 1
    body = b"\n" * lot.randrange(3) + shape[:at] + odd_field * lot.choice((1, 1, 2, 300)) + shape[at:]
    return Odd("", posted(path, host, body), body)


def _is_json(token: bytes) -> bool:
    try:
        json.loads(token)
    except ValueError:
        return False
    return True


def _deep(lot: random.Random, host: str) -> Odd:
    many = lot.choice((100, 1000, 5000))
    opening, closing = lot.choice(((b"[", b"]"), (b'{"a":', b"}")))
    inner = opening * many + (b"1" if opening != b"[" else b"") + closing * many
    body = (
        b'{"model":"m","messages":[{"role":"user","content":' + lot.choice((inner, b'"x"')) + b'}],"x":' + inner + b"}"
    )
    return Odd("", posted(lot.choice(PATHS), host, body), body)


def _gzip(lot: random.Random, host: str) -> Odd:
    path, shape = _shape(lot)
    match lot.randrange(5):
        case 0:
            body, how = gzip.compress(shape, mtime=0), "gzip"
        case 1:
            body, how = gzip.compress(shape, mtime=0)[: lot.randrange(1, 60)], "gzip"
        case 2:
            body, how = zlib.compress(shape), "deflate"
        case 3:
            body, how = shape, lot.choice(("gzip", "br", "zstd", "identity", "nonsense", "gzip, gzip"))
        case _:
            body, how = gzip.compress(b" " * lot.choice((2**16, 2**22)), mtime=0), "gzip"
    return Odd("", posted(path, host, body, f"Content-Encoding: {how}"), body)


def _chunked(lot: random.Random, host: str) -> Odd:
    path, shape = _shape(lot)
    data, at = bytearray(head("POST", path, host, "Content-Type: application/json", "Transfer-Encoding: chunked")), 0
    while at < len(shape):
        piece = shape[at : at + lot.choice((1, 7, 100, 5000))]
        extension = lot.choice((b"", b"", b";a=b", b';q="x y"'))
        data += f"{len(piece):{lot.choice(('x', 'X', '04x'))}}".encode() + extension + b"\r\n" + piece + b"\r\n"
        at += len(piece)
    data += b"0\r\n" + lot.choice((b"", b"X-Trailer: 1\r\n")) + b"\r\n"
    return Odd("", bytes(data), shape)


def _bad_chunk(lot: random.Random, host: str) -> Odd:
    begun = head("POST", lot.choice(PATHS), host, "Transfer-Encoding: chunked")
    return Odd(
        "",
        begun + lot.choice((b"zz\r\n{}\r\n", b"-1\r\n", b"5\r\n{}\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n")),
        whole=False,
    )


def _lines(lot: random.Random, host: str) -> Odd:
    path, shape = _shape(lot)
    line = lot.choice(
        (
            "Authorization: Bearer " + "x" * lot.choice((1, 5000)),
            "x-session-id: " + lot.choice(("", "ä", "\u202e", "a" * 500, "../../etc")),
            "x-palimpsest-project: " + lot.choice(("a/b", "ü", "%00", "p" * 250)),
            "x-palimpsest-memory: " + lot.choice(("off", "read-only", "maybe")),
            "User-Agent: " + lot.choice(("", "opencode/1.0", "claude-cli/2.0 (external)", "x" * 3000)),
            "Expect: 100-continue",
            "Connection: close, x-session-id",
            "TE: trailers",
            "Accept-Encoding: " + lot.choice(("zstd", "*;q=0", "")),
            "Content-Type: " + lot.choice(("text/plain", "multipart/form-data; boundary=x", "")),
        )
    )
    return Odd("", posted(path, host, shape, line), shape)


def _large_head(lot: random.Random, host: str) -> Odd:
    """A head of many lines, or of long ones, up to what is read of one and past it."""
    path, shape = _shape(lot)
    size = lot.choice((4_000, 30_000, 60_000, 120_000, 128_000, 134_000, 400_000))
    many = lot.choice((1, 3, 30, 400, 2_000))
    text = lot.choice(("a", "%41", "%25", "a=b; ", ",", " \t", '"', "Bearer ", "palimpsest-client-"))
    length = max(size // many - 12, 1)
    lines = [f"x-{lot.choice(('odd', 'session-id', 'b3'))}-{number}: " for number in range(many)]
    return Odd("", posted(path, host, shape, *(line + (text * length)[:length] + "." for line in lines)), shape)


def _nested_path(lot: random.Random, host: str) -> Odd:
    """A long path, some of it encoded again and again."""
    encoded = "%" + "25" * lot.choice((1, 5, 300, 3_000)) + lot.choice(("2F", "2e", "6B", "00", "zz", "C3%A9"))
    piece = lot.choice((encoded, encoded + "/", "a/", "../", "//", ":predict", "%", "k/", "u/x/p/y/", "models/", "~;"))
    size = lot.choice((100, 2_000, 8_000, 8_300, 60_000, 130_000))
    path = lot.choice(("/", "/v1/", "/v1/models/", "/palimpsest/api/", "/k/", "/v1beta/models/m:", "/v1/models?a="))
    body = b'{"model":"m","messages":[{"role":"user","content":"Hello."}]}'
    data = head("POST", path + (piece * (size // len(piece) + 1))[:size], host, f"Content-Length: {len(body)}")
    return Odd("", data + body)


REPEATED = (
    " ", "\n", "\r\n", " \n", "\t", "\u00a0", "`", "```\n", "'", '"', '"\'', "\\", "-", "- ", "--- ", "(", ")", "([",
    "]", "{", "}", "{\n", "<", "<a>", "<!-- ", ":", "::", ": ", ".", "a.", "a/", "/", "|", "&&", ";\n", "=", "#\n", "*",
    "_", "a", "A1", "é", "\n\n# ", "[chosen: ] ", "\ntotal_tokens: 1",
)  # fmt: skip
"""What a part consists of that is looked through for something else."""
LED_BY = (
    "",
    "",
    "No, please always use a.py: ",
    "the user said",
    "Error: exit code 1\n",
    "<",
    "cat ",
    "1:",
    "- ",
    "```",
)


def repeated(lot: random.Random) -> str:
    """A text of 2,000 to 16,000 times the same."""
    piece, size = lot.choice(REPEATED), lot.choice((2_000, 4_000, 8_000, 16_000))
    return lot.choice(LED_BY) + (piece * size)[:size] + lot.choice(("", "", "x", "\n", "?", "\x00", "Which one?"))


def _repeated(lot: random.Random, host: str) -> Odd:
    """A talk whose parts are such texts: what a person and the agent say, a tool's command, what it gives back."""
    said, command, result = repeated(lot), repeated(lot), repeated(lot)
    file = lot.choice(("a.py", "a.js", "a.go", "a.md", "a.json", "Makefile", "build.log", "a"))
    calls = (
        ("bash", {"command": command}),
        ("write", {"filePath": file, "content": command}),
        ("read", {"filePath": file}),
        ("grep", {"pattern": command}),
        ("task", {"description": "look", "prompt": command}),
    )
    tool, given = lot.choice(calls)
    asked = lot.choice((said, "Go on.", "Which port did we decide on?"))
    if path := lot.choice(("", "/v1/messages")):
        talk = [
            {"role": "user", "content": said},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": tool, "input": given}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]},
            {"role": "assistant", "content": "Done. " + said},
            {"role": "user", "content": asked},
        ]
    else:
        call = {"id": "t1", "type": "function", "function": {"name": tool, "arguments": json.dumps(given)}}
        talk = [
            {"role": "user", "content": said},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t1", "content": result},
            {"role": "assistant", "content": "Done. " + said},
            {"role": "user", "content": asked},
        ]
    talk = talk[: lot.choice((1, 3, 5))]
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": talk}, ensure_ascii=lot.random() < 0.5).encode()
    lines = (f"x-session-id: {lot.choice('abc')}",) if lot.random() < 0.5 else ()
    return Odd("", posted(path or CHAT, host, body, *lines), body)


def _bad_head(lot: random.Random, host: str) -> Odd:
    data = lot.choice(
        (
            b"GET\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"POST / HTTP/9.9\r\n\r\n",
            b"POST " + CHAT.encode() + b" HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
            head("POST", CHAT, host, "Content-Length: -1"),
            head("POST", CHAT, host, "Content-Length: 5", "Content-Length: 6") + b"{}   ",
            head("POST", CHAT, host, "Content-Length: 2", "Transfer-Encoding: chunked") + b"{}",
            head("POST", CHAT, host, "Bad Header: x", "Content-Length: 0"),
            head("POST", CHAT, host, "X: " + "a" * 200_000),
            head("POST", CHAT, host, "Folded: a\r\n b", "Content-Length: 0"),
            head("PRI", "*", host),
            lot.randbytes(lot.randrange(1, 300)) + b"\r\n\r\n",
        )
    )
    return Odd("", data, whole=False)


def _path(lot: random.Random, host: str) -> Odd:
    path = lot.choice(ODD_PATHS)
    method = lot.choice(("POST", "POST", "GET", "PUT", "OPTIONS", "HEAD", "DELETE", "BREW"))
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello."}]}).encode()
    return Odd("", head(method, path, host, f"Content-Length: {len(body)}") + body)


def _leaves(lot: random.Random, host: str) -> Odd:
    """A client that leaves amid its request."""
    path, shape = _shape(lot)
    data = posted(path, host, shape)
    return Odd("", data[: lot.randrange(1, len(data))], whole=False)


KINDS: dict[str, Callable[[random.Random, str], Odd]] = {
    "body": _body,
    "fields": _fields,
    "deep": _deep,
    "compressed": _gzip,
    "chunked": _chunked,
    "bad chunk": _bad_chunk,
    "header": _lines,
    "bad head": _bad_head,
    "path": _path,
    "large head": _large_head,
    "nested path": _nested_path,
    "repeated": _repeated,
    LEAVES: _leaves,
}
