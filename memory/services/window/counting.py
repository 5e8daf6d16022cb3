"""How many tokens a request has, known at once, and exactly by its next turn.

A client sends its whole history every time, so a message is counted once and found by its digest afterwards. What is
new and short is counted on the spot; what is long is estimated from its characters, and counted in a thread beside,
so that no request waits for a tokenizer. All of it belongs to the event loop: only the counting itself runs in a
thread, on values that do not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from memory.context.budget import maker
from memory.context.sizes import PER_REQUEST, message_tokens, parts_tokens, quick
from memory.conversation import INSTRUCTING, Conversation, Message, Role, Text, ToolResult
from memory.ports import Guard

K = TypeVar("K")
V = TypeVar("V")

MAX_COUNTED_MESSAGES = 20_000
"""Messages whose counts are kept; about 200 bytes each. A session of 5,000 turns has half of them."""

MAX_COUNTED_TEXTS = 4096
"""Texts of ours whose counts are kept; about 100 bytes each."""

AT_ONCE = 6000
"""Characters of new messages that one request counts on the spot (a third of a millisecond)."""

AT_A_TIME, MESSAGES_AT_A_TIME = 200_000, 500
"""Characters, and messages, that the thread counts before it says so: some 50 ms of work."""

MANY = 500
"""Messages of which nothing is known, from which on they are looked at in a thread: here so many take milliseconds."""

LOOKED_AT = 60_000
"""Characters that one request looks at to estimate the rest; beyond, only lengths are taken (a first request that
brings a long history along)."""


NEAR = 0.65
"""The share of its window below which an estimate of a request is enough: sums of estimates are right to a percent, no
request is near what would not fit, and the tokenizer with its fifty megabytes is not loaded for it."""

APPROACHING = 0.4
"""The share of its window from which on a request's session may come near it: the tokenizer is made ready for it."""


class Tokenizer(Protocol):
    """Counts tokens, from any thread; loads what it needs with the first text."""

    @property
    def ready(self) -> bool:
        """Whether nothing has to be loaded first."""

    def load(self) -> None:
        """Load what is needed."""

    def count(self, text: str) -> int:
        """Tokens of a text."""


@dataclass(frozen=True, slots=True)
class RequestTokens:
    """A request as the client sent it, in our tokens: its messages, and what stands outside them."""

    sizes: list[int]
    fixed: int

    @property
    def total(self) -> int:
        """The whole request."""
        return self.fixed + sum(self.sizes)


class Counted(NamedTuple):
    """A message's tokens: in all, and of each part; how many of them instruct the model, and are results of tools."""

    total: int
    parts: tuple[int, ...]
    system: int
    results: int


class _Estimate(NamedTuple):
    """A message's tokens, about, and its characters that are still to be counted."""

    counted: Counted
    length: int


_LOOKED_AT = "tokens, about"
_NONE: Mapping[bytes, _Estimate] = {}
_SYSTEM, _RESULTS = attrgetter("system"), attrgetter("results")


@dataclass(frozen=True, slots=True)
class ToldApart:
    """What of a request as the client sent it instructs the model, defines its tools, and is what tools gave."""

    system: int
    tools: int
    results: int


