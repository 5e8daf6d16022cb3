"""What an Anthropic reply says, whole or streamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.conversation import Part, Reply, Usage
from proxy.wire.dialect import BadRequest
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.parts.anthropic_messages import part_of
from proxy.wire.slices import masked
from proxy.wire.sse import ServerEvent


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    if not isinstance(value, dict):
        return Reply()
    return Reply(
        parts=tuple(part for block in list_in(value, "content") for part in _parts(block, None)),
        stop=str_in(value, "stop_reason"),
        usage=usage_of(dict_in(value, "usage")),
        complete=isinstance(value.get("content"), list) and not value.get("error"),
        id=str_in(value, "id"),
    )


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    """The reply in a stream of events."""
    heard = _MessageBuilder()
    for event in events:
        value = loads(event.data)
        if isinstance(value, dict):
            heard.take(str_in(value, "type") or event.name.decode(errors="replace"), value)
    return heard.reply()


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them; its input leaves out what was cached, ours does not."""
    if not value:
        return None
    cached = int_in(value, "cache_read_input_tokens")
    written = int_in(value, "cache_creation_input_tokens")
    return Usage(int_in(value, "input_tokens") + cached + written, int_in(value, "output_tokens"), cached, written)


def _parts(block: Any, arguments: str | None) -> tuple[Part, ...]:
    """What a block says; ``arguments`` is a tool's input as the stream spelt it, which is kept letter by letter."""
    if not isinstance(block, dict):
        return ()
    text = dump(block).encode(errors="replace")
    if arguments:  # a key that stands twice counts where it stands last
        text = text[:-1] + b',"input":' + masked(arguments.encode(errors="replace")) + b"}"
    try:
        part = part_of(msgspec.Raw(text))
    except (BadRequest, msgspec.DecodeError):  # nested too deeply, or broken off
        return ()
    return () if part is None else (part,)


class _MessageBuilder:
    """A message as its events come."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""
        self._stopped = False
        self._failed = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._block_texts: dict[int, dict[str, list[str]]] = {}

    def take(self, kind: str, event: dict[str, Any]) -> None:
        place = int_in(event, "index")
        match kind:
            case "message_start":
                self._message = dict_in(event, "message")
                self._take_usage(dict_in(self._message, "usage"))
            case "content_block_start":
                self._blocks[place] = dict_in(event, "content_block")
            case "content_block_delta":
                self._take_delta(place, dict_in(event, "delta"))
            case "message_delta":
                self._stop = str_in(dict_in(event, "delta"), "stop_reason") or self._stop
                self._take_usage(dict_in(event, "usage"))
            case "message_stop":
                self._stopped = True
            case "error":
                self._failed = True

    def _take_delta(self, place: int, delta: dict[str, Any]) -> None:
        # text, thinking, signature, partial_json, content (of a compaction): each delta carries one string,
        # and the strings of one field belong together. Citations carry objects and say nothing to us.
        texts = self._block_texts.setdefault(place, {})
        for field, value in delta.items():
            if field != "type" and isinstance(value, str):
                texts.setdefault(field, []).append(value)

    def _take_usage(self, usage: dict[str, Any]) -> None:
        # The counts are cumulative: a later report replaces an earlier one, field by field. A later zero is a server
        # that reports only what it counted since.
        self._usage.update((key, value) for key, value in usage.items() if value)

    def reply(self) -> Reply:
        parts: list[Part] = []
        for place, start in sorted(self._blocks.items()):
            block = dict(start)
            fields = {field: "".join(texts) for field, texts in self._block_texts.get(place, {}).items()}
            arguments = fields.pop("partial_json", None)
            for field, text in fields.items():
                block[field] = str_in(block, field) + text
            parts.extend(_parts(block, arguments))
        return Reply(
            parts=tuple(parts),
            stop=self._stop or str_in(self._message, "stop_reason"),
            usage=usage_of(self._usage),
            complete=self._stopped and bool(self._message) and not self._failed,
            id=str_in(self._message, "id"),
        )
