"""Read long bodies from where they were read before: a client's next request begins with the bytes of its last one.

Of a long body the beginning is remembered by a hash, with what its messages were and where they lie. A body that
begins with the same bytes is cut and read from there on only; its beginning is hashed once, and no slice of it is made
before somebody asks for it. What is remembered are some hundred bytes for each message, and of its text only a person's
few words, so that a session may go on without end.
"""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock

import msgspec

from memory.conversation import Message, chained
from proxy.wire.dialect import BadRequest, Spoken, Unreadable
from proxy.wire.lazy_messages import Gist, KnownMessages, LongHistory, Read, Slices, Spans
from proxy.wire.slices import MOST_MESSAGES, SliceCache, cut, is_list, items_of, offset_of

LONG = 2**20
"""Bytes of a body from which on its beginning is remembered."""

SETTLED = 8
"""Messages at the end of a body that may still change with the next request: clients move their cache marks there."""

SHORT = 400
"""Characters of what a person said that are remembered as they are."""

BEGINNING, MESSAGE = 1000, 450
"""Bytes that a beginning takes, and each of its messages beside what was said in it, about."""

LIMIT = 48 * 2**20
"""Bytes, about, of all that is remembered. The newest body's is kept though it alone be larger."""

TRIES = 3
"""Beginnings that look alike which are hashed for one body, at most."""

_END = 64

Parse = Callable[[msgspec.Raw, Spoken], Message]
"""A message's slice, and how what a person said is known → the message."""


@dataclass(frozen=True, slots=True)
class SlicedBody:
    """A body in its parts: the text that was cut, the slices of its top-level values, and of its list of messages the
    slices and what they say; ``items`` is None where there is no such list."""

    text: bytes
    fields: Mapping[str, msgspec.Raw]
    items: Sequence[msgspec.Raw] | None = None
    messages: Sequence[Message] = ()


@dataclass(slots=True, eq=False)
class _KnownPrefix:
    """What is known of bodies that begin alike. It only grows at its end; ``length`` and ``hash`` are of its bytes,
    ``last`` the end of them."""

    name: str
    spoken: Spoken
    spans: Spans = field(default_factory=Spans.none)
    gists: list[Gist] = field(default_factory=list)
    keys: list[tuple[bytes, int]] = field(default_factory=list)
    links: list[bytes] = field(default_factory=list)
    times: dict[bytes, int] = field(default_factory=dict)
    head: int = 0
    length: int = 0
    hash: bytes = b""
    last: bytes = b""
    weight: int = BEGINNING

    def add(self, message: Message, start: int, end: int) -> None:
        key, link = self.following([message])
        self.spans.add(start, end)
        spoken = message.spoken if len(message.spoken) <= SHORT else None
        self.gists.append(Gist(message.role, message.digest, message.takes, spoken))
        self.weight += MESSAGE + (sys.getsizeof(spoken) if spoken else 0)
        self.keys += key
        self.links += link
        self.times[message.digest] = self.times.get(message.digest, 0) + 1
        if message.spoken and not self.head:
            self.head = len(self.keys)

    def with_more(self, messages: Sequence[Message]) -> KnownMessages:
        """What is known of these messages behind those that are known, and of all of them."""
        keys, links = self.following(messages)
        count = len(self.keys)
        head = self.head or next((count + at for at, each in enumerate(messages, 1) if each.spoken), 0)
        return KnownMessages(self.gists, self.keys + keys, self.links + links, head)

    def following(self, messages: Sequence[Message]) -> tuple[list[tuple[bytes, int]], list[bytes]]:
        """The keys and the links of the trail of messages behind those that are known."""
        keys, links, link = [], [], self.links[-1] if self.links else b""
        times: dict[bytes, int] = {}
        for message in messages:
            count = times.get(message.digest, self.times.get(message.digest, 0))
            times[message.digest] = count + 1
            keys.append((message.digest, count))
            link = chained(link, message.digest)
            links.append(link)
        return keys, links


