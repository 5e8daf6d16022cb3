"""The rules of an Anthropic body: turns, tool pairs in neighbouring messages, no empty text, few cache marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.wire.lenient_json import dict_in, list_in, loads, str_in

CACHE_MARKS = 4
"""So many ``cache_control`` marks does a request take."""

Turn = tuple[str, list[dict[str, Any]]]
"""Who speaks, and the blocks."""

_ROLES = ("user", "assistant", "system")
_THINKING = ("thinking", "redacted_thinking")


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    messages = value.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["There are no messages."]
    found: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            found += _message(index, message, last=index == len(messages) - 1)
        else:
            found.append(f"Message {index} is not an object.")
    known = [message for message in messages if isinstance(message, dict)]
    first = next((role for message in known if (role := str_in(message, "role")) != "system"), "")
    if first == "assistant":
        found.append("The first message is not the user's.")
    turns = list(_turns_of(known))
    found += _tool_pair_faults(turns) + _thinking_faults(turns)
    marks = sum(1 for _ in _cache_marks(value))
    if marks > CACHE_MARKS:
        found.append(f"There are more than {CACHE_MARKS} cache marks.")
    return found


def _message(index: int, message: dict[str, Any], last: bool) -> list[str]:
    role = str_in(message, "role")
    if role not in _ROLES:
        return [f"Message {index} has the unknown role {role!r}."]
    content = message.get("content")
    if isinstance(content, str):
        return [] if content or (last and role == "assistant") else [f"The content of message {index} is empty."]
    if not isinstance(content, list):
        return [f"The content of message {index} is neither text nor a list."]
    if not content and not (last and role == "assistant"):
        return [f"The content of message {index} is empty."]
    found = []
    for place, block in enumerate(content):
        if not isinstance(block, dict) or not str_in(block, "type"):
            found.append(f"Block {place} of message {index} has no type.")
            continue
        found += _text(f"Block {place} of message {index}", block)
        if block["type"] == "tool_result":
            found += _result(f"The result in block {place} of message {index}", block.get("content"))
        elif block["type"] == "tool_use" and not isinstance(block.get("input", {}), dict):
            found.append(f"The input of the tool use {str_in(block, 'id')!r} is no object.")
    return found


def _result(where: str, content: Any) -> list[str]:
    if not isinstance(content, list):
        return [] if content is None or isinstance(content, str) else [f"{where} is neither text nor a list."]
    return [sentence for inner in content if isinstance(inner, dict) for sentence in _text(where, inner)]


def _text(where: str, block: dict[str, Any]) -> list[str]:
    if block.get("type") != "text" or str_in(block, "text").strip():
        return []
    return [f"{where} is an empty text."]


def _tool_pair_faults(turns: list[Turn]) -> list[str]:
    """Each tool use is answered in the very next turn, where the results come first; nothing else is answered."""
    found = []
    seen: set[str] = set()
    waiting: list[str] = []
    for role, blocks in turns:
        if role == "assistant":
            found += _unanswered(waiting)
            waiting = [str_in(block, "id") for block in blocks if block.get("type") == "tool_use"]
            for id in waiting:
                if id in seen:
                    found.append(f"The tool use {id!r} stands twice.")
                seen.add(id)
            continue
        others = False
        for block in blocks:
            if block.get("type") != "tool_result":
                others = True
                continue
            id = str_in(block, "tool_use_id")
            if id not in waiting:
                found.append(f"The result for {id!r} answers no tool use of the turn before.")
            else:
                waiting.remove(id)
                if others:
                    found.append(f"The result for {id!r} does not come first in its turn.")
        found += _unanswered(waiting)
        waiting = []
    return found + _unanswered(waiting)


def _unanswered(waiting: list[str]) -> list[str]:
    return [f"The tool use {id!r} has no result." for id in waiting]


def _thinking_faults(turns: list[Turn]) -> list[str]:
    """Since a person last spoke, a turn in which the model thought begins with its thinking."""
    found = []
    for role, blocks in reversed(turns):
        kinds = [str_in(block, "type") for block in blocks]
        if role == "user" and "tool_result" not in kinds:
            break
        if role == "assistant" and any(kind in _THINKING for kind in kinds) and kinds[0] not in _THINKING:
            found.append("A turn of the live tool loop does not begin with its thinking.")
    return found


def _turns_of(messages: list[dict[str, Any]]) -> Iterator[Turn]:
    """Neighbours of one role are one turn; system messages between them belong to none."""
    role, blocks = "", list[dict[str, Any]]()
    for message in messages:
        speaker = str_in(message, "role")
        if speaker == "system":
            continue
        if speaker != role:
            if role:
                yield role, blocks
            role, blocks = speaker, []
        content = message.get("content")
        if isinstance(content, str):
            blocks.append({"type": "text", "text": content})
        blocks.extend(block for block in list_in(message, "content") if isinstance(block, dict))
    if role:
        yield role, blocks


def _cache_marks(body: dict[str, Any]) -> Iterator[Any]:
    """Every cache mark: the request's own, of tools, of system blocks, of blocks and of what stands in results."""
    if body.get("cache_control"):
        yield body["cache_control"]
    marked = [*list_in(body, "tools"), *list_in(body, "system")]
    for message in list_in(body, "messages"):
        for block in list_in(message, "content") if isinstance(message, dict) else ():
            marked.append(block)
            if isinstance(block, dict):
                marked.extend(list_in(block, "content"))
                marked.extend(list_in(dict_in(block, "source"), "content"))
    for block in marked:
        if isinstance(block, dict) and block.get("cache_control"):
            yield block["cache_control"]
