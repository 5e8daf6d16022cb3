"""Extraction over JSON lines, for measuring it and for scripts: ``{id, messages}`` in, ``{id, facts}`` out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import orjson

from memory.fact import FactDraft, Origin
from memory.learning.extract import extract


def extract_jsonl(lines: Iterable[str], at: datetime, *, assistant: bool = False) -> Iterator[str]:
    """For each line ``{"id": …, "messages": [{"role", "content"}…]}`` a line ``{"id": …, "facts": [{"text", "type",
    "role"}…]}``; only what people say is read unless ``assistant``. Where a tool speaks, an agent is at work.

    Raises:
        ValueError: when a line is no such object; it names the line, counted from 1.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = orjson.loads(line)
            messages = [(str(message.get("role", "")), _text(message.get("content"))) for message in item["messages"]]
            name = item["id"]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"line {number}: not an object with id and messages ({error})") from error
        facts = [
            {"text": draft.text, "type": draft.kind.value, "role": role, "category": draft.category.value,
             "layer": draft.layer.value, "confidence": draft.confidence, "importance": draft.importance,
             "sensitivity": draft.sensitivity.value, "wrong": draft.wrong}
            for role, draft in _drafts(messages, at, assistant)
        ]  # fmt: skip
        yield orjson.dumps({"id": name, "facts": facts}).decode()


def _drafts(messages: list[tuple[str, str]], at: datetime, assistant: bool) -> Iterator[tuple[str, FactDraft]]:
    reply = question = ""
    work = any(role == "tool" for role, _ in messages)
    for role, text in messages:
        if role == "user":
            yield from (
                (role, draft)
                for draft in extract(text, Origin.USER, at, before=reply, question=question, work=work)
                if not draft.unsure
            )
            question, reply = text, ""
        elif role == "assistant":
            if assistant:
                yield from ((role, draft) for draft in extract(text, Origin.ASSISTANT, at))
            reply = text or reply


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""
