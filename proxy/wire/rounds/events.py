"""Events of a stream with the very bytes they came in, and fields of them written anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from proxy.wire.dialect import BadRequest, Unreadable
from proxy.wire.slices import cut, fields_of, offset_of
from proxy.wire.splice import Splice, spliced
from proxy.wire.sse import ServerEvent, events

_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


class RawEvents:
    """Events out of chunks, each with its bytes up to and with its blank line."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._looked = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The events that this chunk completes."""
        if not self._held and chunk.endswith(b"\n\n") and b"\r" not in chunk:  # as nearly all come
            for event in chunk[:-2].split(b"\n\n"):
                yield event + b"\n\n"
            return
        self._held += chunk
        at = 0
        while (blank := _BLANK.search(self._held, max(at, self._looked))) is not None:
            # A CR at the end may be half of a CR LF.
            if blank.end() == len(self._held) and self._held.endswith(b"\r"):
                break
            raw = bytes(self._held[at : blank.end()])
            at = self._looked = blank.end()
            yield raw
        del self._held[:at]
        self._looked = max(0, len(self._held) - 4)

    def finish(self) -> bytes:
        """The rest, which has no blank line."""
        raw = bytes(self._held)
        self._held.clear()
        self._looked = 0
        return raw


def event_in(raw: bytes) -> ServerEvent | None:
    """The event of these bytes; None for one without data (a comment, a retry time)."""
    return next(iter(events([raw])), None)


def with_data(raw: bytes, event: ServerEvent, data: bytes) -> bytes:
    """An event's bytes with other data."""
    if event.data in raw:
        return raw.replace(event.data, data, 1)
    name = b"event: " + event.name + b"\n" if event.name else b""
    return name + b"data: " + data + b"\n\n"


def with_fields(data: bytes, fields: Mapping[tuple[str, ...], bytes]) -> bytes:
    """JSON in which the fields at these paths, where they are, have other values (JSON); all else stays."""
    try:
        text, top = cut(data)
        splices = []
        for path, new in fields.items():
            within = top
            for step in path[:-1]:
                within = fields_of(within.get(step))
            raw = within.get(path[-1])
            if raw is not None:
                start = offset_of(text, raw)
                splices.append(Splice(start, start + len(memoryview(raw)), new))
        return spliced(data, splices)
    except (BadRequest, Unreadable, msgspec.DecodeError):
        return data


def named(kind: str, data: bytes) -> bytes:
    """An event of ours, in the form of those formats that name their events."""
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