class IncrementalReader:
    """Cuts bodies, and reads the messages in them. Any thread may ask."""

    def __init__(self, long: int = LONG, limit: int = LIMIT, settled: int = SETTLED) -> None:
        self.memo = SliceCache()
        self._long = long
        self._settled = settled
        self._limit = limit
        self._known: deque[_KnownPrefix] = deque()
        self._lock = Lock()

    @property
    def held(self) -> int:
        """Bytes, about, of what is remembered of long bodies."""
        with self._lock:
            return self._held()

    def parted(self, body: bytes, name: str, spoken: Spoken, parse: Parse) -> SlicedBody:
        """A body, and the messages in its list of this ``name``, as ``parse`` reads each.

        Raises:
            BadRequest: broken JSON, not an object, nested too deeply.
            Unreadable: JSON of a lax kind.
        """

        def read(raw: msgspec.Raw) -> Message:
            return self.memo.of(raw, spoken, lambda raw: parse(raw, spoken))

        if len(body) >= self._long and (further := self._further(body, name, spoken, read)) is not None:
            return further
        text, fields = cut(body)
        listed = fields.get(name)
        if listed is None or not is_list(listed):
            return SlicedBody(text, fields)
        items = items_of(listed, MOST_MESSAGES)
        messages = tuple([read(raw) for raw in items])
        if len(body) >= self._long and text is body:
            self._remember(body, name, spoken, items, messages)
        return SlicedBody(text, fields, items, messages)

    def _remember(
        self, body: bytes, name: str, spoken: Spoken, items: Sequence[msgspec.Raw], messages: Sequence[Message]
    ) -> None:
        begun = _KnownPrefix(name, spoken)
        for raw, message in self._settled_items(items, messages):
            start = offset_of(body, raw)
            begun.add(message, start, start + len(memoryview(raw)))
        if not begun.keys or not _is_complete_value(body, begun.spans.ends[-1]):
            return
        begun.length = begun.spans.ends[-1]
        begun.hash = hashlib.sha256(memoryview(body)[: begun.length]).digest()
        begun.last = _tail_of(body, begun.length)
        with self._lock:
            self._known.appendleft(begun)
            self._make_room()

    def _further(self, body: bytes, name: str, spoken: Spoken, read: Read) -> SlicedBody | None:
        """The body read from where it is not known any more; None where its beginning is not."""
        for begun, length, expected in self._alike(body, name, spoken):
            hasher = hashlib.sha256(memoryview(body)[:length])
            if hasher.digest() == expected:
                return self._read_on(body, begun, length, hasher, read)
        return None

    def _alike(self, body: bytes, name: str, spoken: Spoken) -> list[tuple[_KnownPrefix, int, bytes]]:
        """What the body may begin with, the newest first, as far as it is known at this moment."""
        with self._lock:
            found = [
                (each, each.length, each.hash)
                for each in self._known
                if each.name == name
                and each.spoken is spoken
                and each.length < len(body)
                and _tail_of(body, each.length) == each.last
            ]
        return found[:TRIES]

    def _read_on(
        self, body: bytes, begun: _KnownPrefix, length: int, hasher: hashlib._Hash, read: Read
    ) -> SlicedBody | None:
        """The body read on from a beginning of this ``length``, which grows by what no longer changes."""
        further = _cut_on(body, begun.name, begun.spans.starts[0], length, read)
        if further is None or further.items is None:
            return None
        items, messages = further.items, further.messages
        with self._lock:
            if begun.length != length:
                return None  # another request of the session has gone on from there meanwhile
            known = begun.with_more(messages)
            slices = Slices(body, begun.spans, len(begun.keys), items)
            for raw, message in self._settled_items(items, messages):
                start = offset_of(body, raw)
                end = start + len(memoryview(raw))
                if not _is_complete_value(body, end):
                    break
                begun.add(message, start, end)
                hasher.update(memoryview(body)[begun.length : end])
                begun.length = end
            begun.hash = hasher.digest()
            begun.last = _tail_of(body, begun.length)
            if begun in self._known:
                self._known.remove(begun)
            self._known.appendleft(begun)
            self._make_room()
        return SlicedBody(body, further.fields, slices, LongHistory(slices, known, messages, read, len(body)))

    def _settled_items(
        self, items: Sequence[msgspec.Raw], messages: Sequence[Message]
    ) -> Iterator[tuple[msgspec.Raw, Message]]:
        """Those that no longer change."""
        return islice(zip(items, messages, strict=True), max(len(items) - self._settled, 0))

    def _held(self) -> int:
        return sum(each.weight for each in self._known)

    def _make_room(self) -> None:
        held = self._held()
        while held > self._limit and len(self._known) > 1:
            held -= self._known.pop().weight


def _cut_on(body: bytes, name: str, opening: int, length: int, read: Read) -> SlicedBody | None:
    """A body whose messages up to ``length`` are known: all its fields, and of the list of this name what stands
    behind them. None where the list does not go on there, or the whole of it must be looked at."""
    # What was read is one value now, so that the rest is cut as it would be cut in its place.
    short = body[:opening] + b"0" + body[length:]
    try:
        text, fields = cut(short)
        listed = fields.get(name)
        rest = items_of(listed, MOST_MESSAGES)
    except (BadRequest, Unreadable):
        return None
    # Masked text has no place in the body's own, and of two lists of one name the last one counts.
    if text is not short or listed is None or not rest or offset_of(short, rest[0]) != opening:
        return None
    whole, shift = memoryview(body), length - opening - 1

    def moved(raw: msgspec.Raw) -> msgspec.Raw:
        start = offset_of(short, raw)
        end = start + len(memoryview(raw))
        return msgspec.Raw(whole[start + shift * (start > opening) : end + shift * (end > opening)])

    items = [moved(raw) for raw in rest[1:]]
    return SlicedBody(body, {key: moved(raw) for key, raw in fields.items()}, items, [read(raw) for raw in items])


def _tail_of(body: bytes, length: int) -> bytes:
    return body[max(length - _END, 0) : length]


def _is_complete_value(body: bytes, end: int) -> bool:
    """Whether a value ends here whatever stands behind it: a number may go on."""
    return body[end - 1] in b'}]"'
