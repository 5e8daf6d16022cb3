"""Random histories that a provider would accept, of each dialect: what hypothesis draws for the laws of shedding.

A history is a list of groups: a person's message, an answer, a round of tool calls with their results. Whole groups
may leave it, and the rest is still valid.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.proxy.wire.bodies import MESSAGES, Exact, Twice, said, spelt, values

MARK = {"cache_control": {"type": "ephemeral"}}
SEALED = Exact("EqQBsigned==")


@dataclass
class Teller:
    """Tells one history, of its own words, in a shape that ``rng`` decides; ids count up, cache marks run out."""

    rng: random.Random
    words: list[str]
    values: list[Any]
    ids: int = 0
    marks: int = field(default=3)

    def text(self) -> str:
        return self.rng.choice(self.words)

    def id(self) -> Exact:
        self.ids += 1
        return Exact(f"id_{self.ids}")

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def mark(self) -> dict[str, Any]:
        if self.marks and self.chance(0.2):
            self.marks -= 1
            return MARK
        return {}

    def dressed(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with a field that no dialect knows, or a key that stands twice."""
        if self.chance(0.2):
            message = {"x_unknown": self.rng.choice(self.values), **message}
        if self.chance(0.2):
            name = self.rng.choice([key for key in message if key != "x_unknown"])
            return Twice(message, {name: Exact("decoy")})
        return message

    def arguments(self) -> str:
        return json.dumps({"path": self.text(), "n": [1, 1e0]}, indent=self.rng.choice([None, 1]))


def chat(tell: Teller) -> list[list[dict[str, Any]]]:
    def content() -> Any:
        if tell.chance(0.5):
            return tell.text()
        parts: list[dict[str, Any]] = [{"type": "text", "text": tell.text(), **tell.mark()}]
        if tell.chance(0.3):
            parts.append({"type": "image_url", "image_url": {"url": Exact("data:image/png;base64,iVBO")}})
        if tell.chance(0.2):
            parts.insert(0, {"type": "text", "text": ""})
        return [tell.dressed(part) for part in parts]

    def call(id: str) -> dict[str, Any]:
        if tell.chance(0.2):
            return {"id": id, "type": "custom", "custom": {"name": Exact("patch"), "input": tell.text()}}
        signed = {"extra_content": {"google": {"thought_signature": SEALED}}} if tell.chance(0.2) else {}
        function = {"name": Exact("read"), "arguments": Exact(tell.arguments())}
        return {"id": id, "type": Exact("function"), "function": function, **signed}

    def user() -> list[dict[str, Any]]:
        return [{"role": "user", "content": content()}]

    def group() -> list[dict[str, Any]]:
        if tell.chance(0.3):
            return user()
        thought = {"reasoning_content": tell.text()} if tell.chance(0.4) else {}
        if tell.chance(0.3):
            return [{"role": "assistant", **thought, "content": tell.text()}]
        ids = [tell.id() for _ in range(tell.rng.randint(1, 3))]
        calls = [tell.dressed(call(id)) for id in ids]
        before = tell.rng.choice([None, "", tell.text()])
        made = {"role": "assistant", **thought, "content": before, "tool_calls": calls}
        tell.rng.shuffle(ids)
        results = [{"role": "tool", "tool_call_id": id, "content": "" if tell.chance(0.3) else content()} for id in ids]
        return [made, *results]

    return [[{"role": "system", "content": tell.text()}, *user()], *(group() for _ in range(tell.rng.randint(1, 6)))]


