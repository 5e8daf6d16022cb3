"""Our tools behind the client's own: where they can be offered, and how each format spells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from proxy.wire.dialect import View
from proxy.wire.slices import cut, is_list, items_of, offset_of, value_of
from proxy.wire.splice import Splice, spliced

CHAT, RESPONSES, ANTHROPIC = "openai-chat", "openai-responses", "anthropic-messages"


class Definition(NamedTuple):
    """A tool: its name, what it does, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def spelt(dialect: str, tools: Sequence[Definition]) -> str:
    """The definitions as JSON, joined by commas, as they stand in a list of tools of this dialect."""
    return b",".join(orjson.dumps(_spelt(dialect, tool)) for tool in tools).decode()


def names_in(spelling: str) -> frozenset[str]:
    """The names of the tools that :func:`spelt` wrote."""
    tools = orjson.loads(f"[{spelling}]")
    return frozenset(str(tool.get("name") or tool["function"]["name"]) for tool in tools)


def may_offer(view: View, names: frozenset[str]) -> bool:
    """Whether tools of these names can join the client's in a session's first request.

    Not where it offers none itself, has one of such a name (also with a prefix, as an MCP server's), demands a call,
    wants several replies, or has the server keep the history: what we hide must not stand in that.
    """
    offered = value_of(view.fields.get("tools"))
    if not isinstance(offered, list) or not offered or view.prompt or view.conversation.continues:
        return False
    if collides(view, names) or _demands(value_of(view.fields.get("tool_choice"))):
        return False
    if view.conversation.dialect == RESPONSES:
        return value_of(view.fields.get("store")) is False and value_of(view.fields.get("background")) is not True
    return value_of(view.fields.get("n")) in (None, 1)


def collides(view: View, names: frozenset[str]) -> bool:
    """Whether the client has a tool of such a name."""
    return any(tool.endswith(tuple(names)) for tool in view.conversation.tools)


def with_tools(body: bytes, spelling: str) -> bytes:
    """The body with tools behind the client's own; unchanged where there is no list of tools."""
    text, fields = cut(body)
    tools = fields.get("tools")
    if tools is None or not is_list(tools):
        return body
    own = items_of(tools)
    if not own:
        return body
    end = offset_of(text, own[-1]) + len(memoryview(own[-1]))
    return spliced(body, [Splice(end, end, b"," + spelling.encode())])


def with_messages(body: bytes, dialect: str, messages: str) -> bytes:
    """The body with messages (JSON, joined by commas) behind all others."""
    text, fields = cut(body)
    listed = fields["input" if dialect == RESPONSES else "messages"]
    start = offset_of(text, listed)
    items = items_of(listed)
    if not items:
        opening = start + 1
        return spliced(body, [Splice(opening, opening, messages.encode())])
    end = offset_of(text, items[-1]) + len(memoryview(items[-1]))
    return spliced(body, [Splice(end, end, b"," + messages.encode())])


def _spelt(dialect: str, tool: Definition) -> dict[str, Any]:
    match dialect:
        case "anthropic-messages":
            return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        case "openai-responses":
            return {"type": "function", **tool._asdict(), "strict": False}
    return {"type": "function", "function": tool._asdict()}


def _demands(choice: Any) -> bool:
    """Whether a ``tool_choice`` leaves the model no choice."""
    if isinstance(choice, dict):
        return choice.get("type") not in ("auto", "none")
    return choice not in (None, "auto", "none")
