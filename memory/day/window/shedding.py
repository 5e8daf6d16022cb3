"""Keep a session under its model's window: gather what a plan needs, have it made, and write it down as decisions.

What leaves is decided by :mod:`memory.context.shed` and :mod:`memory.context.rotate` out of plain values. Here they
are fetched: sizes from the counts, lower tiers and pins from the journal, the window, prices, and how long the
session was idle. Only what the journal can give back word for word may leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from memory.context.budget import Budget, Prices, budget, maker, remaining, reserve
from memory.context.continuity import Kept
from memory.context.hasty import hasty
from memory.context.shed import Cut, Plan, plan
from memory.context.sight import Sight, sight
from memory.context.worth import Piece
from memory.conversation import Conversation, Form, Message, Role, Text, ToolResult, kind_of
from memory.day.sessions.live import LiveSession
from memory.day.window.counting import Counting
from memory.day.window.overdue import Overdue
from memory.day.window.reported import Reported
from memory.edits import Act, Append, Drop, Edit, Entry, Insert, Key, Replace, Standing, Tier, handle
from memory.fact import Fact, Kind
from memory.learning.redact import redact
from memory.ports import Journal, Overview, Shelved
from memory.scope import Layer
from memory.session import Arrival, Mode, Patience, Shed
from memory.settings import SheddingSettings
from memory.tiers.choose import line
from memory.tiers.shape import Hint, hint_of

LEAVES = frozenset({"result", "call", "text", "image"})
"""Kinds of parts that may give way to a stub: signed reasoning and what is unknown never do."""

LEAST = 60
"""Tokens of a part that is worth shedding."""

AGAIN = 0.04
"""By what share of its window a session has to grow before it is looked at again for what could leave a warm cache."""

COUNTED_SECONDS = 0.4
"""How long an exact count is waited for before anything leaves: about what loading the tokenizer takes."""

CLOSE = 0.98
"""The share of a window up to which an estimate is trusted."""

DOUBTED = 0.05
"""The share of a window that is left free, at most, because what is new may be dearer than it is counted."""

TOLD = 40
"""Lines of what was decided and corrected that a continuity note is given to choose from."""


class Windows(Protocol):
    """What is known of models."""

    def of(self, model: str) -> int:
        """Tokens that it reads at once."""

    def prices(self, model: str) -> Prices | None:
        """What its tokens cost."""


@dataclass(frozen=True, slots=True)
class Load:
    """A request as it stands with its session's edits, in tokens as we count them; ``expected`` is what the provider
    will report, ``window`` what its model reads at once, ``changed`` what the edits made of what the client sent."""

    sizes: tuple[int, ...]
    fixed: int
    changed: int
    expected: int
    window: int

    @property
    def total(self) -> int:
        """The whole request."""
        return self.fixed + sum(self.sizes)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be written into the ledger. A rotation's ``cut`` still wants its page. ``unkept`` are the messages
    that something leaves and that the journal does not have; ``late`` says that it was made for the request before."""

    entries: tuple[Entry, ...] = ()
    cut: Cut | None = None
    shed: Shed | None = None
    warning: str = ""
    unkept: tuple[Message, ...] = ()
    late: bool = False


