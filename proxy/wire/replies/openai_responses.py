"""What a Responses reply says, whole or streamed.

The terminal event carries the whole output again, but not with every server; then the items count as they were
announced done, and of an item that was never done what its deltas said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.conversation import Part, Reply, Usage
from proxy.wire.dialect import BadRequest
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.parts.openai_responses import parts_of
from proxy.wire.sse import ServerEvent


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    return _of_response(value) if isinstance(value, dict) else Reply()


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    """The reply in a stream of events."""
    heard = _ResponseBuilder()
    for event in events:
        value = loads(event.data)
        if isinstance(value, dict):
            heard.take(str_in(value, "type") or event.name.decode(errors="replace"), value)
    return heard.reply()


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them."""
    if not value:
        return None
    details = dict_in(value, "input_tokens_details")
    return Usage(
        input=int_in(value, "input_tokens"),
        output=int_in(value, "output_tokens"),
        cached=int_in(details, "cached_tokens"),
        written=int_in(details, "cache_write_tokens"),
    )


def _of_response(response: dict[str, Any]) -> Reply:
    status = str_in(response, "status")
    output = response.get("output")
    has_output = isinstance(output, list)
    # A server that leaves the status out has sent what it had.
    over = status in ("completed", "incomplete") or (not status and has_output)
    return Reply(
        parts=tuple(part for item in list_in(response, "output") for part in _parts(item)),
        stop=str_in(dict_in(response, "incomplete_details"), "reason") or status,
        usage=usage_of(dict_in(response, "usage")),
        complete=over and not response.get("error"),
        id=str_in(response, "id"),
    )


def _parts(item: Any) -> tuple[Part, ...]:
    if not isinstance(item, dict):
        return ()
    try:
        return tuple(parts_of(msgspec.Raw(dump(item).encode(errors="replace"))))
    except BadRequest:  # nested too deeply to be read
        return ()


class _ResponseBuilder:
    """A response as its events come."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._last: dict[str, Any] | None = None
        self._failed = False
        self._items: dict[int, dict[str, Any]] = {}
        self._deltas: dict[int, dict[tuple[str, int], list[str]]] = {}

    def take(self, kind: str, event: dict[str, Any]) -> None:
        place = int_in(event, "output_index")
        match kind:
            case "response.created" | "response.in_progress" | "response.queued":
                self._response = dict_in(event, "response")
            case "response.completed" | "response.incomplete":
                self._last = dict_in(event, "response")
            case "response.failed" | "error":
                self._failed = True
                self._response = dict_in(event, "response") or self._response
            case "response.output_item.added":
                self._items.setdefault(place, dict_in(event, "item"))
            case "response.output_item.done":
                self._items[place] = dict_in(event, "item")
                self._deltas.pop(place, None)
            case _ if isinstance(event.get("delta"), str):
                slot = kind, int_in(event, "content_index") or int_in(event, "summary_index")
                self._deltas.setdefault(place, {}).setdefault(slot, []).append(event["delta"])

    def reply(self) -> Reply:
        last = self._last
        response = dict(self._response if last is None else last)
        if not list_in(response, "output"):
            places = sorted({*self._items, *self._deltas})
            response["output"] = [self._item(place) for place in places]
        reply = _of_response(response)
        complete = last is not None and not self._failed and not response.get("error")
        return Reply(reply.parts, reply.stop, reply.usage, complete, reply.id)

    def _item(self, place: int) -> dict[str, Any]:
        """An item as far as it was heard."""
        item = dict(self._items.get(place, {}))
        for (kind, _), deltas in sorted(self._deltas.get(place, {}).items()):
            text = "".join(deltas)
            match kind:
                case "response.output_text.delta":
                    item.setdefault("type", "message")
                    item["content"] = [*list_in(item, "content"), {"type": "output_text", "text": text}]
                case "response.reasoning_summary_text.delta":
                    item.setdefault("type", "reasoning")
                    item["summary"] = [*list_in(item, "summary"), {"type": "summary_text", "text": text}]
                case "response.reasoning_text.delta":
                    item.setdefault("type", "reasoning")
                    item["content"] = [*list_in(item, "content"), {"type": "reasoning_text", "text": text}]
                case "response.function_call_arguments.delta":
                    item["arguments"] = text
                case "response.custom_tool_call_input.delta":
                    item["input"] = text
        return item