def responses(tell: Teller) -> list[list[dict[str, Any]]]:
    def content() -> Any:
        if tell.chance(0.4):
            return tell.text()
        parts: list[dict[str, Any]] = [{"type": "input_text", "text": tell.text()}]
        if tell.chance(0.3):
            parts.append({"type": Exact("input_image"), "image_url": Exact("data:image/png;base64,iVBO")})
        return [tell.dressed(part) for part in parts]

    def user() -> list[dict[str, Any]]:
        return [{"type": "message", "role": "user", "content": content()}]

    def group() -> list[dict[str, Any]]:
        if tell.chance(0.3):
            return user()
        if tell.chance(0.1):
            return [{"type": Exact("compaction"), "encrypted_content": SEALED}]
        thought: list[dict[str, Any]] = []
        if tell.chance(0.4):
            thought = [{"type": "reasoning", "id": tell.id(), "summary": [], "encrypted_content": SEALED}]
        if tell.chance(0.3):
            part = {"type": "output_text", "text": tell.text(), "annotations": [{"start_index": 3}]}
            return [*thought, {"type": "message", "role": "assistant", "content": [part]}, *user()]
        ids = [tell.id() for _ in range(tell.rng.randint(1, 3))]
        calls: list[dict[str, Any]] = []
        results: list[dict[str, Any]] = []
        for id in ids:
            if tell.chance(0.3):
                calls.append({"type": Exact("custom_tool_call"), "call_id": id, "name": "patch", "input": tell.text()})
                results.append({"type": Exact("custom_tool_call_output"), "call_id": id, "output": content()})
            else:
                given = Exact(tell.arguments())
                calls.append({"type": "function_call", "call_id": id, "name": Exact("read"), "arguments": given})
                results.append({"type": "function_call_output", "call_id": id, "output": content()})
        return [*thought, *calls, *results]

    first = [{"type": "message", "role": "developer", "content": tell.text()}, *user()]
    return [first, *(group() for _ in range(tell.rng.randint(1, 6)))]


def anthropic(tell: Teller) -> list[list[dict[str, Any]]]:
    image = {"type": "image", "source": {"type": Exact("base64"), "media_type": Exact("image/png"), "data": "iVBO"}}

    def blocks() -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = [{"type": "text", "text": tell.text(), **tell.mark()}]
        if tell.chance(0.3):
            made.append({**image, **tell.mark()})
        if tell.chance(0.2):
            made.append({"type": Exact("document"), "title": tell.text(), "source": {"content": tell.text()}})
        return [tell.dressed(block) for block in made]

    def content() -> Any:
        return tell.text() if tell.chance(0.4) else blocks()

    def result(id: str) -> dict[str, Any]:
        inside = tell.rng.choice([{"content": content()}, {"content": content()}, {}, {"content": ""}])
        failed = {"is_error": True} if tell.chance(0.2) else {}
        return tell.dressed({"type": "tool_result", "tool_use_id": id, **inside, **failed, **tell.mark()})

    def group() -> list[dict[str, Any]]:
        if tell.chance(0.3):
            return [{"role": "user", "content": content()}]
        thought: list[dict[str, Any]] = []
        if tell.chance(0.4):
            thought = [{"type": "thinking", "thinking": tell.text(), "signature": SEALED}]
        if tell.chance(0.3):
            return [
                {"role": "assistant", "content": [*thought, {"type": "text", "text": tell.text(), "citations": [{}]}]},
                {"role": "user", "content": content()},
            ]
        ids = [tell.id() for _ in range(tell.rng.randint(1, 3))]
        uses = [{"type": "tool_use", "id": id, "name": "read", "input": {"n": 1e0, "path": tell.text()}} for id in ids]
        tell.rng.shuffle(ids)
        results = [result(id) for id in ids]
        tail = blocks() if tell.chance(0.2) else []
        return [{"role": "assistant", "content": [*thought, *uses]}, {"role": "user", "content": [*results, *tail]}]

    return [[{"role": "user", "content": content()}], *(group() for _ in range(tell.rng.randint(1, 6)))]