class Shedding:
    """The shell that decides what leaves a request."""

    def __init__(
        self, settings: SheddingSettings, journal: Journal, counting: Counting, reported: Reported, windows: Windows
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._counting = counting
        self._reported = reported
        self._windows = windows
        self._overdue = Overdue[Decision]()

    def load(self, conversation: Conversation, live: LiveSession, edits: Iterable[Edit]) -> Load:
        """How large a request of a session is with some edits."""
        weighed = self._counting.weigh(conversation)
        sizes = list(weighed.sizes)
        for edit in edits:
            match edit:
                case Drop():
                    leave = edit.messages
                    sizes[leave.start : leave.stop] = [0] * len(leave)
                case Replace(index, part, text):
                    message = conversation.messages[index]
                    if part < len(message.parts):
                        whole = self._counting.parts(message, conversation)[part]
                        sizes[index] += self._counting.text(text) - whole
                case Append(index, text):
                    sizes[index] += self._counting.text(text)
                case Insert(index, raw):
                    # What is JSON in JSON here stands as JSON in the request.
                    sizes[index] += self._counting.text(raw.replace('\\"', '"'))
        fixed = weighed.fixed + self.offered(live, conversation)
        counted = fixed + sum(sizes)
        expected = self._reported.expected(live.session.id, conversation.model, counted)
        changed = counted - weighed.total
        return Load(tuple(sizes), fixed, changed, expected, self.window(conversation))

    def sight(self, conversation: Conversation, keys: Sequence[Key], standing: Standing, load: Load) -> Sight:
        """What of a request with these edits is looked at."""
        return sight(conversation, keys, self._counting.sizes(conversation), load.sizes, standing)

    def offered(self, live: LiveSession, conversation: Conversation) -> int:
        """Tokens of the tools that a session offers beside the client's."""
        return self.tokens(live.ledger.offers if conversation.tools else "")

    def tokens(self, text: str) -> int:
        """Tokens of a text of ours."""
        return self._counting.text(text) if text else 0

    def window(self, conversation: Conversation) -> int:
        """Tokens that a request's model reads at once."""
        return self._windows.of(conversation.model)

    async def decide(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        standing: Standing,
        load: Load,
        must: bool = False,
    ) -> Decision:
        """What leaves this request and all later ones. ``must``: the provider has refused it as too long. What was
        decided too late for the request before comes first, and alone."""
        # What no journal gets could never be given back.
        if not self._settings.enabled or conversation.continues or arrival.mode is not Mode.ON:
            return Decision()
        late = await self._overdue.late(live.session.id, keys)
        if late is not None:
            return replace(late, late=True)
        warm = not self._cold(conversation, live, arrival)
        allowed = self._budget(conversation, live, load, arrival.patience)
        if live.ledger.shed:
            live.pinned = await self._journal.pinned(live.session.id)
        if self._stays(live, load, allowed, warm, must):
            return Decision()
        load = await self._counted(conversation, live, standing, load)
        load = await self._as_reported(conversation, keys, live, load)
        allowed = self._budget(conversation, live, load, arrival.patience)
        if self._stays(live, load, allowed, warm, must):
            return Decision()
        planned = self._planned(conversation, keys, live, standing, load, allowed, warm, must)
        return await self._overdue.made(live.session.id, keys, planned)

    async def _planned(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        standing: Standing,
        load: Load,
        allowed: Budget,
        warm: bool,
        must: bool,
    ) -> Decision:
        """The plan, and what it comes to for the ledger."""
        every = conversation, keys
        seen = self.sight(conversation, keys, standing, load)
        conversation, keys, standing = seen.conversation, seen.keys, seen.standing
        stands = {digest for index, (digest, _) in enumerate(keys) if index not in standing.dropped}
        shelved = await self._journal.shelved(live.session.id, list(stands))
        pinned = await self._journal.pinned(live.session.id)
        pieces = self._pieces(conversation, keys, standing, shelved)
        turns = sum(message.role is Role.ASSISTANT for message in conversation.messages)
        kept = Kept(_pinned_lines(*every, pinned), tuple(await self.decided_in(live)), seen.beyond)

        def planned(pieces: Sequence[Piece]) -> Plan:
            return plan(
                conversation,
                pieces,
                seen.sizes,
                allowed,
                standing,
                warm=warm,
                turns=remaining(turns),
                prices=self._windows.prices(conversation.model),
                pinned=pinned,
                kept=kept,
                must=must,
            )

        decided = await asyncio.to_thread(planned, pieces)
        if decided.tokens > self._most(conversation, live, load) and (
            new := self._new_results(conversation, standing, shelved)
        ):
            decided = await asyncio.to_thread(planned, [*pieces, *new])
        live.looked = load.total
        return self._placed(self._decision(decided, conversation, keys, standing, shelved), seen)

    def _placed(self, decision: Decision, seen: Sight) -> Decision:
        """A decision about what is looked at, for the whole request."""
        cut = decision.cut
        return decision if cut is None else replace(decision, cut=replace(cut, message=seen.place(cut.message)))

    def hasty(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        live: LiveSession,
        arrival: Arrival,
        load: Load,
        late: bool = True,
    ) -> Decision:
        """What leaves a request that does not fit and for which no plan is ready; never waits. Nothing, where nothing
        has ever left the session: its window may be larger than it is taken for, and a provider says so. With a plan
        that is not ``late``, what was added since may take a little of what is kept free for the reply."""
        if not self._settings.enabled or conversation.continues or arrival.mode is not Mode.ON or not live.ledger.shed:
            return Decision()
        allowed = self._budget(conversation, live, load, arrival.patience)
        if not late:
            most = self._reported.ours(live.session.id, conversation.model, int(CLOSE * load.window))
            allowed = replace(allowed, window=max(allowed.window, most))
        if load.total <= allowed.window:
            return Decision()
        lines = _pinned_lines(conversation, keys, live.pinned)
        seen = self.sight(conversation, keys, live.ledger.standing(keys, conversation.head), load)
        near = seen.conversation

        def parts(index: int) -> tuple[int, ...]:
            return self._counting.parts(near.messages[index], near)

        warm = not self._cold(conversation, live, arrival)
        decided = hasty(near, seen.sizes, parts, allowed, seen.standing, lines, warm)
        return self._placed(self._decision(decided, near, seen.keys, seen.standing, {}), seen)

    def _stays(self, live: LiveSession, load: Load, allowed: Budget, warm: bool, must: bool) -> bool:
        """Whether nothing is looked for that could leave."""
        grown = min(allowed.window, live.looked + int(AGAIN * allowed.window))
        return not must and (load.total <= allowed.trim or (warm and load.total <= grown))

    async def _counted(self, conversation: Conversation, live: LiveSession, standing: Standing, load: Load) -> Load:
        """The load counted exactly, as far as that does not take long: after a start all is estimated, and an estimate
        that is too high would take out what fits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(COUNTED_SECONDS):
                await self._counting.exact(conversation, standing.dropped)
        return replace(self.load(conversation, live, standing.edits), window=load.window)

    async def _as_reported(
        self, conversation: Conversation, keys: Sequence[Key], live: LiveSession, load: Load
    ) -> Load:
        """The load with what the provider reported of the session's newest turn, which a start has forgotten: without
        it the next request would be judged by what is usual of its model, and shed though it fits. It is taken for
        looked at then, so that it goes on as it was."""
        model = conversation.model
        if not live.known or self._reported.anchored(live.session.id, model):
            return load
        newest = await self._journal.newest_usage(live.session.id, model)
        if newest is None or not (0 < newest[1] <= len(keys) and keys[newest[1] - 1][0] == newest[2]):
            return load
        usage, messages, _ = newest
        counted = load.fixed + sum(load.sizes[:messages])
        self._reported.learned(live.session.id, model, counted, usage)
        live.looked = live.looked or counted
        return replace(load, expected=self._reported.expected(live.session.id, model, load.total))

    async def decided_in(self, live: LiveSession) -> list[str]:
        """What was decided and corrected in a session, the newest last, for a continuity note."""
        scope = live.session.scope
        owners = [owner for layer in (Layer.USER_PROJECT, Layer.USER) if (owner := scope.owner(layer))]
        facts: list[Fact] = await self._journal.facts_of(owners)
        kinds = (Kind.DECISION, Kind.CORRECTION, Kind.CONVENTION, Kind.PREFERENCE)
        told = [fact for fact in facts if fact.session == live.session.id and fact.kind in kinds]
        return [fact.text for fact in reversed(told[:TOLD])]

    def _budget(self, conversation: Conversation, live: LiveSession, load: Load, patience: Patience | None) -> Budget:
        def ours(tokens: int) -> int:
            return self._reported.ours(live.session.id, conversation.model, tokens)

        free = reserve(
            conversation.dialect, conversation.model, conversation.longest, self._settings.reserve, load.window
        )
        if patience is not None:
            free = max(free, load.window - patience.most(load.window, conversation.longest))
        doubt = self._reported.doubt(live.session.id, conversation.model, load.total)
        free += min(doubt, int(DOUBTED * load.window))
        return budget(load.window, free, self._settings, load.fixed, ours)

    def _most(self, conversation: Conversation, live: LiveSession, load: Load) -> int:
        """The largest request that the provider takes, in our tokens: what is only kept free to be on the safe side is
        not worth a result that nobody has read yet."""
        asked = reserve(conversation.dialect, conversation.model, conversation.longest, 0, load.window)
        most = min(load.window - asked, int(CLOSE * load.window))
        return self._reported.ours(live.session.id, conversation.model, most)

    def _cold(self, conversation: Conversation, live: LiveSession, arrival: Arrival) -> bool:
        """Whether the provider's cache has let go of the session's prefix."""
        if live.read_at is None:
            return True
        lifetimes = self._settings.cache_ttl
        whose = maker(conversation.dialect, conversation.model)
        seconds = {"anthropic": lifetimes.anthropic, "openai": lifetimes.openai}.get(whose, lifetimes.other)
        return arrival.at - live.read_at > timedelta(seconds=seconds)

    def _pieces(
        self,
        conversation: Conversation,
        keys: Sequence[Key],
        standing: Standing,
        shelved: dict[bytes, Shelved],
    ) -> list[Piece]:
        pieces = []
        for index in range(max(conversation.head, standing.dropped.stop), len(conversation.messages)):
            message = conversation.messages[index]
            held = shelved.get(message.digest)
            if held is None or held.redacted:
                continue
            if message.role in (Role.SYSTEM, Role.DEVELOPER):
                continue
            tokens = self._counting.parts(message, conversation)
            for number, part in enumerate(message.parts):
                kind = kind_of(part)
                if kind in LEAVES and tokens[number] >= LEAST:
                    entry = standing.replaced.get((index, number))
                    tier = entry.tier if entry else Tier.L2
                    pieces.append(
                        _piece(message, index, number, kind, tokens[number], tier, held.overviews.get(number))
                    )
        return pieces

    def _new_results(
        self, conversation: Conversation, standing: Standing, shelved: Mapping[bytes, Shelved]
    ) -> list[Piece]:
        """The tools' results that came with this very request, for when it would not fit otherwise: the journal has
        them with its exchange, before the reply ends. One with a secret in it could not be given back."""
        calls = {call.id: call for message in conversation.messages for call in message.calls}
        pieces = []
        for index, message in enumerate(conversation.messages):
            if message.digest in shelved or index < conversation.head or index in standing.dropped:
                continue
            tokens = self._counting.parts(message, conversation)
            for number, part in enumerate(message.parts):
                if (index, number) in standing.replaced:
                    continue
                if isinstance(part, ToolResult) and tokens[number] >= LEAST and redact(part.text).text == part.text:
                    call = calls.get(part.call_id)
                    hint = hint_of(call.name, call.arguments, part.failed) if call else Hint(failed=part.failed)
                    made = Overview(tokens[number], line(part.text, hint), "", 0)
                    pieces.append(_piece(message, index, number, "result", tokens[number], Tier.L2, made))
        return pieces

    def _decision(
        self,
        decided: Plan,
        conversation: Conversation,
        keys: Sequence[Key],
        standing: Standing,
        shelved: Mapping[bytes, Shelved],
    ) -> Decision:
        entries = []
        for each in decided.replacements:
            form = conversation.messages[each.message].takes or Form.SUFFIX
            entries.append(
                Entry(
                    *keys[each.message],
                    each.text,
                    form,
                    f"shed {each.why}".strip(),
                    act=Act.REPLACE,
                    part=each.part,
                    tier=each.tier,
                )
            )
        left = {each.message for each in decided.replacements}
        if decided.cut is not None:
            left.update(range(max(conversation.head, standing.dropped.stop), decided.cut.message))
        unkept = [message for index in sorted(left) if (message := conversation.messages[index]).digest not in shelved]
        return Decision(tuple(entries), decided.cut, decided.shed, decided.why, tuple(unkept))


def _piece(
    message: Message, index: int, number: int, kind: str, tokens: int, tier: Tier, made: Overview | None
) -> Piece:
    line, overview, size = (made.line, made.text, made.text_tokens) if made else ("", "", 0)
    return Piece(index, number, kind, tokens, line, overview, size, tier, handle(message.digest, number))


def _pinned_lines(conversation: Conversation, keys: Sequence[Key], pinned: Collection[str]) -> tuple[str, ...]:
    """The texts that a person has pinned, which a new segment's note repeats word for word."""
    found = []
    named = {name.partition(".")[0] for name in pinned}
    for index in [at for at, (digest, _) in enumerate(keys) if handle(digest, 0).partition(".")[0] in named]:
        message = conversation.messages[index]
        for number, part in enumerate(message.parts):
            if isinstance(part, Text | ToolResult) and handle(message.digest, number) in pinned:
                found.append(part.text)
    return tuple(found)
