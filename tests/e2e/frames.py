"""Responses over a WebSocket: the frames of a connection, and what its server holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

ASKS = "response.create"
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})
_TEXT, _CONTINUES = 1, 0


class FrameReader:
    """The text messages in one direction of a WebSocket without extensions."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._message = bytearray()
        self._is_text = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """The messages that end with these bytes."""
        self._bytes += piece
        while (frame := self._frame()) is not None:
            first, payload = frame
            kind = first & 0x0F
            if kind not in (_TEXT, _CONTINUES, 2):
                continue  # control frames come between the parts of a message
            if kind != _CONTINUES:
                self._message.clear()
                self._is_text = kind == _TEXT
            self._message += payload
            if first & 0x80 and self._is_text:
                yield self._message.decode()

    def _frame(self) -> tuple[int, bytes] | None:
        """The next frame's first byte and its payload; None where it is not whole yet."""
        held = self._bytes
        if len(held) < 2:
            return None
        size, begin = held[1] & 0x7F, 2
        if size >= 126:
            wide = 2 if size == 126 else 8
            size, begin = int.from_bytes(held[2 : 2 + wide]), 2 + wide
        masked = held[1] & 0x80
        end = begin + (4 if masked else 0) + size
        if len(held) < end:
            return None
        payload = bytes(held[end - size : end])
        if masked:
            mask = bytes(held[begin : begin + 4]) * (size // 4 + 1)
            payload = (int.from_bytes(payload) ^ int.from_bytes(mask[:size])).to_bytes(size)
        first = held[0]
        del held[:end]
        return first, payload


class HeldHistories:
    """What a socket's server holds: all items up to each of its responses, by the response's id."""

    def __init__(self) -> None:
        self._held: dict[str, list[Any]] = {}
        self._asked: deque[Mapping[str, Any]] = deque()

    def whole(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """What a frame asks for, with all that the server holds before it, as a request over HTTP would say it.

        Raises:
            KeyError: where it goes on from a response that nobody here has given.
        """
        before = frame.get("previous_response_id")
        items = [*(self._held[before] if before else ()), *frame["input"]]
        whole = {key: value for key, value in frame.items() if key not in ("type", "previous_response_id")}
        # What a client sends again of a response has not all that the provider said of it.
        whole["input"] = [{key: value for key, value in item.items() if key not in ("id", "status")} for item in items]
        self._asked.append(whole)
        return whole

    def told(self, event: Mapping[str, Any]) -> None:
        """The server has sent an event."""
        if event.get("type") in ENDS and self._asked:
            whole = self._asked.popleft()
            if "response" in event:
                response = event["response"]
                self._held[response["id"]] = [*whole["input"], *response.get("output", ())]