class RequestCounter:
    """Counts requests, message by message. Of the event loop only."""

    def __init__(self, tokenizer: Tokenizer, guard: Guard, window_of: Callable[[str], int] = lambda model: 0) -> None:
        self._tokenizer = tokenizer
        self._window_of = window_of
        self._guard = guard
        # Pictures cost what their makers say, so that Anthropic's models have counts of their own.
        self._counts = {rules: _Counts[bytes, Counted](MAX_COUNTED_MESSAGES) for rules in ("anthropic", "other")}
        self._texts = _Counts[int, int](MAX_COUNTED_TEXTS)
        self._wanted: dict[tuple[str, bytes], tuple[Message, int]] = {}
        self._counting: asyncio.Task[None] | None = None
        self._further = asyncio.Event()
        self._approached = asyncio.Event()
        self._estimates = _Counts[tuple[str, bytes], _Estimate](MAX_COUNTED_MESSAGES)
        self._guesses = _Counts[int, int](MAX_COUNTED_TEXTS)
        self._newest = _Newest()

    async def load_when_needed(self, quiet: Callable[[], Awaitable[bool]]) -> None:
        """Once a session grows towards its window, have the tokenizer ready before it needs it. Its table is made in
        one call, for which everything waits: a fifth of a second. So it is left for a moment that is ``quiet``, which
        takes its time to tell; a request that is near its window before has it loaded at once."""
        await self._approached.wait()
        while not self._tokenizer.ready and not await quiet():
            pass
        await asyncio.to_thread(self._tokenizer.load)

    async def look(self, conversation: Conversation) -> None:
        """Look at a request before its sizes are asked for: where many of its messages are new, everybody else would
        wait for that."""
        messages = conversation.messages
        if conversation.once(_LOOKED_AT, _nothing_yet):
            return
        rules, digests = _rules(conversation), conversation.digests
        counts, estimates = self._counts[rules], self._estimates
        new = [
            index for index, digest in enumerate(digests) if digest not in counts and (rules, digest) not in estimates
        ]
        if len(new) >= MANY:
            found = await asyncio.to_thread(_estimates_of, messages, new, rules)
            conversation.once(_LOOKED_AT, _nothing_yet).update(found)
            for digest, estimate in found.items():
                estimates.put((rules, digest), estimate)

    def sizes(self, conversation: Conversation) -> list[int]:
        """Tokens of each message as the client sent it: exact where it was counted before, else near."""
        return list(self._counts_of(conversation).sizes)

    def told_apart(self, conversation: Conversation, without: range = range(0)) -> ToldApart:
        """What of a request as the client sent it is what, some messages left aside: sums of what is counted anyway."""
        counted = self._counts_of(conversation).counted
        gone = counted[without.start : without.stop]
        outside = conversation.once("outside", _text_outside_messages)
        instructions, schemas = self._counted((outside,), (outside.digest,), "other")[0].parts
        return ToldApart(
            instructions + sum(map(_SYSTEM, counted)) - sum(map(_SYSTEM, gone)),
            schemas,
            sum(map(_RESULTS, counted)) - sum(map(_RESULTS, gone)),
        )

    def parts(self, message: Message, conversation: Conversation) -> tuple[int, ...]:
        """Tokens of each part of one message."""
        return self._counted((message,), (message.digest,), _rules(conversation))[0].parts

    def weigh(self, conversation: Conversation) -> RequestTokens:
        """A whole request as the client sent it."""
        outside = conversation.once("outside", _text_outside_messages)
        fixed = self._counted((outside,), (outside.digest,), "other")[0].total
        weighed = RequestTokens(self.sizes(conversation), PER_REQUEST + fixed)
        if not self._tokenizer.ready:
            window, total = self._window_of(conversation.model), weighed.total
            if total >= APPROACHING * window:
                self._approached.set()
            if total >= NEAR * window:
                self._counted((outside,), (outside.digest,), "other", beside=True)
                self._counts_of(conversation, beside=True)
        return weighed

    def text(self, text: str) -> int:
        """Tokens of a text of ours: a stub, a note, a page. Short ones exactly."""
        name, exactly = hash(text), len(text) <= AT_ONCE and self._tokenizer.ready
        counts = self._texts if exactly else self._guesses
        known = self._texts.get(name)
        if known is None and not exactly:
            known = self._guesses.get(name)
        if known is None:
            known = self._tokenizer.count(text) if exactly else quick(text)
            counts.put(name, known)
        return known

    async def exact(self, conversation: Conversation, without: Collection[int] = ()) -> None:
        """Wait until a request is counted, but for the messages that do not stand in it."""
        self.weigh(conversation)
        if not self._wanted:
            return
        rules, gone = _rules(conversation), set(without)
        stands = {(rules, digest) for index, digest in enumerate(conversation.digests) if index not in gone}
        stands.add(("other", conversation.once("outside", _text_outside_messages).digest))
        while self._counting is not None and not stands.isdisjoint(self._wanted):
            await self._further.wait()

    async def settle(self) -> None:
        """Wait until everything that was asked for is counted."""
        while self._counting is not None:
            await asyncio.wait({self._counting})

    def _counts_of(self, conversation: Conversation, beside: bool = False) -> _Newest:
        """Each message's tokens (see :meth:`_counted`). A request is asked about several times; its digests are its
        own, and nothing changes until more is counted."""
        newest, digests, exactly = self._newest, conversation.digests, self._tokenizer.ready
        if newest.digests is not digests or newest.exactly != exactly or (beside and not newest.beside):
            looked_at = conversation.once(_LOOKED_AT, _nothing_yet)
            counted = self._counted(conversation.messages, digests, _rules(conversation), beside, looked_at)
            newest = _Newest(digests, exactly, beside, [each.total for each in counted], counted)
            self._newest = newest
        return newest

    def _counted(
        self,
        messages: Sequence[Message],
        digests: Sequence[bytes],
        rules: str,
        beside: bool = False,
        looked_at: Mapping[bytes, _Estimate] = _NONE,
    ) -> list[Counted]:
        """Each message's tokens; with ``beside``, or once the tokenizer is there, what is estimated is counted in a
        thread. ``looked_at`` are those that were estimated before (see :meth:`look`)."""
        counts = self._counts[rules]
        get = counts.young.get
        found = [get(digest) for digest in digests]
        if None not in found:
            return cast(list[Counted], found)
        # Even an empty text is not for a tokenizer that has still to load.
        at_once, left = AT_ONCE if self._tokenizer.ready else -1, LOOKED_AT
        beside = beside or self._tokenizer.ready
        result: list[Counted] = []
        for index, known in enumerate(found):
            digest = digests[index]
            counted = known or counts.get(digest)
            if counted is None:
                key = rules, digest
                estimate = looked_at.get(digest) or self._estimates.get(key)
                length = estimate.length if estimate is not None else _countable_chars(messages[index])
                if length <= at_once:
                    at_once -= length
                    counted = _count(messages[index], self._tokenizer.count, rules)
                    counts.put(digest, counted)
                else:
                    if estimate is None:
                        left -= min(length, AT_ONCE)
                        estimate = _Estimate(_count(messages[index], quick if left > 0 else _by_length, rules), length)
                        self._estimates.put(key, estimate)
                    counted = estimate.counted
                    if beside:
                        self._wanted[key] = messages[index], length
            result.append(counted)
        if self._wanted and self._counting is None:
            self._counting = asyncio.create_task(self._count_beside())
        return result

    async def _count_beside(self) -> None:
        """Count what is wanted, piece by piece, and first what was wanted last: it stands at a request's end, which is
        what is left of a long one."""
        try:
            while self._wanted:
                batch, left = dict[tuple[str, bytes], Message](), AT_A_TIME
                for key in reversed(self._wanted):
                    if left <= 0 or len(batch) >= MESSAGES_AT_A_TIME:
                        break
                    batch[key], length = self._wanted[key]
                    left -= length
                counting = asyncio.to_thread(_count_all, batch, self._tokenizer.count)
                done, _ = await self._guard(counting, default={}, timeout_seconds=300, operation="counting tokens")
                for (rules, digest), counted in done.items():
                    self._counts[rules].put(digest, counted)
                    self._estimates.drop((rules, digest))
                for key in batch:
                    self._wanted.pop(key, None)
                self._newest = _Newest()
                self._went_further()
        finally:
            self._counting = None
            self._went_further()

    def _went_further(self) -> None:
        """Tell those who wait now; who comes later waits for the next time."""
        self._further.set()
        self._further = asyncio.Event()


