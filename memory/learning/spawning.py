"""Which tool calls send a sub-agent out, and which session is the one that they sent.

Runtimes name their tools as they like, and the child's first message is the call's argument with something around it:
reminders, a time stamp, a word like "Task:". So a call is known by its name where that is a known one, or by what
happens: an argument that becomes, whole, another session's first message. That name is then known, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from memory.conversation import Message, Role, Text, ToolCall
from memory.research import Errand

SPAWNERS = frozenset(
    {
        *("task", "agent", "subagent", "sub_agent", "spawn_agent", "spawn_subagent", "sessions_spawn", "new_task"),
        *(
            "use_subagents",
            "delegate",
            "delegate_task",
            "delegate_to_agent",
            "dispatch_agent",
            "run_agent",
            "run_subagent",
        ),
    }
)
"""Names of tools that send a sub-agent out, in lower case, without what stands before a dot or two underscores."""

LEAST = 24
"""Characters that an argument of any other tool has to have to be recognised as another session's first message."""

COMPARED = 1 << 18
"""Characters at either end of an opening among which an errand is looked for, which is shorter: to part megabytes into
words holds up everybody."""

ABORTED = "aborted"
"""What a session that is handed its parent's history reads as the result of the call that sent it."""

MAX_ARGUMENT_CHARS = 200_000
"""Characters of arguments that are looked into."""

_PROMPTS = ("prompt", "message", "task", "instructions", "input", "description", "query", "request", "goal")
_DESCRIPTIONS = ("description", "label", "title", "task_name", "name", "summary")
_AGENTS = ("subagent_type", "agent_type", "agent", "agentType", "role", "type")
_SHORT = 200
_DEPTH = 4


def is_spawner(name: str, learnt: frozenset[str] = frozenset()) -> bool:
    """Whether a tool of this name sends sub-agents out."""
    bare = re.split(r"__|[./]", name)[-1].lower()
    return bare in SPAWNERS or name in learnt


def errands(calls: Iterable[ToolCall], learnt: frozenset[str] = frozenset()) -> list[Errand]:
    """The errands in calls of spawning tools, in order; one call may send several."""
    found: list[Errand] = []
    for call in calls:
        arguments = _object(call.arguments)
        name, arguments = _wrapped_call(call.name, arguments)
        if arguments is None or not is_spawner(name, learnt):
            continue
        given = list(_errands(call.id, name, arguments))
        # A tool that was only seen to spawn calls its prompt as it likes: it is the longest text.
        longest = max(_texts_in_arguments(arguments), key=len, default="") if not given else ""
        found.extend(given or ([Errand(call.id, name, longest)] if len(longest) >= LEAST else []))
    return found


def candidates(calls: Iterable[ToolCall]) -> list[Errand]:
    """Every text in the arguments of any calls that might become another session's first message."""
    found: list[Errand] = []
    for call in calls:
        arguments = _object(call.arguments)
        if arguments is not None:
            texts = (text for text in _texts_in_arguments(arguments) if len(text.strip()) >= LEAST)
            found.extend(Errand(call.id, call.name, text) for text in texts)
    return found


def opening(messages: Sequence[Message]) -> list[str]:
    """The texts with which a session begins, as they came and as a person's words; none where an assistant has
    spoken already."""
    texts: list[str] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            return []
        if message.role is Role.USER:
            texts.extend(part.text for part in message.parts if isinstance(part, Text))
            texts.append(message.spoken)
    return [text for text in dict.fromkeys(normal(end) for text in texts for end in _ends(text)) if text]


def _ends(text: str) -> tuple[str, ...]:
    return (text,) if len(text) <= 2 * COMPARED else (text[:COMPARED], text[-COMPARED:])


def inherited(messages: Sequence[Message], calls: Collection[str]) -> str:
    """Which of its parent's calls sent a session that begins with its parent's whole history: the last one that was
    broken off there, else the last one; empty where none of them stands in it.

    Calls and results are paired by their places: of results that say the same the journal knows one id only.
    """
    call_ids = [call.id for message in messages for call in message.calls]
    results = [result.text.strip().strip('"').casefold() for message in messages for result in message.results]
    own = [call for call, output in zip(call_ids, results, strict=False) if output == ABORTED]
    return next((call for call in reversed([*call_ids, *own]) if call in calls), "")


def taken(errand: Errand, texts: Sequence[str], known: bool) -> int:
    """How well a session's opening fits an errand: 0 not at all, else the characters that they share; an equal text
    counts double. Of a tool that is not ``known`` to spawn only an equal text counts."""
    prompt = normal(errand.prompt)
    if not prompt or (not known and len(prompt) < LEAST):
        return 0
    if any(prompt == text for text in texts):
        return 2 * len(prompt)
    inside = known and len(prompt) >= LEAST and any(prompt in text for text in texts)
    return len(prompt) if inside else 0


def normal(text: str) -> str:
    """A text whatever its white space is."""
    return " ".join(text.split())


def _errands(call: str, tool: str, arguments: Mapping[str, Any]) -> Iterator[Errand]:
    several = [each for value in arguments.values() if isinstance(value, list) for each in value]
    nested = [each for each in several if isinstance(each, dict)]
    for fields in (arguments, *nested):
        prompt = _prompt_in_arguments(fields)
        if prompt:
            description = _first(fields, _DESCRIPTIONS, _SHORT)
            agent = _first(fields, _AGENTS, _SHORT)
            yield Errand(call, tool, prompt, description if description != prompt else "", agent)
            continue
        text = fields.get("text") if fields is not arguments else None
        if isinstance(text, str) and text.strip():
            yield Errand(call, tool, text)
    for each in several:
        if isinstance(each, str) and len(each) >= LEAST:
            yield Errand(call, tool, each)


def _prompt_in_arguments(fields: Mapping[str, Any]) -> str:
    """What is the errand itself among the arguments: a prompt, else a message, a task, …"""
    return _first(fields, _PROMPTS, MAX_ARGUMENT_CHARS)


def _first(fields: Mapping[str, Any], keys: Sequence[str], longest: int) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value.strip() and len(value) <= longest:
            return value.strip()
    return ""


def _wrapped_call(name: str, arguments: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any] | None]:
    """A call of a tool by way of another one: ``tool_call {"id": "sessions_spawn", "args": {…}}``."""
    if arguments is None:
        return name, None
    inner = next(
        (arguments[key] for key in ("args", "arguments", "input") if isinstance(arguments.get(key), dict)), None
    )
    named = next((arguments[key] for key in ("id", "name", "tool") if isinstance(arguments.get(key), str)), "")
    return (named, inner) if inner is not None and is_spawner(named) else (name, arguments)


def _object(arguments: str) -> Mapping[str, Any] | None:
    if len(arguments) > MAX_ARGUMENT_CHARS or "{" not in arguments:
        return None
    try:
        read = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None


def _texts_in_arguments(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text in arguments, however deep it stands."""
    if isinstance(value, str):
        yield value
    elif depth < _DEPTH and isinstance(value, dict):
        for inner in value.values():
            yield from _texts_in_arguments(inner, depth + 1)
    elif depth < _DEPTH and isinstance(value, list):
        for inner in value[:64]:
            yield from _texts_in_arguments(inner, depth + 1)
