"""Sessions of agents, made up for tests: rounds of a call and its result, with their pieces and sizes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.context.retention_value import SheddablePart
from memory.context.shed_plan import ShedPlan
from memory.conversation import (
    Conversation,
    Form,
    Image,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    digest,
)
from memory.edits import Act, ActiveEdits, ContentTier, Entry, Ledger, handle

Round = tuple[str, Mapping[str, Any] | str, str]
"""A tool's name, its arguments, and what it answered."""


def said(role: Role, *parts: Part, spoken: str = "") -> Message:
    """One message."""
    return Message(role, parts, digest(role, parts), spoken, Form.SUFFIX)


def person(text: str) -> Message:
    """What a person said."""
    return said(Role.USER, Text(text), spoken=text)


def rounds(*played: Round, first: int = 0, failed: Sequence[int] = ()) -> list[Message]:
    """An assistant's message with a call, and its result, for each."""
    found = []
    for number, (name, arguments, answer) in enumerate(played, first):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        found.append(said(Role.ASSISTANT, ToolCall(f"c{number}", name, raw)))
        found.append(said(Role.TOOL, ToolResult(f"c{number}", (Text(answer),), number in failed)))
    return found


def session(*messages: Message) -> Conversation:
    """A conversation with a system message and a first request of a person before these."""
    first = (said(Role.SYSTEM, Text("You are an agent.")), person("Fix the parser of dates in src/dates.py."))
    return Conversation("openai-chat", "model", (*first, *messages))


def tokens(text: str) -> int:
    """A rough count."""
    return len(text) // 4 + 1


def text_of(part: Part) -> str:
    """What a part says."""
    match part:
        case Text(text) | Reasoning(text, _) | Image(text):
            return text
        case ToolCall():
            return part.arguments
        case ToolResult():
            return part.text
    return ""


def overview(text: str) -> str:
    """A fifth of a text."""
    return text[: len(text) // 5]


def pieces(conversation: Conversation, standing: ActiveEdits = ActiveEdits(), least: int = 40) -> list[SheddablePart]:  # noqa: B008
    """Every part behind the head that may be shed."""
    found = []
    for index, message in enumerate(conversation.messages):
        if index < conversation.head or index in standing.dropped or message.role is Role.SYSTEM:
            continue
        for number, part in enumerate(message.parts):
            kind = {Text: "text", ToolCall: "call", ToolResult: "result", Image: "image"}.get(type(part), "")
            text = text_of(part)
            if not kind or tokens(text) < least:
                continue
            entry = standing.replaced.get((index, number))
            short = json.dumps({"shortened": overview(text)}) if kind == "call" else overview(text)
            found.append(
                SheddablePart(
                    index,
                    number,
                    kind,
                    tokens(text),
                    "" if kind == "call" else text[:40],
                    short,
                    tokens(short),
                    entry.tier if entry else ContentTier.L2,
                    handle(message.digest, number),
                )
            )
    return found


def sizes(conversation: Conversation, standing: ActiveEdits = ActiveEdits()) -> list[int]:  # noqa: B008
    """What each message takes as it stands."""
    added: dict[int, int] = {}
    for index, entry in standing.entries:
        added[index] = added.get(index, 0) + tokens(entry.text)
    return [
        0 if index in standing.dropped else added.get(index, 0) + 4 + sum(map(tokens, _texts(index, message, standing)))
        for index, message in enumerate(conversation.messages)
    ]


def _texts(index: int, message: Message, standing: ActiveEdits) -> Iterable[str]:
    for number, part in enumerate(message.parts):
        entry = standing.replaced.get((index, number))
        yield text_of(part) if entry is None else entry.text


def written(ledger: Ledger, conversation: Conversation, decided: ShedPlan) -> ActiveEdits:
    """Write a plan into a ledger as the server does; what holds then."""
    keys = conversation.keys()
    for each in decided.replacements:
        ledger.write(Entry(*keys[each.message], each.text, Form.PART, "shed", (), Act.REPLACE, each.part, each.tier))
    if decided.cut is not None:
        ledger.write(Entry(*keys[decided.cut.message], decided.cut.text, Form.SUFFIX, "rotate", (), Act.CUT))
    return ledger.active(keys, conversation.head)


def shown(conversation: Conversation, standing: ActiveEdits) -> list[Message]:
    """The messages as they leave."""
    found = []
    for index, message in enumerate(conversation.messages):
        if index in standing.dropped:
            continue
        parts: list[Part] = []
        for number, part in enumerate(message.parts):
            entry = standing.replaced.get((index, number))
            match part:
                case ToolCall() if entry:
                    parts.append(replace(part, arguments=entry.text))
                case ToolResult() if entry:
                    parts.append(replace(part, content=(Text(entry.text),)))
                case _:
                    parts.append(Text(entry.text) if entry else part)
        found.append(replace(message, parts=tuple(parts)))
    return found


def faults(messages: Iterable[Message]) -> list[str]:
    """What a provider would refuse: calls and results without each other, and arguments that are no JSON."""
    found = []
    waiting: set[str] = set()
    for message in messages:
        for result in message.results:
            if result.call_id not in waiting:
                found.append("a result without its call")
            waiting.discard(result.call_id)
        if not message.results and not message.calls and waiting:
            found.append("a call without its result")
        for call in message.calls:
            waiting.add(call.id)
            try:
                json.loads(call.arguments)
            except ValueError:
                found.append("arguments that are no JSON")
        if not message.parts or not any(text_of(part).strip() or isinstance(part, ToolCall) for part in message.parts):
            found.append("an empty message")
    return found
