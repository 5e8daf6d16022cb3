"""What one round of a reply said, and what is kept of rounds that the client does not see.

A reply in which the model calls a tool of ours has several rounds: we answer the call and ask again, and the client
sees one reply. With its next request the client sends that one reply; what is kept here makes the rounds again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Protocol

import orjson

from memory.conversation import Usage

CUT_SHORT: Final = frozenset(
    {
        "max_tokens",
        "max_output_tokens",
        "length",
        "refusal",
        "content_filter",
        "pause_turn",
        "model_context_window_exceeded",
        *("MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "OTHER"),
        *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"),
    }
)
"""Stop reasons after which a call is no whole call, or not ours to answer."""


class ContentMark(NamedTuple):
    """How a visible content is known again in the client's copy: a text by its length and hash, anything else by a
    hash of what names it. No text of anybody stands in a mark."""

    length: int
    hash: str


@dataclass(frozen=True, slots=True)
class HiddenCall:
    """A call of one of our tools. ``raw`` is the call as JSON, as it stands in a request; ``behind`` counts the
    client's own calls before it in the same round."""

    id: str
    name: str
    arguments: str
    raw: str
    behind: int = 0


@dataclass(frozen=True, slots=True)
class RoundTurn:
    """One round. ``message`` is all of it as JSON, as it stands in a request (several items joined by commas, where
    the format has items); ``marks`` are its visible contents; ``others`` counts calls of the client's tools."""

    calls: tuple[HiddenCall, ...] = ()
    others: int = 0
    stop: str = ""
    message: str = ""
    marks: tuple[ContentMark, ...] = ()
    usage: Usage | None = None
    over: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the model waits for our answers and for nobody else's."""
        return bool(self.calls) and not self.others and self.over and self.stop not in CUT_SHORT

    @property
    def shared(self) -> bool:
        """Whether it waits for our answers and for the client's."""
        return bool(self.calls) and self.others > 0 and self.over and self.stop not in CUT_SHORT


@dataclass(frozen=True, slots=True)
class HiddenRoundRecord:
    """What a reply hid.

    ``before`` are whole rounds with our answers, messages as JSON joined by commas, which stand before what the
    client knows of the last round; ``marks`` is what of the client's copy they say already. ``beside`` are calls of
    ours in the last round, beside the client's, and ``results`` the answers to them, JSON joined by commas.
    """

    before: str = ""
    marks: tuple[ContentMark, ...] = ()
    beside: tuple[tuple[int, str], ...] = ()
    results: str = ""

    def dump(self) -> str:
        """As text, for the ledger; :func:`load` is the inverse."""
        marks = [tuple(mark) for mark in self.marks]
        fields = {"before": self.before, "marks": marks, "beside": self.beside, "results": self.results}
        return orjson.dumps(fields).decode()

    def free_of(self, redact: Callable[[str], str]) -> HiddenRoundRecord:
        """Without secrets, for a store. What the provider has signed or encrypted stays, and where the text that a
        signature stands for held a secret, it leaves whole."""
        before, beside, results = (
            _redacted(f"[{raw}]", redact)
            for raw in (self.before, ",".join(raw for _, raw in self.beside), self.results)
        )
        if before is None and beside is None and results is None:
            return self
        calls = orjson.loads(beside) if beside is not None else None
        return replace(
            self,
            before=self.before if before is None else before[1:-1],
            beside=self.beside
            if calls is None
            else tuple(
                (behind, orjson.dumps(call).decode()) for (behind, _), call in zip(self.beside, calls, strict=True)
            ),
            results=self.results if results is None else results[1:-1],
        )


def load(text: str) -> HiddenRoundRecord:
    """What :meth:`Hidden.dump` wrote.

    Raises:
        ValueError: when it is something else.
    """
    try:
        data = orjson.loads(text)
        return HiddenRoundRecord(
            str(data["before"]),
            tuple(ContentMark(int(length), str(hash)) for length, hash in data["marks"]),
            tuple((int(behind), str(raw)) for behind, raw in data["beside"]),
            str(data["results"]),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"no hidden rounds: {error}") from error


class ReplyWriter(Protocol):
    """Writes one reply for the client out of one round after another.

    Bytes go in as they come from upstream, bytes come out as the client may see them; while no tool of ours is called
    they are the same, however they are cut. When a round :attr:`Turn.goes_on`, its end does not come out: another
    round is begun with :meth:`again`, or the reply is ended with :meth:`close`.
    """

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; what the client sees of it."""

    def end(self) -> bytes:
        """The upstream has ended; what the client still sees of this round."""

    @property
    def over(self) -> bool:
        """Whether this round's terminator has come, where it hides anything, or :meth:`turn` was asked."""

    @property
    def hides(self) -> bool:
        """Whether a call of ours stands in this round; while it does not, there is no need to ask what it said."""

    def turn(self) -> RoundTurn:
        """What this round said so far."""

    def again(self) -> None:
        """Another round begins."""

    def close(self) -> bytes:
        """End a reply that should have gone on, as its format ends one."""


def mark_of(text: str) -> ContentMark:
    """The mark of a text; white space around it does not count."""
    stripped = text.strip()
    return ContentMark(len(stripped), _hash(stripped))


def mark_of_other(name: str) -> ContentMark:
    return ContentMark(-1, _hash(name))


def behind(text: str, mark: ContentMark) -> str | None:
    """What stands in a text behind the one that a mark knows; None where it does not begin with that."""
    if mark.length < 0:
        return None
    start = len(text) - len(text.lstrip()) if mark.length else 0
    end = start + mark.length
    return text[end:] if _hash(text[start:end]) == mark.hash else None


def joined(messages: Sequence[str]) -> str:
    """Messages as JSON, joined by commas; empty ones left out."""
    return ",".join(message for message in messages if message)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


_REPLAYED_FIELDS: Final = frozenset(
    {
        *("signature", "encrypted_content", "data", "thought_signature", "thoughtSignature"),
        *("id", "call_id", "tool_call_id", "tool_use_id"),
    }
)


def _redacted(raw: str, redact: Callable[[str], str]) -> str | None:
    """JSON text without secrets; None where there are none."""
    value = orjson.loads(raw)
    cleaned = _clean(value, redact)
    return None if cleaned == value else orjson.dumps(cleaned).decode()


def _clean(value: Any, redact: Callable[[str], str]) -> Any:
    match value:
        case str():
            return redact(value)
        case list():
            return [cleaned for each in value if (cleaned := _clean(each, redact)) is not None or each is None]
        case dict():
            cleaned = {key: each if key in _REPLAYED_FIELDS else _clean(each, redact) for key, each in value.items()}
            signed = value.get("signature") or value.get("thoughtSignature")
            return None if signed and cleaned != value else cleaned
    return value
