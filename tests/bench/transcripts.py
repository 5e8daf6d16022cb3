"""Recorded sessions of agents, and what a proxy is judged by when they are played again: the bench's own measures.

A folder holds ``*.jsonl.gz`` files of objects with an ``id``, a ``source`` and OpenAI ``messages``. Nothing of them is
kept. Tokens are bytes of JSON / 4.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Body = Mapping[str, Any]
"""A message as it stands on the wire."""

DISTANT = 20_000
"""An identifier is distant when it was last seen so many tokens before the end of the request."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./:-]{7,}")
_AROUND = 60


@dataclass(frozen=True)
class Transcript:
    """One recorded session."""

    id: str
    source: str
    messages: tuple[Body, ...]
    tokens: int


def transcripts(folder: Path, least: int, most: int) -> list[Transcript]:
    """The sessions of at least so many tokens, at most so many of them, in an order that is no order."""
    found = []
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                item = json.loads(line)
                bodies = tuple({k: v for k, v in body.items() if k != "_meta"} for body in item["messages"])
                found.append(Transcript(item["id"], file.name.split(".")[0], bodies, item["approx_tokens"]))
    found = [each for each in found if each.tokens >= least]
    found.sort(key=lambda each: hashlib.sha256(each.id.encode()).hexdigest())
    return found[:most] if most else found


def text_of(body: Body) -> str:
    """The text of a message's content."""
    content = body.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in content)
    return content if isinstance(content, str) else ""


def names_in(body: Body) -> frozenset[str]:
    """The paths and identifiers in a message, its calls' arguments included."""
    arguments = " ".join(call["function"]["arguments"] for call in body.get("tool_calls") or [])
    text = f"{text_of(body)} {arguments}".replace("\\n", " ").replace('\\"', " ")
    return frozenset(name.strip("./:-") for name in _NAME.findall(text))


def schemas_of(messages: Sequence[Body]) -> list[Any]:
    """Tool definitions that would allow the calls of a session."""
    tools: dict[str, set[str]] = {}
    for body in messages:
        for call in body.get("tool_calls") or []:
            try:
                arguments = json.loads(call["function"]["arguments"])
            except ValueError:
                arguments = {}
            tools.setdefault(call["function"]["name"], set()).update(arguments if isinstance(arguments, dict) else ())
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": name,
                "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in sorted(keys)}},
            },
        }
        for name, keys in sorted(tools.items())
    ]


@dataclass(frozen=True)
class Rendered:
    """A message as it is forwarded, in the forms that the measures need."""

    body: Body
    tokens: int
    serial: bytes
    blob: str

    @classmethod
    def of(cls, body: Body) -> Rendered:
        """Render one message."""
        shown = {k: body[k] for k in ("role", "content", "tool_calls", "tool_call_id", "name") if k in body}
        blob = f"{text_of(body)} {json.dumps(body.get('tool_calls') or '')}"
        blob = blob.replace("\\\\n", " ").replace("\\n", " ").replace('\\"', '"')
        return cls(
            body,
            len(json.dumps(body, ensure_ascii=False).encode()) // 4,
            json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode() + b"\n",
            " ".join(blob.split()),
        )


def common(before: Sequence[Rendered], now: Sequence[Rendered]) -> int:
    """Bytes that two requests have in common at their beginning."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old.serial is not new.serial and old.serial != new.serial:
            low, high = 0, min(len(old.serial), len(new.serial))
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if old.serial[:middle] == new.serial[:middle] else (low, middle - 1)
            return shared + low
        shared += len(new.serial)
    return shared


class Seen:
    """Where each identifier of a session stood last, and the line around it."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.line: dict[str, str] = {}

    def add(self, index: int, body: Body, names: frozenset[str]) -> None:
        """Take in the message of this index."""
        calls = (json.dumps(c["function"]["arguments"], ensure_ascii=False)[1:-1] for c in body.get("tool_calls") or [])
        whole = text_of(body) + "\n" + "\n".join(calls)
        whole = whole.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\\\"', '"').replace('\\"', '"')
        flat = "\n".join(" ".join(line.split()) for line in whole.split("\n"))
        for name in names:
            last = flat.rfind(name)
            if last >= 0:
                start = flat.rfind("\n", 0, last) + 1
                end = flat.find("\n", last)
                line = flat[start : end if end >= 0 else len(flat)]
                position = line.find(name)
                self.line[name] = line[max(0, position - _AROUND) : position + len(name) + _AROUND].strip()
        for name in names:
            self.at[name] = index


def broken(bodies: Sequence[Body]) -> list[str]:
    """The rules of Chat Completions that a request breaks."""
    faults: list[str] = []
    open_calls: set[str] = set()
    for body in bodies:
        role = body["role"]
        if role == "tool":
            if body.get("tool_call_id") not in open_calls:
                faults.append("orphan result")
            open_calls.discard(body.get("tool_call_id", ""))
            continue
        if open_calls:
            faults.append("unanswered call")
        calls = body.get("tool_calls") or []
        open_calls = {call["id"] for call in calls}
        if len(open_calls) < len(calls):
            faults.append("one id twice")
        for call in calls:
            try:
                json.loads(call["function"]["arguments"])
            except ValueError:
                faults.append("arguments are no JSON")
        if role in ("user", "assistant") and not calls and not text_of(body).strip():
            faults.append(f"empty {role}")
    if open_calls:
        faults.append("unanswered call")
    if not bodies or bodies[-1]["role"] == "assistant":
        faults.append("ends with the assistant")
    return faults


class Tally:
    """The sums of a run, and the measures made of them."""

    def __init__(self) -> None:
        self.sums: Counter[str] = Counter()

    def add(self, other: Tally) -> None:
        """Take in another's sums."""
        self.sums.update(other.sums)

    def row(self) -> dict[str, float]:
        """The measures by name."""
        s = self.sums

        def share(part: str, whole: str) -> float:
            return s[part] / s[whole] if s[whole] else float("nan")

        def price(kept: int, total: int) -> float:
            return (kept * 0.1 + total - kept) / 4

        client = price(s["client_kept"], s["client_bytes"])
        return {
            "requests": s["requests"],
            "invalid": s["invalid"],
            "over": s["over"],
            "client_over": s["client_over"],
            "sheds": s["sheds"],
            "cuts": s["cuts"],
            "prefix": share("kept", "before"),
            "cost": price(s["kept"], s["bytes"]) / client if client else float("nan"),
            "forwarded": share("tokens", "client_tokens"),
            "names": share("near_ok", "near"),
            "distant": share("distant_ok", "distant"),
            "lines": share("lines_ok", "distant"),
            "n": s["distant"],
        }
