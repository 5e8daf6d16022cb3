"""Requests that are heavy in every way that one of some size can be: for the benches of what they do to others.

Each of :data:`HEAVY` makes one of about so many bytes; where it is compressed, of so many when it is read.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

CHAT, MESSAGES, RESPONSES, EMBEDDINGS = "/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings"
WORDS = "the retries stay at three as decided, token = build error in main.py key: value password "
CODE = 'def load(path: str, retries: int = 3) -> dict[str, str]:\n    """Read a file."""\n    return read(path)\n\n'
LOG = "2026-11-25T10:01:02Z ERROR app.worker[17]: job 4711 failed after 3 tries: ConnectionError('10.0.0.1:5432')\n"
DIFF = "@@ -1,3 +1,3 @@\n def load():\n-    return 1\n+    return 2\n"
MIB = 2**20


class Body(NamedTuple):
    """What is sent, with the headers that go with it, and where."""

    data: bytes
    headers: dict[str, str]
    path: str = CHAT


def repeated(text: str, size: int) -> str:
    """A text of so many characters."""
    return (text * (size // len(text) + 1))[:size]


def chat(*contents: str) -> bytes:
    """A request whose person says these things."""
    return _chat([{"role": "user", "content": content} for content in contents])


def _chat(messages: list[dict[str, Any]]) -> bytes:
    return json.dumps({"model": "bench", "messages": messages}).encode()


@cache
def _known_words() -> list[str]:
    lot, letters = random.Random(0), "abcdefghijklmnopqrstuvwxyz"
    return ["".join(lot.choices(letters, k=lot.randint(2, 10))) for _ in range(20_000)]


def _words(size: int, seed: int = 1) -> str:
    """So many characters of words that do not repeat themselves."""
    return " ".join(random.Random(seed).choices(_known_words(), k=size // 5))[:size]


def _many(one: dict[str, Any], size: int) -> bytes:
    text = json.dumps(one).encode()
    return b'{"model":"bench","messages":[' + b",".join([text] * (size // (len(text) + 1))) + b"]}"


def _parts(size: int) -> bytes:
    one = b'{"type":"text","text":"a"}'
    inner = b",".join([one] * (size // (len(one) + 1)))
    return b'{"model":"bench","messages":[{"role":"user","content":[' + inner + b"]}]}"


def _dialogue(size: int) -> bytes:
    """A long talk with a tool: no two messages are the same."""
    lot, messages, written = random.Random(1), list[dict[str, Any]](), 0
    while written < size:
        number = len(messages)
        call = {"name": "read", "arguments": json.dumps({"path": f"src/module_{number}.py", "from": number})}
        messages += [
            {"role": "user", "content": f"Read module {number}. {_words(300, number)}"},
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": repeated(CODE, lot.randint(500, 4000))},
            {"role": "assistant", "content": _words(200, number + 1)},
        ]
        written += sum(len(str(each)) for each in messages[-4:])
    return _chat([*messages, {"role": "user", "content": "Go on."}])


def _calls(size: int) -> bytes:
    """One message that calls as many tools, and as many results."""
    count = size // 320
    calls = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "run", "arguments": json.dumps({"command": f"ls {n}"})},
        }
        for n in range(count)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"file {n}\n" * 8} for n in range(count)]
    return _chat([{"role": "user", "content": "List."}, {"role": "assistant", "tool_calls": calls}, *results])


def _result(text: str, command: str = "cat file", name: str = "run") -> bytes:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps({"command": command})}}
    return _chat(
        [
            {"role": "user", "content": "Look at it."},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ]
    )


def _tools(size: int) -> bytes:
    """As many tools as there is room for."""
    one = {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "description": "words " * 5} for n in range(20)},
    }
    each = len(json.dumps(one)) + 100
    tools = [
        {"type": "function", "function": {"name": f"tool_{n}", "description": "Does it.", "parameters": one}}
        for n in range(size // each)
    ]
    return json.dumps({"model": "bench", "messages": [{"role": "user", "content": "Hi."}], "tools": tools}).encode()


def _anthropic(size: int) -> bytes:
    blocks = [{"type": "text", "text": repeated(WORDS, 1000)} for _ in range(min(size // 1030, 19_000))]
    messages = [{"role": "user", "content": blocks}]
    return json.dumps({"model": "bench", "max_tokens": 10, "system": _words(size // 8), "messages": messages}).encode()


def _input(size: int) -> bytes:
    """Responses: as many items."""
    each = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look at it once more."}]}
    return json.dumps({"model": "bench", "input": [each] * (size // len(json.dumps(each)))}).encode()


def _image(size: int) -> bytes:
    data = base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return _chat([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}])


def _said(escaped: bytes) -> bytes:
    return b'{"messages":[{"role":"user","content":"' + escaped + b'"}]}'


def _nested_in_part(size: int) -> bytes:
    inner = b'{"a":' * 500 + b"[" + b"1," * (size // 2) + b"1]" + b"}" * 500
    return b'{"messages":[{"role":"user","content":[' + inner + b"]}]}"


def _gzip(text: bytes) -> Body:
    return Body(gzip.compress(text, 6), {"Content-Encoding": "gzip"})


def _objects(size: int) -> str:
    return json.dumps([{"id": n, "name": f"row {n}", "tags": ["a", "b"], "at": None} for n in range(size // 60)])


HEAVY: dict[str, Callable[[int], Body]] = {
    "words": lambda size: Body(chat(repeated(WORDS, size)), {}),
    "other words": lambda size: Body(chat(_words(size)), {}),
    "one letter": lambda size: Body(chat("a" * size), {}),
    "one line": lambda size: Body(chat(_words(size).replace(" ", "_")), {}),
    "line ends": lambda size: Body(chat("\n" * (size // 2)), {}),
    "blanks": lambda size: Body(chat(" " * size), {}),
    "quotes": lambda size: Body(chat('"' * (size // 2)), {}),
    "brackets": lambda size: Body(chat("([{<" * (size // 4)), {}),
    "signs": lambda size: Body(chat(repeated("=:/-_.,#*`'@", size)), {}),
    "digits": lambda size: Body(chat(repeated("4111 1111 1111 1111 ", size)), {}),
    "sentences": lambda size: Body(chat(repeated("We use pnpm here. Never push to main! Why? ", size)), {}),
    "not ASCII": lambda size: Body(chat("ж" * (size // 6)), {}),
    "not ASCII, as it is": lambda size: Body(_said("жук ".encode() * (size // 7)), {}),
    "base64": lambda size: Body(chat(base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()), {}),
    "a picture": lambda size: Body(_image(size), {}),
    "lone surrogates": lambda size: Body(_said(b"\\ud800" * (size // 6)), {}),
    "many messages": lambda size: Body(_many({"role": "user", "content": "a"}, size), {}),
    "many answers": lambda size: Body(_many({"role": "assistant", "content": "Done."}, size), {}),
    "messages of a KiB": lambda size: Body(chat(*[_words(1000, seed) for seed in range(size // 1030)]), {}),
    "many parts": lambda size: Body(_parts(size), {}),
    "a talk with tools": lambda size: Body(_dialogue(size), {}),
    "many calls": lambda size: Body(_calls(size), {}),
    "many tools": lambda size: Body(_tools(size), {}),
    "a result of code": lambda size: Body(_result(repeated(CODE, size)), {}),
    "a result of log": lambda size: Body(_result(repeated(LOG, size), "tail log"), {}),
    "a result of a diff": lambda size: Body(_result(repeated(DIFF, size), "git diff"), {}),
    "a result of JSON": lambda size: Body(_result(_objects(size), "curl api"), {}),
    "a result of one line": lambda size: Body(_result(_words(size)), {}),
    "a long command": lambda size: Body(_result("ok", repeated("echo one && ls -l | grep x\n", size)), {}),
    "Anthropic's blocks": lambda size: Body(_anthropic(size), {}, MESSAGES),
    "Responses' items": lambda size: Body(_input(size), {}, RESPONSES),
    "numbers": lambda size: Body(b'{"model":"bench","messages":[],"x":[' + b"1," * (size // 2) + b"1]}", {}),
    "many fields": lambda size: Body(json.dumps({f"field {n}": n for n in range(size // 20)}).encode(), {}),
    "nested lists": lambda size: Body(b'{"messages":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}", {}),
    "nested in a part": lambda size: Body(_nested_in_part(size), {}),
    "no JSON": lambda size: Body(b'{"model":"bench","messages":[' + b'"' * size, {}),
    "NaN at its end": lambda size: Body(chat(repeated(WORDS, size))[:-1] + b',"x":NaN}', {}),
    "gzip of words": lambda size: _gzip(chat(repeated(WORDS, size))),
    "gzip of other words": lambda size: _gzip(chat(_words(size))),
    "gzip of one letter": lambda size: _gzip(chat("a" * size)),
    "of no known kind": lambda size: Body(chat(_words(size)), {"Content-Type": "application/octet-stream"}, EMBEDDINGS),
}  # fmt: skip
"""By name."""
