"""The messages of a long body. Those that were read before are read again only when somebody asks what they say.

A client sends its whole history with every request. Of what has long left a session nobody asks but who it was from
and which message it was: its parts stay in the body's own bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import msgspec

from memory.conversation import Form, Message, MessageHistory, Part, Role

Read = Callable[[msgspec.Raw], Message]
"""A message's slice → the message."""


class Gist(NamedTuple):
    """What is remembered of a message that was read; ``spoken`` is None where that is too long to be remembered."""

    role: Role
    digest: bytes
    takes: Form | None
    spoken: str | None


class Spans(NamedTuple):
    """Where the messages of a body lie, one behind the other: from and to (not included), in bytes."""

    starts: array[int]
    ends: array[int]

    @classmethod
    def none(cls) -> Spans:
        """Of no messages yet."""
        return cls(array("Q"), array("Q"))

    def add(self, start: int, end: int) -> None:
        """One more, behind the others."""
        self.starts.append(start)
        self.ends.append(end)


class Slices(Sequence[msgspec.Raw]):
    """The slices of a body's messages, each made when it is asked for: the first of them by where they lie."""

    def __init__(self, body: bytes, spans: Spans, count: int, rest: Sequence[msgspec.Raw]) -> None:
        self._body = memoryview(body)
        self._spans = spans
        self._count = count
        self._rest = rest

    def __len__(self) -> int:
        return self._count + len(self._rest)

    @overload
    def __getitem__(self, index: int) -> msgspec.Raw: ...
    @overload
    def __getitem__(self, index: slice) -> list[msgspec.Raw]: ...
    def __getitem__(self, index: int | slice) -> msgspec.Raw | list[msgspec.Raw]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        if at >= self._count:
            return self._rest[at - self._count]
        return msgspec.Raw(self._body[self._spans.starts[at] : self._spans.ends[at]])


class LazyMessage(Message):
    """A message of which only the gist is known until somebody asks what it says."""

    __slots__ = ("_parse", "_raw", "_said", "_whole")

    _parse: Read
    _raw: Callable[[], msgspec.Raw]
    _said: str | None
    _whole: Message | None

    def __init__(self, gist: Gist, raw: Callable[[], msgspec.Raw], parse: Read) -> None:
        for name, value in (
            ("role", gist.role),
            ("digest", gist.digest),
            ("takes", gist.takes),
            ("_said", gist.spoken),
            ("_raw", raw),
            ("_parse", parse),
            ("_whole", None),
        ):
            object.__setattr__(self, name, value)

    @property
    def parts(self) -> tuple[Part, ...]:
        return self._message().parts

    @property
    def spoken(self) -> str:
        return self._message().spoken if self._said is None else self._said

    def __eq__(self, other: object) -> bool:
        return self._message() == (other._message() if isinstance(other, LazyMessage) else other)

    def __hash__(self) -> int:
        return hash(self._message())

    def _message(self) -> Message:
        if self._whole is None:
            object.__setattr__(self, "_whole", self._parse(self._raw()))
        whole = self._whole
        assert whole is not None
        return whole


@dataclass(frozen=True, slots=True)
class KnownMessages:
    """What is known of all messages of a body, whatever they say: their keys, their trail, and the head (see
    :class:`memory.conversation.Conversation`); and the gists, which those that are read have none of."""

    gists: Sequence[Gist]
    keys: Sequence[tuple[bytes, int]]
    trail: Sequence[bytes]
    head: int


class LongHistory(MessageHistory):
    """The messages of a body of ``weight`` bytes: so many unread ones, and ``rest`` behind them."""

    def __init__(self, slices: Slices, known: KnownMessages, rest: Sequence[Message], parse: Read, weight: int) -> None:
        self._slices = slices
        self._known = known
        self._unread = len(known.keys) - len(rest)
        self._rest = rest
        self._parse = parse
        self._read_messages: dict[int, LazyMessage] = {}
        self._weight = weight

    head = property(lambda self: self._known.head)
    keys = property(lambda self: self._known.keys)
    trail = property(lambda self: self._known.trail)
    weight = property(lambda self: self._weight)

    def __len__(self) -> int:
        return len(self._known.keys)

    def __iter__(self) -> Iterator[Message]:
        for index in range(self._unread):
            yield self._one(index)
        yield from self._rest

    def __reversed__(self) -> Iterator[Message]:
        yield from reversed(self._rest)
        for index in reversed(range(self._unread)):
            yield self._one(index)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return [self._one(each) for each in range(*index.indices(len(self)))]
        return self._one(range(len(self))[index])

    def _one(self, index: int) -> Message:
        if index >= self._unread:
            return self._rest[index - self._unread]
        found = self._read_messages.get(index)
        if found is None:
            slices = self._slices
            found = self._read_messages.setdefault(
                index, LazyMessage(self._known.gists[index], lambda: slices[index], self._parse)
            )
        return found
