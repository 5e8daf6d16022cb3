"""Which result answers which call, in messages that come from the journal.

There a message is stored once, by its content, and ids are no content: a call that was made twice has the first one's
id both times. So a result belongs to the open call with its id where there is one, and else to the first open one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.actions import Place
from memory.conversation import Message, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call with its result, and where both stand."""

    at: Place
    call: ToolCall
    answered: Place
    result: ToolResult


def pairs(messages: Sequence[Message]) -> list[CallResult]:
    """The calls that were answered, in the order of the calls."""
    found: list[CallResult] = []
    calls: list[tuple[Place, ToolCall]] = []
    results: list[tuple[Place, ToolResult]] = []
    for index, message in enumerate(messages):
        if results and (message.calls or message.spoken):
            found.extend(_matched(calls, results))
            calls, results = [], []
        if message.spoken:
            calls = []
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                calls.append(((index, number), part))
            elif isinstance(part, ToolResult):
                results.append(((index, number), part))
    found.extend(_matched(calls, results))
    return sorted(found, key=lambda pair: pair.at)


def _matched(calls: list[tuple[Place, ToolCall]], results: Sequence[tuple[Place, ToolResult]]) -> list[CallResult]:
    found: list[CallResult] = []
    rest: list[tuple[Place, ToolResult]] = []
    for answered, result in results:
        own = next((each for each in calls if each[1].id == result.call_id), None)
        if own is None:
            rest.append((answered, result))
        else:
            calls.remove(own)
            found.append(CallResult(*own, answered, result))
    found.extend(
        CallResult(at, call, answered, result) for (at, call), (answered, result) in zip(calls, rest, strict=False)
    )
    return found
