"""The view of a request: what was said, by whom, in which order.

Pure values. A conversation is read *from* a body by a wire dialect and is never rendered back into one: the
client's bytes stay the source, and changes to them are named by :mod:`memory.edits`. Nothing here knows a wire
format, a runtime or a store.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

import orjson

PIECE = 2**20
"""Characters of a text that are encoded at once: nobody else has their turn meanwhile."""

T = TypeVar("T")

CHAINED = 2**14
"""Links of trails that are kept at hand, a few hundred bytes each: a history comes again with every request."""


class Role(StrEnum):
    """Who speaks. ``TOOL`` is used where a wire format has a role of its own for results."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OTHER = "other"


INSTRUCTING = frozenset((Role.SYSTEM, Role.DEVELOPER))
"""Roles in which whoever wrote the client tells the model what to do."""


class Form(StrEnum):
    """How text is appended to a message, so that it can be made again in the same bytes.

    ``SUFFIX`` continues the message's last text; ``PART`` is a text part of its own behind the others.
    """

    SUFFIX = "suffix"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: its URL, or its media type and base64 data."""

    source: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's reasoning, with the provider's signature or encrypted content where there is one."""

    text: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model called. ``arguments`` is JSON text as it stood on the wire."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of a kind that we do not know; ``raw`` is its JSON text."""

    kind: str
    raw: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back, tied to its call by ``call_id``."""

    call_id: str
    content: tuple[Text | Image | Opaque, ...]
    failed: bool = False

    @property
    def text(self) -> str:
        """All its text, joined by newlines."""
        if len(self.content) == 1 and isinstance(only := self.content[0], Text):
            return only.text
        return "\n".join([part.text for part in self.content if isinstance(part, Text)])


Part = Text | Image | Reasoning | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message (one input item in the Responses format).

    ``digest`` names the content in normal form (see :func:`digest`); ``spoken`` is what a person said in it,
    free of what the runtime added, and empty where no person spoke; ``takes`` is the form in which text can be
    appended, or None where none can be.
    """

    role: Role
    parts: tuple[Part, ...]
    digest: bytes
    spoken: str = ""
    takes: Form | None = None

    @property
    def text(self) -> str:
        """Its plain text parts, joined by newlines; tool results and reasoning are not in it."""
        if len(self.parts) == 1 and isinstance(only := self.parts[0], Text):
            return only.text
        return "\n".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Its tool results, in order."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:  # as most are, and each is asked many times
            return ()
        return tuple([part for part in parts if isinstance(part, ToolResult)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its tool calls, in order."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return ()
        return tuple([part for part in parts if isinstance(part, ToolCall)])


class MessageHistory(Sequence[Message]):
    """The messages of a long request, of which most were known before: what follows from their digests alone is known
    too, and is not worked out with every request anew."""

    @property
    @abstractmethod
    def head(self) -> int:
        """See :attr:`Conversation.head`."""

    @property
    @abstractmethod
    def keys(self) -> Sequence[tuple[bytes, int]]:
        """See :meth:`Conversation.keys`."""

    @property
    @abstractmethod
    def trail(self) -> Sequence[bytes]:
        """See :meth:`Conversation.trail`."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """Bytes that it takes in memory for as long as it is kept, about."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request as it was read.

    ``instructions`` is what stands outside the messages (Anthropic's ``system``, the Responses format's
    ``instructions``); ``tools`` are the offered tools' names; ``continues`` names a history that the server
    holds (``previous_response_id``, ``conversation``), of which the messages are only the newest part, and
    ``stored`` says whether the server may hold these, too, for a later request to go on from;
    ``schemas`` is the JSON text of the offered tools' definitions, which a model reads too; ``longest`` the longest
    reply that the request allows, in tokens, 0 where it does not say.
    """

    dialect: str
    model: str
    messages: Sequence[Message]
    instructions: str = ""
    tools: tuple[str, ...] = ()
    stream: bool = False
    continues: str | None = None
    stored: bool = False
    schemas: str = ""
    longest: int = 0
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What follows from the messages, once it was asked for: a request asks for it at every step."""

    @property
    def head(self) -> int:
        """How many messages there are up to and with the first in which a person spoke; 0 where nobody did."""
        if isinstance(self.messages, MessageHistory):
            return self.messages.head
        return next((index + 1 for index, message in enumerate(self.messages) if message.spoken), 0)

    @property
    def newest(self) -> int:
        """Where the newest message stands (see :func:`newest_of`); -1 where there is none."""
        return newest_of(self.messages)

    @property
    def last(self) -> Message | None:
        """The last message that is no instruction; None where there is none."""
        return next((message for message in reversed(self.messages) if message.role not in INSTRUCTING), None)

    def keys(self) -> Sequence[tuple[bytes, int]]:
        """Each message's digest, and how many earlier messages have the same."""
        if isinstance(self.messages, MessageHistory):
            return self.messages.keys
        keys: tuple[tuple[bytes, int], ...] | None = self._known.get("keys")
        if keys is None:
            seen: dict[bytes, int] = {}
            result = []
            for message in self.messages:
                count = seen.get(message.digest, 0)
                seen[message.digest] = count + 1
                result.append((message.digest, count))
            keys = self._known["keys"] = tuple(result)
        return keys

    @property
    def digests(self) -> Sequence[bytes]:
        """Each message's digest."""
        digests: tuple[bytes, ...] | None = self._known.get("digests")
        if digests is None:
            digests = self._known["digests"] = tuple([each[0] for each in self.keys()])
        return digests

    def once(self, name: str, work: Callable[[Conversation], T]) -> T:
        """What some ``work`` makes of the request, under a ``name`` of its own: done when it is first asked for."""
        if name not in self._known:
            self._known[name] = work(self)
        found: T = self._known[name]
        return found

    def trail(self) -> Sequence[bytes]:
        """A chain of hashes, one for each message up to the newest: two requests agree up to message k iff
        ``trail()[k]`` is equal. What a client only passes along behind the newest is gone with its next request."""
        length = self.newest + 1
        if isinstance(self.messages, MessageHistory):
            whole = self.messages.trail
            return whole if length == len(whole) else whole[:length]
        links: tuple[bytes, ...] | None = self._known.get("trail")
        if links is None:
            chain, digests = b"", []
            for message in self.messages[:length]:
                chain = chained(chain, message.digest)
                digests.append(chain)
            links = self._known["trail"] = tuple(digests)
        return links


def newest_of(messages: Sequence[Message]) -> int:
    """Where the newest of some messages stands: the last one in which a person or a tool spoke, if nothing stands
    behind it but texts that the client itself wrote, in the user's role or the system's; else the last one. -1 where
    there is none.

    A client may drop such a text with its next request and add it anew (OpenClaw does, also behind results), or say
    behind the first words where it runs (Claude Code does with its newest models): what is new stands before it, and
    nothing may be added to it.
    """
    last = len(messages) - 1
    index = last
    while index >= 0 and _is_clients_own(messages[index]):
        index -= 1
    return index if index >= 0 and (messages[index].spoken or messages[index].results) else last


def _is_clients_own(message: Message) -> bool:
    """Whether a message has texts, and none that a person or the model said."""
    if message.spoken or (message.role is not Role.USER and message.role not in INSTRUCTING):
        return False
    return all(isinstance(part, Text) for part in message.parts)


@lru_cache(maxsize=CHAINED)
def chained(link: bytes, digest: bytes) -> bytes:
    """The link of a trail behind this one, at a message of this digest."""
    return hashlib.blake2b(link + digest, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them. ``input`` includes what was cached."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered.

    ``complete`` is False when the stream ended without its terminator: nothing is learned from such a reply. ``sent``
    is what the client got, where ``parts`` are not all of it.
    """

    parts: tuple[Part, ...] = ()
    stop: str = ""
    usage: Usage | None = None
    complete: bool = False
    id: str = ""
    sent: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        """Its plain text, joined by newlines."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def kind_of(part: Part) -> str:
    """What a part is, in a word: result, call, text, image, reasoning or other."""
    match part:
        case ToolResult():
            return "result"
        case ToolCall():
            return "call"
        case Text():
            return "text"
        case Image():
            return "image"
        case Reasoning():
            return "reasoning"
        case _:
            return "other"


def digest(role: Role, parts: Iterable[Part]) -> bytes:
    """16 bytes that name a message by its content.

    Clients resend a message in other clothes: ids change, cache marks move, a list of one text becomes a plain
    string, keys change their order. None of that changes the digest; everything that a model reads does.
    """
    forms = [normal_form(part) for part in parts]
    whole = [role.value, forms]
    hasher = hashlib.blake2b(digest_size=16)
    for piece in _json_in_pieces(whole) if _ends_in_long_string(forms) else (orjson.dumps(whole),):
        hasher.update(piece)
    return hasher.digest()


def _json_in_pieces(value: Any) -> Iterator[bytes]:
    """A value as JSON, long strings in it piece by piece: everybody waits while one is written."""
    if isinstance(value, str):
        yield b'"'
        for at in range(0, len(value), PIECE):
            yield orjson.dumps(value[at : at + PIECE])[1:-1]
        yield b'"'
    elif isinstance(value, list) and value:
        for at, each in enumerate(value):
            yield b"," if at else b"["
            yield from _json_in_pieces(each)
        yield b"]"
    else:
        yield orjson.dumps(value)


def _ends_in_long_string(forms: Iterable[list[Any]]) -> bool:
    """Whether one of some parts ends in a string that is longer than a piece, as all do that are ever long."""
    for form in forms:
        last = form[-1]
        if (last.__class__ is list and _ends_in_long_string(last)) or (last.__class__ is str and len(last) > PIECE):
            return True
    return False


def normal_form(part: Part) -> list[Any]:
    """A part as plain lists, without ids and cache marks."""
    match part:
        case Text(text):
            return ["t", encodable(text)]
        case Image(source):
            return ["i", encodable(source)]
        case Reasoning(text, signature):
            return ["r", encodable(text), encodable(signature)]
        case ToolCall(_, name, arguments):
            return ["c", encodable(name), _sorted_json(arguments)]
        case ToolResult(_, content, failed):
            return ["o", failed, [normal_form(inner) for inner in content]]
        case Opaque(kind, raw):
            return ["x", encodable(kind), _sorted_json(raw)]


def encodable(text: str) -> str:
    """Lone surrogates (legal in JSON escapes, not in UTF-8) become escapes; all else stays."""
    if text.isascii():
        return text
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return "".join([piece.encode("utf-8", "backslashreplace").decode() for piece in pieces])


def _sorted_json(raw: str) -> str:
    """JSON text with sorted keys and without ids or cache marks; text that is no JSON, or too deep, stays as it is."""
    try:
        value = orjson.loads(raw)
        if isinstance(value, dict):
            value = {key: inner for key, inner in value.items() if key not in ("cache_control", "id")}
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # the latter: nested deeper than it writes
        return encodable(raw)