@dataclass(slots=True)
class _Newest:
    """What was counted of the request that was asked about last. ``exactly``: with the tokenizer; ``beside``: what is
    estimated is being counted whether or not it is there."""

    digests: Sequence[bytes] = ()
    exactly: bool = False
    beside: bool = False
    sizes: list[int] = field(default_factory=list)
    counted: list[Counted] = field(default_factory=list)


class _Counts(Generic[K, V]):
    """At most ``most`` counts, in two generations: what is asked for stays young, what is not goes with the elder."""

    def __init__(self, most: int) -> None:
        self.young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._half = most // 2

    def __contains__(self, key: K) -> bool:
        return key in self.young or key in self._old

    def get(self, key: K) -> V | None:
        counted = self.young.get(key)
        if counted is None and (counted := self._old.get(key)) is not None:
            self.put(key, counted)
        return counted

    def put(self, key: K, counted: V) -> None:
        if len(self.young) >= self._half:
            self.young, self._old = {}, self.young
        self.young[key] = counted

    def drop(self, key: K) -> None:
        self.young.pop(key, None)
        self._old.pop(key, None)


def _rules(conversation: Conversation) -> str:
    whose = maker(conversation.dialect, conversation.model)
    return whose if whose == "anthropic" else "other"


def _text_outside_messages(conversation: Conversation) -> Message:
    """What stands outside the messages, as a message of its own, so that it too is counted once."""
    name = hash((conversation.instructions, conversation.schemas)).to_bytes(8, "big", signed=True)
    return Message(Role.SYSTEM, (Text(conversation.instructions), Text(conversation.schemas)), name)


def _count(message: Message, count: Callable[[str], int], rules: str) -> Counted:
    parts = parts_tokens(message, count, rules)
    total = message_tokens(parts)
    results = sum(tokens for part, tokens in zip(message.parts, parts, strict=True) if isinstance(part, ToolResult))
    return Counted(total, parts, total if message.role in INSTRUCTING else 0, results)


def _count_all(
    batch: dict[tuple[str, bytes], Message], count: Callable[[str], int]
) -> dict[tuple[str, bytes], Counted]:
    return {key: _count(message, count, key[0]) for key, message in batch.items()}


def _estimates_of(messages: Sequence[Message], which: Sequence[int], rules: str) -> dict[bytes, _Estimate]:
    """Those of some messages, by their digests."""
    found, left = dict[bytes, _Estimate](), LOOKED_AT
    for index in which:
        message = messages[index]
        length = _countable_chars(message)
        left -= min(length, AT_ONCE)
        found[message.digest] = _Estimate(_count(message, quick if left > 0 else _by_length, rules), length)
    return found


def _nothing_yet(_: Conversation) -> dict[bytes, _Estimate]:
    return {}


def _by_length(text: str) -> int:
    return len(text) * 2 // 7


def _countable_chars(message: Message) -> int:
    """Characters of a message that would be counted, and of pictures that would be looked at."""
    length = 0

    def add(text: str) -> int:
        nonlocal length
        length += len(text)
        return 0

    parts_tokens(message, add, "other")
    return length
