"""A view's messages as JSON of its dialect, for a session that is taken along. Nothing here goes to a provider: in a
request the client's own bytes are the source.

The journal keeps what messages say, not how they were written: ids of items, marks for caches and fields that we do not
know are not there any more. What is read from this is the same as what was read from the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memory.conversation import Image, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult

Item = dict[str, Any]


def rendered(dialect: str, messages: Sequence[Message]) -> list[Any]:
    """The messages (input items in the Responses format), in order. A dialect that has no form of its own here is given
    that of Chat Completions."""
    items = [item for message in messages for item in _DIALECTS.get(dialect, _chat)(message)]
    return _with_typed_results(items) if dialect == "openai-responses" else items


_ANSWERS = {"custom_tool_call": "custom_tool_call_output", "local_shell_call": "local_shell_call_output"}


def _with_typed_results(items: list[Any]) -> list[Any]:
    """The items with each result of the type that its call asks for."""
    known = [item for item in items if isinstance(item, dict)]
    kinds = {item.get("call_id"): item["type"] for item in known if item.get("type") in _ANSWERS}
    for item in known:
        if item.get("type") == "function_call_output" and item["call_id"] in kinds:
            item["type"] = _ANSWERS[kinds[item["call_id"]]]
    return items


_ASIDE = ("refusal", "audio", "reasoning_details")
"""What stands beside the content of an assistant's message in a chat."""


def _chat(message: Message) -> Iterator[Any]:
    role, parts = message.role, message.parts
    if role is Role.OTHER and len(parts) == 1 and isinstance(parts[0], Opaque):
        yield _json_value(parts[0].raw)
        return
    if role is Role.TOOL:
        for part in parts:
            if isinstance(part, ToolResult):
                yield {"role": "tool", "tool_call_id": part.call_id, "content": _chat_content(part.content) or ""}
        return
    item: Item = {"role": "user" if role is Role.OTHER else role.value}
    calls = [part for part in parts if isinstance(part, ToolCall)]
    thoughts = [part.text for part in parts if isinstance(part, Reasoning)]
    aside = {part.kind: part.raw for part in parts if isinstance(part, Opaque) and part.kind in _ASIDE}
    held = [part for part in parts if isinstance(part, Text | Image | Opaque)]
    content = _chat_content([part for part in held if not isinstance(part, Opaque) or part.kind not in aside])
    item["content"] = content if content is not None else None if calls else ""
    if thoughts:
        item["reasoning_content"] = "\n".join(thoughts)
    item |= {kind: _json_value(raw) for kind, raw in aside.items()}
    if calls:
        item["tool_calls"] = [_chat_call(call) for call in calls]
    yield item


def _chat_content(parts: Sequence[Part]) -> Any:
    if not parts:
        return None
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [
        {"type": "image_url", "image_url": {"url": part.source}} if isinstance(part, Image) else _plain(part, "text")
        for part in parts
    ]


def _chat_call(call: ToolCall) -> Item:
    if _is_object(call.arguments):
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}


def _messages(message: Message) -> Iterator[Any]:
    role, parts = message.role, message.parts
    if role is Role.OTHER and len(parts) == 1 and isinstance(parts[0], Opaque):
        yield _json_value(parts[0].raw)
        return
    name = role.value if role in (Role.USER, Role.ASSISTANT, Role.SYSTEM) else "user"
    yield {"role": name, "content": [_block(part) for part in parts]}


