"""What of a parent's talk goes with a research that is forgotten: the question in the call that sent it out, and the
report wherever it came back.

A call and a result are struck where they stand, and what else was called or came back beside them stays. A text that
says it (a note that a sub-agent in the background is done, a person who asked in those very words) goes as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from memory.conversation import Message, Part, Role, Text, ToolCall, ToolResult
from memory.learning.reports import delivery, plain
from memory.learning.spawning import LEAST, errands
from memory.research import Delivery, Research

FORGOTTEN: Final = "[forgotten]"
"""What stands in the place of what a person has had forgotten."""

NO_ARGUMENTS: Final = '{"forgotten":true}'
"""What stands in the place of a forgotten call's arguments, which must be JSON."""


@dataclass(frozen=True, slots=True)
class ErasedResearch:
    """What is to go: everything that the sub-agent was asked, without frames, and what it reported."""

    call: str
    asked: tuple[str, ...]
    titles: frozenset[str]
    reports: tuple[str, ...]


def going(research: Research, trail: Sequence[Message]) -> ErasedResearch:
    """What of a research may stand elsewhere; ``trail`` tells what it was asked later on."""
    later = [message.spoken or message.text for message in trail if message.role is Role.USER and not message.results]
    questions = [research.question, *(text for text in later if len(text) >= LEAST)]
    titles = frozenset(title for text in (research.description, research.question) if (title := plain(text)))
    known = [found for text in dict.fromkeys(questions) if (found := plain(text))]
    return ErasedResearch(research.call, tuple(known), titles, tuple(filter(None, research.reports)))


def says(text: str, gone: ErasedResearch) -> bool:
    """Whether a text holds a question or a report, framed or not."""
    found = plain(text)
    if any(len(question) >= LEAST and question in found for question in gone.asked):
        return True
    return any(delivery(report, text) is not Delivery.NOT for report in gone.reports)


def struck(message: Message, gone: ErasedResearch) -> Mapping[int, Part]:
    """The calls and results of a message that hold it, by their place, as they are to be left."""
    left: dict[int, Part] = {}
    for place, part in enumerate(message.parts):
        match part:
            case ToolCall(id, name, arguments):
                without = _arguments_without_question(part, gone)
                if without != arguments:
                    left[place] = ToolCall(id, name, without)
            case ToolResult(call_id, _, failed):
                if (call_id == gone.call and gone.call) or says(part.text, gone):
                    left[place] = ToolResult(call_id, (Text(FORGOTTEN),), failed)
            case _:
                pass
    return left


def mentions_research(message: Message, gone: ErasedResearch) -> bool:
    """Whether a message says it in a text of its own."""
    return any(isinstance(part, Text) and says(part.text, gone) for part in message.parts)


def _arguments_without_question(call: ToolCall, gone: ErasedResearch) -> str:
    """A call's arguments without the question; those of an errand of its own go whole."""
    ours = call.id == gone.call and bool(gone.call)
    if not ours and not says(call.arguments, gone):
        return call.arguments
    if len(errands([call], frozenset({call.name}))) < 2:
        return NO_ARGUMENTS
    try:
        read = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return NO_ARGUMENTS
    without = _without(read, gone)
    # A call that sent several out stays with what is the others'; where the question cannot be told, it goes.
    return NO_ARGUMENTS if ours and without == read else orjson.dumps(without).decode()


def _without(value: Any, gone: ErasedResearch) -> Any:
    if isinstance(value, str):
        return FORGOTTEN if plain(value) in gone.titles or says(value, gone) else value
    if isinstance(value, dict):
        return {name: _without(inner, gone) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, gone) for inner in value]
    return value
