"""What of a request may give way to a stub, because the journal can give it back word for word, and what is pinned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from memory.context.retention_value import SheddablePart
from memory.context.visible_history import VisibleHistory
from memory.conversation import Message, Opaque, Part, Role, Text, ToolResult, kind_of
from memory.edits import ContentTier, handle
from memory.learning.redact import redact
from memory.ports import Overview, StoredMessage
from memory.services.request import SessionRequest
from memory.services.tiers import in_short
from memory.tiers.shape import Hint, hint_of

LEAVES = frozenset({"result", "call", "text", "image"})
"""Kinds of parts that may give way to a stub: signed reasoning and what is unknown never do."""

LEAST = 60
"""Tokens of a part that is worth shedding."""

Parts = Callable[[Message], tuple[int, ...]]
"""Tokens of each part of a message, as the client sent it."""


def shelved_pieces(seen: VisibleHistory, parts: Parts, shelved: Mapping[bytes, StoredMessage]) -> list[SheddablePart]:
    """The parts that the journal has, with their lower tiers."""
    conversation, standing = seen.conversation, seen.standing
    pieces = []
    for index in range(max(conversation.head, standing.dropped.stop), len(conversation.messages)):
        message = conversation.messages[index]
        held = shelved.get(message.digest)
        if held is None or held.redacted:
            continue
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            continue
        tokens = parts(message)
        for number, part in enumerate(message.parts):
            kind = kind_of(part)
            if kind in LEAVES and tokens[number] >= LEAST:
                entry = standing.replaced.get((index, number))
                tier = entry.tier if entry else ContentTier.L2
                overview = held.overviews.get(number)
                pieces.append(_piece(message, index, number, kind, tokens[number], tier, overview))
    return pieces


def new_results(seen: VisibleHistory, parts: Parts, shelved: Mapping[bytes, StoredMessage]) -> list[SheddablePart]:
    """The tools' results that came with this very request, for when it would not fit otherwise: the journal has them
    with its exchange, before the reply ends. Not all of them need come back word for word."""
    conversation, standing = seen.conversation, seen.standing
    calls = {call.id: call for message in conversation.messages for call in message.calls}
    pieces = []
    for index, message in enumerate(conversation.messages):
        if message.digest in shelved or index < conversation.head or index in standing.dropped:
            continue
        tokens = parts(message)
        for number, part in enumerate(message.parts):
            if (index, number) in standing.replaced:
                continue
            if isinstance(part, ToolResult) and tokens[number] >= LEAST:
                call = calls.get(part.call_id)
                hint = hint_of(call.name, call.arguments, part.failed) if call else Hint(failed=part.failed)
                overview = Overview(tokens[number], in_short.line(part.text, hint), "", 0)
                pieces.append(_piece(message, index, number, "result", tokens[number], ContentTier.L2, overview))
    return pieces


def _piece(
    message: Message, index: int, number: int, kind: str, tokens: int, tier: ContentTier, tiers: Overview | None
) -> SheddablePart:
    line, overview, size = (tiers.line, tiers.text, tiers.text_tokens) if tiers else ("", "", 0)
    return SheddablePart(index, number, kind, tokens, line, overview, size, tier, handle(message.digest, number))


def comes_back(part: Part) -> bool:
    """Whether it is a result that the journal will have word for word: no secret is taken out of it."""
    return isinstance(part, ToolResult) and all(redact(text).text == text for text in _texts(part))


def sayable(part: Part) -> str:
    """What is pinned as a note says it, without secrets; empty of what is no text."""
    return redact(part.text).text if isinstance(part, Text | ToolResult) else ""


def length(part: Part) -> int:
    """Characters in which secrets are looked for."""
    return len(part.text) if isinstance(part, Text) else sum(map(len, _texts(part)))


def _texts(part: Part) -> Iterator[str]:
    """What of a result is text, and may hold a secret."""
    for each in part.content if isinstance(part, ToolResult) else ():
        yield each.text if isinstance(each, Text) else each.raw if isinstance(each, Opaque) else _address(each.source)


def _address(source: str) -> str:
    """Where a picture is to be found; its own bytes hold no text."""
    return "" if source.startswith("data:") or ";base64," in source[:100] else source


def pinned_places(request: SessionRequest, pinned: Collection[str]) -> dict[str, tuple[Message, int]]:
    """Where in a request what a person has pinned is to be found, by handle."""
    found = {}
    named = {name.partition(".")[0] for name in pinned}
    for index in [at for at, (digest, _) in enumerate(request.keys) if handle(digest, 0).partition(".")[0] in named]:
        message = request.conversation.messages[index]
        for number in range(len(message.parts)):
            if (name := handle(message.digest, number)) in pinned:
                found[name] = message, number
    return found
