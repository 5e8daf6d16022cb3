"""Our tools behind the client's own: where they can be offered, and how each format spells them."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from proxy.wire.dialect import RequestView
from proxy.wire.rounds.round_format import Definition
from proxy.wire.rounds.round_formats import MANNERS
from proxy.wire.slices import cut, is_list, items_of, offset_of, value_of
from proxy.wire.splice import Splice, spliced

__all__ = ["Definition", "collides", "may_offer", "names_in", "spelt", "with_messages", "with_tools"]


def spelt(dialect: str, tools: Sequence[Definition]) -> str:
    """The definitions as JSON, joined by commas, as they stand in a list of tools of this dialect."""
    return b",".join(orjson.dumps(MANNERS[dialect].spelt(tool)) for tool in tools).decode()


def names_in(spelling: str) -> frozenset[str]:
    """The names of the tools that :func:`spelt` wrote."""
    tools = orjson.loads(f"[{spelling}]")
    return frozenset(str(tool.get("name") or tool["function"]["name"]) for tool in tools)


def may_offer(view: RequestView, names: frozenset[str]) -> bool:
    """Whether tools of these names can join the client's in a session's first request.

    Not where it offers none itself, has one of such a name (also with a prefix, as an MCP server's), demands a call,
    wants several replies, has the server keep the history, or is of a format without a manner of rounds: what we hide
    must not stand in that.
    """
    offered = value_of(view.fields.get("tools"))
    if not isinstance(offered, list) or not offered or view.prompt or view.conversation.continues:
        return False
    manner = MANNERS.get(view.conversation.dialect)
    return manner is not None and not collides(view, names) and manner.free(view)


def collides(view: RequestView, names: frozenset[str]) -> bool:
    """Whether the client has a tool of such a name."""
    return any(tool.endswith(tuple(names)) for tool in view.conversation.tools)


def with_tools(body: bytes, dialect: str, spelling: str) -> bytes:
    """The body with tools behind the client's own; unchanged where there is no list of tools."""
    text, fields = cut(body)
    given = fields.get("tools")
    if given is None or not is_list(given):
        return body
    tools = MANNERS[dialect].tools(given)
    own = items_of(tools)
    if not own:
        return body
    end = offset_of(text, own[-1]) + len(memoryview(own[-1]))
    return spliced(body, [Splice(end, end, b"," + spelling.encode())])


def with_messages(body: bytes, dialect: str, messages: str) -> bytes:
    """The body with messages (JSON, joined by commas) behind all others."""
    text, fields = cut(body)
    listed = fields[MANNERS[dialect].listed]
    start = offset_of(text, listed)
    items = items_of(listed)
    if not items:
        opening = start + 1
        return spliced(body, [Splice(opening, opening, messages.encode())])
    end = offset_of(text, items[-1]) + len(memoryview(items[-1]))
    return spliced(body, [Splice(end, end, b"," + messages.encode())])