def gemini(tell: Teller) -> list[list[dict[str, Any]]]:
    image = {"inlineData": {"mimeType": Exact("image/png"), "data": Exact("iVBO")}}

    def user() -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = [{"text": tell.text()}]
        if tell.chance(0.3):
            parts.append(image)
        return [{"role": "user", "parts": [tell.dressed(part) for part in parts]}]

    def response(id: dict[str, Any]) -> dict[str, Any]:
        told = tell.rng.choice([{"output": tell.text()}, {"error": tell.text()}, {"a": 1e0, "b": tell.text()}])
        pictures = {"parts": [image]} if tell.chance(0.2) else {}
        return {"functionResponse": {**id, "name": Exact("read"), "response": told, **pictures}}

    def group() -> list[dict[str, Any]]:
        if tell.chance(0.3):
            return user()
        thought: list[dict[str, Any]] = [{"text": tell.text(), "thought": True}] if tell.chance(0.4) else []
        signed = {"thoughtSignature": SEALED} if tell.chance(0.5) else {}
        if tell.chance(0.3):
            return [{"role": "model", "parts": [*thought, {"text": tell.text(), **signed}]}, *user()]
        ids = [{"id": tell.id()} if tell.chance(0.5) else {} for _ in range(tell.rng.randint(1, 3))]
        args = {"n": 1e0, "path": tell.text()}
        calls: list[dict[str, Any]] = [{"functionCall": {**id, "name": Exact("read"), "args": args}} for id in ids]
        calls[0] = {**calls[0], **signed}
        tell.rng.shuffle(ids)
        answers = [response(id) for id in ids]
        return [{"role": "model", "parts": [*thought, *calls]}, {"role": "user", "parts": answers}]

    return [user(), *(group() for _ in range(tell.rng.randint(1, 6)))]


def ollama(tell: Teller) -> list[list[dict[str, Any]]]:
    def user() -> list[dict[str, Any]]:
        pictures = {"images": [Exact("iVBO")]} if tell.chance(0.3) else {}
        return [{"role": "user", "content": tell.text(), **pictures}]

    def group() -> list[dict[str, Any]]:
        if tell.chance(0.3):
            return user()
        thought = {"thinking": tell.text()} if tell.chance(0.4) else {}
        if tell.chance(0.3):
            return [{"role": "assistant", **thought, "content": tell.text()}]
        ids = [{"id": tell.id()} if tell.chance(0.5) else {} for _ in range(tell.rng.randint(1, 3))]
        args = {"n": 1e0, "path": tell.text()}
        calls = [{**id, "function": {"name": Exact("read"), "arguments": args}} for id in ids]
        results = [
            {"role": "tool", "tool_name": Exact("read"), "content": tell.text()}
            | ({"tool_call_id": id["id"]} if id else {})
            for id in ids
        ]
        return [{"role": "assistant", **thought, "content": "", "tool_calls": calls}, *results]

    return [[{"role": "system", "content": tell.text()}, *user()], *(group() for _ in range(tell.rng.randint(1, 6)))]


TELLERS = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": anthropic,
    ":generateContent": gemini,
    "/api/chat": ollama,
}


@dataclass(frozen=True)
class History:
    """A body, and where its groups begin: the first group is the head; the end of the last one is there too."""

    body: bytes
    bounds: tuple[int, ...]


@st.composite
def histories(draw: st.DrawFn, path: str) -> History:
    """A history of the dialect at a path."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    words = draw(st.lists(said.filter(lambda text: bool(text.strip())), min_size=1, max_size=5))
    tell = Teller(rng, words, draw(st.lists(values, min_size=1, max_size=2)))
    groups = TELLERS[path](tell)
    bounds = [0]
    for group in groups:
        bounds.append(bounds[-1] + len(group))
    items = [tell.dressed(message) for group in groups for message in group]
    name = MESSAGES[path][0]
    value = Twice({"model": "m", name: items, "x_tail": tell.values}, {"model": "first", "x_tail": [1]})
    return History((rng.choice(["", "", "\ufeff"]) + spelt(value, rng)).encode(), tuple(bounds))