def _block(part: Part) -> Any:
    match part:
        case Image(source):
            return {"type": "image", "source": _image_source(source)}
        case Reasoning("", data) if data:
            return {"type": "redacted_thinking", "data": data}
        case Reasoning(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(id, name, arguments):
            given = _json_value(arguments)
            return {"type": "tool_use", "id": id, "name": name, "input": given if isinstance(given, dict) else {}}
        case ToolResult(call_id, content, failed):
            item: Item = {"type": "tool_result", "tool_use_id": call_id, "content": [_block(each) for each in content]}
            return item | ({"is_error": True} if failed else {})
        case _:
            return _plain(part, "text")


def _image_source(source: str) -> Item:
    kind, comma, data = source.partition(";base64,")
    if comma and kind.startswith("data:"):
        return {"type": "base64", "media_type": kind.removeprefix("data:"), "data": data}
    if source.startswith(("http:", "https:")):
        return {"type": "url", "url": source}
    return {"type": "file", "file_id": source}


def _gemini(message: Message) -> Iterator[Any]:
    role, parts = message.role, message.parts
    if role is Role.OTHER and len(parts) == 1 and isinstance(parts[0], Opaque):
        yield _json_value(parts[0].raw)
        return
    name = {Role.ASSISTANT: "model", Role.TOOL: "function", Role.SYSTEM: "system"}.get(role, "user")
    yield {"role": name, "parts": [_gemini_part(part) for part in parts]}


def _gemini_part(part: Part) -> Any:
    match part:
        case Text(text):
            return {"text": text}
        case Image(source):
            kind, comma, data = source.partition(";base64,")
            if comma and kind.startswith("data:"):
                return {"inlineData": {"mimeType": kind.removeprefix("data:"), "data": data}}
            return {"fileData": {"mimeType": "image/*", "fileUri": source}}
        case Reasoning(text, signature):
            return {"text": text, "thought": True} | ({"thoughtSignature": signature} if signature else {})
        case ToolCall(id, name, arguments):
            given = _json_value(arguments)
            item: Item = {"name": name, "args": given if isinstance(given, dict) else {}}
            return {"functionCall": item | ({"id": id} if id != name else {})}
        case ToolResult(call_id, content, failed):
            return {"functionResponse": _gemini_response(call_id, content, failed)}
        case Opaque(_, raw):
            return _json_value(raw)


def _gemini_response(call_id: str, content: Sequence[Text | Image | Opaque], failed: bool) -> Item:
    text = "\n".join(part.text for part in content if isinstance(part, Text))
    item: Item = {"response": {"error" if failed else "output": text}}
    others = [_gemini_part(part) for part in content if not isinstance(part, Text)]
    return ({"id": call_id} if call_id else {}) | item | ({"parts": others} if others else {})


def _ollama(message: Message) -> Iterator[Any]:
    role, parts = message.role, message.parts
    if role is Role.OTHER and len(parts) == 1 and isinstance(parts[0], Opaque):
        yield _json_value(parts[0].raw)
        return
    if role is Role.TOOL:
        for part in parts:
            if isinstance(part, ToolResult):
                yield {"role": "tool", "content": part.text} | ({"tool_call_id": part.call_id} if part.call_id else {})
        return
    item: Item = {"role": "user" if role is Role.OTHER else role.value}
    item["content"] = "\n".join(part.text for part in parts if isinstance(part, Text))
    if thoughts := [part.text for part in parts if isinstance(part, Reasoning)]:
        item["thinking"] = "\n".join(thoughts)
    if pictures := [part.source for part in parts if isinstance(part, Image)]:
        item["images"] = pictures
    if calls := [part for part in parts if isinstance(part, ToolCall)]:
        item["tool_calls"] = [_ollama_call(call) for call in calls]
    yield item


def _ollama_call(call: ToolCall) -> Item:
    given = _json_value(call.arguments)
    named = {} if call.id == call.name else {"id": call.id}
    return {**named, "function": {"name": call.name, "arguments": given if isinstance(given, dict) else {}}}


def _response_items(message: Message) -> Iterator[Any]:
    """The items of a message; a reply that is one message for us is an item for each of its parts there."""
    if message.role is Role.OTHER and all(isinstance(part, Opaque) for part in message.parts):
        yield from (_json_value(part.raw) for part in message.parts if isinstance(part, Opaque))
        return
    items: list[Any] = []
    for part in message.parts:
        item = _item(part)
        if item is None:
            items.append(_part_json(part, message.role))
            continue
        if items:
            yield _spoken(message.role, items)
            items = []
        yield item
    if items or not message.parts:
        yield _spoken(message.role, items)


def _spoken(role: Role, content: list[Any]) -> Item:
    return {"type": "message", "role": "user" if role in (Role.OTHER, Role.TOOL) else role.value, "content": content}


def _part_json(part: Part, role: Role) -> Any:
    if isinstance(part, Image):
        return {"type": "input_image", "image_url": part.source}
    return _plain(part, "output_text" if role is Role.ASSISTANT else "input_text")


def _item(part: Part) -> Item | None:
    match part:
        case Reasoning(text, signature):
            summary = [{"type": "summary_text", "text": text}] if text else []
            return {"type": "reasoning", "summary": summary, "encrypted_content": signature or None}
        case ToolCall(id, "local_shell", arguments) if _is_object(arguments):
            return {"type": "local_shell_call", "call_id": id, "action": _json_value(arguments), "status": "completed"}
        case ToolCall(id, name, arguments) if _is_object(arguments):
            return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
        case ToolCall(id, name, arguments):
            return {"type": "custom_tool_call", "call_id": id, "name": name, "input": arguments}
        case ToolResult(call_id, content, failed):
            one = content[0].text if len(content) == 1 and isinstance(content[0], Text) else None
            output = [_part_json(each, Role.TOOL) for each in content] if one is None else one
            item: Item = {"type": "function_call_output", "call_id": call_id, "output": output}
            return item | ({"status": "incomplete"} if failed else {})
    return None


def _plain(part: Part, kind: str) -> Any:
    """A text of a dialect's own type, or a part of a kind that we do not know, as it was."""
    match part:
        case Text(text):
            return {"type": kind, "text": text}
        case Opaque(_, raw):
            return _json_value(raw)
        case _:
            raise TypeError(f"{type(part).__name__} does not stand among texts")


def _is_object(text: str) -> bool:
    return isinstance(_json_value(text), dict)


def _json_value(text: str) -> Any:
    """JSON text as the value that it is; a text that is no JSON (a secret may have been taken out of it) as a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_DIALECTS: dict[str, Callable[[Message], Iterator[Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _response_items,
    "anthropic-messages": _messages,
    "gemini-generate": _gemini,
    "ollama-chat": _ollama,
}
