"""Make the lower tiers: a worker reads the exchanges behind its cursor and writes L0 and L1 of what may be shed.

An exchange's overviews are one transaction with the cursor. Nothing here runs while a request waits: the work is done
in a thread, message by message, and steps back while requests are under way. Made of what the journal holds, which is
free of secrets; a message out of which one was taken is never shed and gets none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from memory.context.sizes import dimensions, image_tokens
from memory.conversation import (
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    digest,
)
from memory.edits import handle
from memory.ports import Guard, Journal, Journaled, Overview
from memory.scope import Layer
from memory.services.worker import JournalFollower, Pace
from memory.tiers.shape import MAX_LINE_CHARS, Hint, Tiers, budget_of, hint_of

LEAST = 400
"""Characters from which on a content is worth a lower tier. A picture always is."""

SHORTEST = 200
"""Characters that the L0 of a call's arguments has if it can."""

BATCH = 16
"""Exchanges read at once."""

HURRIED = 0.25
"""How long the worker rests for each second of work while requests are under way and much has piled up."""

Place = tuple[bytes, int]
"""A part: its message's digest, and its index there."""

Reword = Callable[[Message, Mapping[int, Sequence[Place]], dict[Place, Overview]], Awaitable[dict[Place, Overview]]]
"""Goes over a message's overviews: the message, its parts' places, and what the rules made."""


@dataclass(frozen=True, slots=True)
class TierMaker:
    """How texts are made shorter and counted. ``arguments`` takes a call's name, its arguments, the most characters
    and the handle of the whole, and gives JSON of the same shape, or None where nothing can be made shorter."""

    tiers: Callable[[str, Hint], Tiers]
    arguments: Callable[[str, str, int, str], str | None]
    tokens: Callable[[str], int]


class TierWorker(JournalFollower):
    """Makes overviews after the exchange. ``busy`` says whether requests are under way; ``reword`` may
    put some of them better."""

    def __init__(
        self,
        journal: Journal,
        lowering: TierMaker,
        guard: Guard,
        busy: Callable[[], bool] = lambda: False,
        reword: Reword | None = None,
    ) -> None:
        super().__init__(guard, "making overviews", busy)
        self._reword = reword
        self._journal = journal
        self._lowering = lowering

    async def _batch(self, pace: Pace) -> bool:
        """Make the overviews of the next exchanges; whether there may be more. Requests that are under way come first,
        less so when much has piled up, unless somebody waits for it."""
        async with self._one_at_a_time:
            waiting = await self._journal.untiered(BATCH)
            rest = (1.0 if len(waiting) < BATCH else HURRIED) if pace is not Pace.AT_ONCE else 0.0
            for journaled in waiting:
                await self._write_overviews(journaled, rest, journaled is waiting[-1])
            self._sparing.paid(len(waiting) if len(waiting) == BATCH else None)
            return len(waiting) == BATCH

    async def _write_overviews(self, journaled: Journaled, rest: float, last: bool) -> None:
        """Make and write the overviews of an exchange. Where there are none, only the ``last`` of several has to be
        written, since the cursor passes over the others with it."""
        owner = journaled.session.scope.owner(Layer.USER) or ""
        async with self._tries.one(journaled.number) as again:
            overviews = await self._make_overviews(journaled, rest) if again else {}
            if overviews or last or not again:
                await self._journal.write_overviews(journaled.number, owner, overviews)

    async def _make_overviews(self, journaled: Journaled, rest: float) -> dict[Place, Overview]:
        """The overviews of an exchange; ``rest`` is how long to wait after each message while requests are under way,
        for each second that it took."""
        by_place: dict[Place, Overview] = {}
        fresh = {journaled.messages[index].digest: journaled.messages[index] for index in journaled.fresh}
        tasks = [(message, named(message)) for message in fresh.values() if may_be_shed(message)]
        if journaled.reply is not None and may_be_shed(journaled.reply):
            tasks.append((journaled.reply, sent_back(journaled.reply)))
        if not tasks:
            return by_place
        due = await self._journal.without_overviews(journaled.session.id, [message.digest for message, _ in tasks])
        calls = {call.id: call for message in journaled.messages for call in message.calls} if due else {}
        for message, places in tasks:
            if message.digest not in due:
                continue
            began = time.monotonic()
            lowered = await asyncio.to_thread(overviews, message, places, calls, self._lowering)
            if self._reword is not None:
                lowered = await self._reword(message, places, lowered)
            by_place.update(lowered)
            if rest and self._busy():
                await asyncio.sleep(rest * (time.monotonic() - began))
        return by_place


