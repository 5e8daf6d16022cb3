"""Server-sent events, in bytes: lines end in LF, CRLF or CR, an event ends at a blank line, any cut may fall anywhere.

The grammar is that of the HTML standard (section 9.2.6). Comments, ids and retry times mean nothing to a dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from proxy.wire.lenient_json import loads, str_in

_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: its name (empty where none was given) and its data, lines joined by LF."""

    name: bytes
    data: bytes


class EventSplitter:
    """Events out of chunks."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._after_cr = False
        self._first = True
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        for line in chunk.splitlines(keepends=True):
            self._line.append(line)
            if line.endswith((b"\n", b"\r")):
                whole = b"".join(self._line)
                self._line.clear()
                event = self._take(whole.rstrip(b"\r\n"))
                if event is not None:
                    yield event

    def finish(self) -> Iterator[ServerEvent]:
        """The event that stands without its blank line when the stream ends.

        The standard drops it; we hear it, since some servers end right behind ``[DONE]``. A line that was cut in
        the middle is no JSON and does no harm.
        """
        rest = b"".join(self._line)
        self._line.clear()
        for line in (rest, b""):
            event = self._take(line)
            if event is not None:
                yield event

    def _take(self, line: bytes) -> ServerEvent | None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            event = ServerEvent(self._name, b"\n".join(self._data)) if self._data else None
            self._name = b""
            self._data = []
            return event
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value
        return None


def events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """All events of a stream that was heard: what a splitter gives, three times as fast."""
    stream = b"".join(chunks).removeprefix(_BOM)
    if b"\r" in stream:
        stream = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for block in stream.split(b"\n\n"):
        if block.startswith(b"data: ") and b"\n" not in block:
            yield ServerEvent(b"", block[6:])
            continue
        name = b""
        data = []
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ")
        if data:
            yield ServerEvent(name, b"\n".join(data))


def typed(events: Iterable[ServerEvent]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events that are JSON objects, each with its type: its own ``type``, else the name of the event."""
    for event in events:
        value = loads(event.data)
        if isinstance(value, dict):
            yield str_in(value, "type") or event.name.decode(errors="replace"), value