def overviews(
    message: Message,
    places: Mapping[int, Sequence[Place]],
    calls: Mapping[str, ToolCall],
    lowering: TierMaker,
) -> dict[Place, Overview]:
    """The lower tiers of a message's parts, each under all its ``places``; ``calls`` are those that results answer,
    by their ids."""
    overviews: dict[Place, Overview] = {}
    for index, part in enumerate(message.parts):
        if not _worth(part) or not places.get(index):
            continue
        first, *others = places[index]
        overviews[first] = lower(part, handle(*first), calls, lowering)
        for place in others:
            # A call's overview names the handle of the whole, which is another in each form.
            named_anew = isinstance(part, ToolCall)
            overviews[place] = lower(part, handle(*place), calls, lowering) if named_anew else overviews[first]
    return overviews


def lower(part: Part, name: str, calls: Mapping[str, ToolCall], lowering: TierMaker) -> Overview:
    """The lower tiers of one part that has the handle ``name``. Of a call both are JSON arguments again, which stand
    in its place as they are; a call in which nothing is long has neither."""
    tokens = lowering.tokens
    match part:
        case ToolCall(_, tool, arguments):
            text, line = "", ""
            for limit in (budget_of(arguments), len(arguments) // 2):
                text = text or lowering.arguments(tool, arguments, limit, name) or ""
            for limit in (SHORTEST, len(text) // 4, len(text) // 2):
                line = line or lowering.arguments(tool, arguments, limit, name) or ""
            return Overview(tokens(arguments), line, text, tokens(text))
        case ToolResult(call_id, content, failed):
            call = calls.get(call_id)
            hint = hint_of(call.name, call.arguments, failed) if call else Hint(failed=failed)
            text, more = part.text, sum(_tokens_beside(each, tokens) for each in content)
            tiers = lowering.tiers(text, hint) if text.strip() else Tiers("", "")
            pictures = [picture(each) for each in content if isinstance(each, Image)]
            line = "; ".join(filter(None, [tiers.line, *pictures]))[:MAX_LINE_CHARS]
            return Overview(tokens(text) + more, line, tiers.overview, tokens(tiers.overview))
        case Image(source):
            return Overview(image_tokens(source, ""), picture(part), "", 0)
        case Text(text):
            tiers = lowering.tiers(text, Hint())
            return Overview(tokens(text), tiers.line, tiers.overview, tokens(tiers.overview))
        case _:
            raise ValueError(f"a part of the kind {type(part).__name__} is never shed")


def picture(image: Image) -> str:
    """A picture in a line: what of it can be known without looking at it."""
    size = dimensions(image.source)
    kind = image.source[:40].partition("image/")[2].partition(";")[0].partition("/")[0].upper()
    parts = ["picture", *([kind] if image.source.startswith("data:") and kind else [])]
    return " ".join([*parts, *([f"{size[0]} × {size[1]}"] if size else [])])


def may_be_shed(message: Message) -> bool:
    """Whether something in a message may ever be shed and is worth it."""
    return message.role not in (Role.SYSTEM, Role.DEVELOPER) and any(map(_worth, message.parts))


def named(message: Message) -> dict[int, list[Place]]:
    """Each part's place."""
    return {index: [(message.digest, index)] for index in range(len(message.parts))}


def sent_back(reply: Message) -> dict[int, list[Place]]:
    """Each part's places in the forms in which a client may send a reply back: as one message, with and without the
    reasoning, or as one message for each part (the Responses format)."""
    places = named(reply)
    plain = [index for index, part in enumerate(reply.parts) if not isinstance(part, Reasoning)]
    without = digest(Role.ASSISTANT, [reply.parts[index] for index in plain])
    for position, index in enumerate(plain):
        places[index] += [(without, position), (digest(Role.ASSISTANT, [reply.parts[index]]), 0)]
    return {index: list(dict.fromkeys(each)) for index, each in places.items()}


def _worth(part: Part) -> bool:
    match part:
        case ToolCall(_, _, arguments):
            return len(arguments) >= LEAST
        case ToolResult(_, content, _):
            return len(part.text) >= LEAST or any(isinstance(each, Image) for each in content)
        case Text(text):
            return len(text) >= LEAST
        case Image():
            return True
        case _:
            return False


def _tokens_beside(part: Part, tokens: Callable[[str], int]) -> int:
    """Of what stands in a result beside its text."""
    match part:
        case Image(source):
            return image_tokens(source, "")
        case Opaque(_, raw):
            return tokens(raw)
        case _:
            return 0
