"""Which parts of a request give way to a lower tier, so that it fits its window and keeps what is needed next.

Three escalating steps: *trim* takes what is stale, *fold* what is worth the least for its room, *rotate* begins a new
segment. Each is one batch, because whatever stands behind the first change is read anew by the provider; a part never
rises again; the same input gives the same plan.

A trim loses next to nothing: in a warm cache it is done when it pays. A fold and a rotation lose something: in a warm
cache they wait until the request would not fit. (Measured on recorded sessions: folding as soon as it pays saves 3 %
more and loses a fourth of the lines that are needed again.) A cold cache is the best moment for all three.

Steps down that are taken together, because whatever stands behind the first of them is read anew anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from memory.actions import ActionKind, Place, actions, parts_of
from memory.context.budget import Budget, Prices, gain, pays
from memory.context.continuity import NoteContents, PlacedPart, note, text_of, whole
from memory.context.entity_coverage import Excerpts, excerpts, source
from memory.context.protection import Protection, beginning, pins, protection
from memory.context.retention_value import SAID_AGAIN, Downgrade, SheddablePart, stale, steps
from memory.context.shed_plan import Replacement, SegmentCut, ShedPlan, excerpt_of, stub
from memory.conversation import Conversation, Part, Role
from memory.edits import Act, ActiveEdits, ContentTier
from memory.session import Shed


class Batch:
    """Steps that are taken together; of one piece the last holds."""

    def __init__(self, total: int) -> None:
        self.left = total
        self.removed = 0
        self.steps: dict[Place, Downgrade] = {}
        self.saved: dict[Place, int] = {}

    def take(self, ways: Iterable[Downgrade], target: int) -> None:
        """Take steps in their order until no more than the target is left. What was taken before is not again."""
        for step in ways:
            if self.left <= target:
                return
            before = self.steps.get(step.piece.place)
            if before is None or (before.tier is ContentTier.L1 and step.tier is ContentTier.L0):
                self._add(step, step.saved)

    def keep(self, other: Batch, begin: int) -> None:
        """What another took from a message on."""
        for place, step in other.steps.items():
            if place[0] >= begin:
                self._add(step, other.saved[place])

    def _add(self, step: Downgrade, saved: int) -> None:
        place = step.piece.place
        self.steps[place] = step
        self.saved[place] = self.saved.get(place, 0) + saved
        self.left -= saved
        self.removed += saved


def replacement(step: Downgrade, excerpt: str) -> Replacement:
    """What stands in the place of a piece that went this step down, with the lines of it that stay."""
    piece = step.piece
    if piece.kind == "call":
        text, tier = (piece.overview, ContentTier.L1) if step.tier is ContentTier.L1 else (piece.line, ContentTier.L0)
    else:
        tier = ContentTier.L1 if excerpt else ContentTier.L0
        text = stub(tier, piece.line, excerpt, piece.tokens, piece.handle)
    return Replacement(*piece.place, tier, text, step.why)


LIVE = 10_000
"""Tokens at the end of a request that are the live tool loop, at most; a fourth of the target where that is less."""

LINES = 14_000
LINES_SHARE = 0.6
"""Tokens that the lines of shed parts may fill, at most, and as a share of the target."""

AGE = 0.2
"""How fast a line loses worth: with this power of the thousands of tokens behind it."""

FULL = 0.97
"""How full a window is made with the lines of results that came with this very request."""

TEXTS = frozenset({"result", "text"})
"""The kinds of parts of which lines may stay."""

NOTE = 20_000
NOTE_SHARE = 0.40
"""Tokens of a continuity note, at most, and as a share of what of the window is not the head's."""


BESIDE = 0.8
"""The share of a note's room that it fills at most beside a large newest round: both are larger than they are counted
by a little."""


def plan(
    conversation: Conversation,
    pieces: Sequence[SheddablePart],
    sizes: Sequence[int],
    budget: Budget,
    standing: ActiveEdits,
    warm: bool,
    turns: float,
    prices: Prices | None = None,
    pinned: Mapping[str, str] | None = None,
    contents: NoteContents | None = None,
    must: bool = False,
) -> ShedPlan:
    """What to shed of a request, if anything.

    ``sizes`` are the messages' tokens as they stand (0 of one that was dropped), ``turns`` how many more are expected,
    ``pinned`` the texts of what stays whole, by their handles (empty of what is no text), ``contents`` what a
    continuity note says beside what the messages say. ``must``: the provider has refused the request as too long.
    """
    total = budget.fixed + sum(sizes)
    if conversation.continues:
        return ShedPlan(tokens=total, why="the server holds the history")
    if total <= budget.trim and not must:
        return ShedPlan(tokens=total)
    planner = _Planner(conversation, pieces, sizes, budget, standing, pinned or {})
    must = must or total > budget.window
    if must or (total > budget.fold and not warm):
        return planner.fold(warm, turns, prices, contents or NoteContents())
    return planner.trim(warm, turns, prices)


class _Planner:
    def __init__(
        self,
        conversation: Conversation,
        pieces: Sequence[SheddablePart],
        sizes: Sequence[int],
        budget: Budget,
        standing: ActiveEdits,
        pinned: Mapping[str, str],
    ) -> None:
        # What stays of a text is chosen when it leaves, with the whole session in view; of a call it must be JSON.
        self.pieces = [each if each.kind == "call" else each.without_overview() for each in pieces]
        self.conversation, self.sizes = conversation, sizes
        self.budget, self.standing = budget, standing
        self.beyond = 0
        self._said: dict[Place, str] = {}
        self.total = budget.fixed + sum(sizes)
        self.parts = parts_of(conversation)
        self.done = actions(conversation, self.parts)
        self.live = min(LIVE, budget.target // 4)
        self.guard = protection(conversation, self.done, sizes, self.live)
        self.pinned = pins(conversation, standing, pinned)
        self.pins = frozenset(piece.place for piece in pieces if piece.handle in pinned)
        self.old = stale(self.parts, self.done)
        reports = {action.result for action in self.done if action.kind is ActionKind.DELEGATE}
        self.steps = steps(conversation, self.pieces, sizes, self.old, reports)
        self.by_place = {piece.place: piece for piece in self.pieces}
        self.old_again = {place for place, why in self.old.items() if why in SAID_AGAIN}
        self.room = min(LINES, int(LINES_SHARE * budget.target))

    def trim(self, warm: bool, turns: float, prices: Prices | None) -> ShedPlan:
        """Take what is stale, when that is free or pays."""
        batch = Batch(self.total)
        usual = [step for step in self._open(self.guard) if step.piece.place in self.old]
        if warm:
            usual = [step for step in usual if step.why in SAID_AGAIN]
        batch.take(usual, self.budget.target)
        first = min((place[0] for place in batch.steps), default=0)
        rewritten = sum(self.sizes[first:]) - batch.removed
        if not batch.steps or (warm and not pays(batch.removed, rewritten, turns, prices)):
            return ShedPlan(tokens=self.total)
        return self._plan("trim", batch, None, warm, turns, prices)

    def fold(self, warm: bool, turns: float, prices: Prices | None, contents: NoteContents) -> ShedPlan:
        """Down to the lines that are needed most; where that is not enough, a new segment; where that is not, all that
        may go."""
        self.beyond = contents.beyond
        batch = Batch(self.total)
        usual = self._open(self.guard)
        batch.take(self._gentle(usual), self.budget.target - max(self.room - self._excerpt_tokens(), 0))
        cut = None
        if batch.left > self.budget.trim:
            cut, batch = self._rotated(batch, contents)
        if batch.left > self.budget.rotate:
            behind = [step for step in usual if cut is None or step.piece.message >= cut.message]
            batch.take((step for step in behind if not self._by_people(step)), self.budget.fold)
        if batch.left > self.budget.window:
            self._last_resort(batch, cut)
        return self._plan("fold" if cut is None else "rotate", batch, cut, warm, turns, prices)

    def _excerpt_tokens(self) -> int:
        """Tokens of the lines that stay of what was shed before."""
        return sum(len(text) for text in self._older(0).values()) // 4

    def _older(self, begin: int) -> dict[Place, str]:
        """What stays of the parts that were shed before, from a message on."""
        pieces = self.by_place
        return {
            place: excerpt_of(entry.text)
            for place, entry in self.standing.replaced.items()
            if place[0] >= begin and place in pieces and pieces[place].kind in TEXTS and entry.tier is ContentTier.L1
        }

    def _excerpts(self, batch: Batch, cut: SegmentCut | None) -> Excerpts:
        """The lines that stay of what leaves now, and of older parts that give some up for them."""
        begin = cut.message if cut is not None else 0
        new = {
            place: step
            for place, step in batch.steps.items()
            if step.piece.kind in TEXTS and place not in self.old_again
        }
        old = {place: text for place, text in self._older(begin).items() if place not in batch.steps}
        behind = [*accumulate(reversed(self.sizes), initial=0)][::-1]
        sources = []
        for index, message in enumerate(self.conversation.messages):
            if index in self.standing.dropped or self.guard.head <= index < begin:
                continue
            spoken = message.role in (Role.ASSISTANT, Role.USER)
            weight = (1 + behind[index] / 1000) ** -AGE
            for number, part in enumerate(message.parts):
                place = index, number
                if place in old:
                    sources.append(source((place, old[place], True, spoken, weight)))
                elif (text := self._part_text(place, part)) is not None:
                    sources.append(source((place, text, place in new, spoken, weight)))
        room = min(self.room, max(self.budget.rotate - batch.left, 0) + self._excerpt_tokens())
        removed = sum(step.piece.tokens for step in new.values())
        # Of what nobody has read yet as much stays as fits.
        unread = any(place[0] >= self.guard.newest for place in new)
        more = max(int(FULL * self.budget.window) - batch.left - room, 0) if unread else 0
        return excerpts(sources, new, old, removed, room, more)

    def _part_text(self, place: Place, part: Part) -> str | None:
        """What a part says; of one that was shed before, what stands there."""
        entry = self.standing.replaced.get(place)
        if entry is not None:
            return entry.text
        known = self._said.get(place)
        return text_of(part) if known is None else known

    def _last_resort(self, batch: Batch, cut: SegmentCut | None) -> None:
        """It would not fit: the live loop gives way, then what people said, then the newest results, and only then the
        very last of them."""
        begin = cut.message if cut is not None else 0
        loop, newest = (
            [step for step in self._open(replace(self.guard, tail=tail)) if step.piece.message >= begin]
            for tail in (self.guard.newest, len(self.sizes))
        )
        results = [step for step in newest if step.piece.kind == "result"]
        last = max((step.piece.place for step in results), default=None)
        for ways in (
            (step for step in loop if not self._by_people(step)),
            loop,
            (step for step in results if step.piece.place != last),
            results,
        ):
            batch.take(ways, self.budget.window)

    def _open(self, guard: Protection) -> list[Downgrade]:
        begin = max(guard.head, self.standing.dropped.stop)
        stays = guard.parts | self.pins
        return [
            step
            for step in self.steps
            if begin <= step.piece.message < guard.tail and (not stays or step.piece.place not in stays)
        ]

    def _gentle(self, usual: Sequence[Downgrade]) -> list[Downgrade]:
        """The first step down of each piece that is whole, and the second of what stands again elsewhere."""
        shortened = {step.piece.place for step in usual if step.tier is ContentTier.L1}
        return [
            step
            for step in usual
            if not self._by_people(step)
            and (
                step.tier is ContentTier.L1
                or step.why in SAID_AGAIN
                or (step.piece.tier is ContentTier.L2 and step.piece.place not in shortened)
            )
        ]

    def _by_people(self, step: Downgrade) -> bool:
        return step.piece.kind != "result" and step.piece.message in self.guard.human

    def _rotated(self, folded: Batch, contents: NoteContents) -> tuple[SegmentCut | None, Batch]:
        """A cut with its note, and what of a batch is behind it; the batch as it was where no cut helps."""
        head, left_before = self.guard.head, max(self.standing.dropped.stop, self.guard.head)
        sizes = list(self.sizes)
        for (message, _), each in folded.saved.items():
            sizes[message] -= each
        earlier = next((entry.text for _, entry in self.standing.entries if entry.act is Act.CUT), "")
        room = self.budget.window - self.budget.fixed - sum(sizes[:head]) + len(earlier) // 4
        # A note must not take the place of what came last.
        most = max(min(NOTE, int(room * NOTE_SHARE), int((room - sum(sizes[self.guard.newest :])) * BESIDE)), 0)
        tail = max(room - (self.budget.window - self.budget.target) - most, self.live)
        at = beginning(self.conversation, sizes, tail, self.guard.newest, self.parts)
        if not head or at is None or at <= left_before:
            return None, folded
        stays = self._texts_of_parts(range(at, len(sizes)))
        seen, complete = whole(self.conversation, range(head, at))
        # What is pinned and stays is not said twice: a note must not take the place of what came last.
        contents = replace(contents, pinned=(*contents.pinned, *self.pinned.leaving(at)))
        known = "" if complete and not contents.beyond else earlier
        self._said = {place: text for place, _, text in stays}
        text = note(self.conversation, self.done, at, seen, stays, known, contents, most)
        batch = Batch(self.total - sum(self.sizes[left_before:at]) + len(text) // 4 - len(earlier) // 4 + 1)
        batch.keep(folded, at)
        return SegmentCut(at, text), batch

    def _texts_of_parts(self, messages: Iterable[int]) -> list[PlacedPart]:
        return [
            ((index, number), part, text)
            for index in messages
            for number, part in enumerate(self.conversation.messages[index].parts)
            if (text := self._part_text((index, number), part)) is not None
        ]

    def _with_fewer_lines(self, place: Place, excerpt: str) -> Replacement:
        piece = self.by_place[place]
        tier = ContentTier.L1 if excerpt else ContentTier.L0
        text = stub(tier, piece.line, excerpt, piece.tokens, piece.handle)
        return Replacement(*place, tier, text, "room for newer lines")

    def _shed_summary(self, each: Replacement) -> str:
        """What was shed, in a line for a person."""
        piece = self.by_place[each.message, each.part]
        detail = f": {piece.line}" if piece.line and piece.kind != "call" else ""
        return f"{piece.handle} {piece.kind} of {piece.tokens:,} tokens to {each.tier}, {each.why}{detail}"

    def _plan(
        self, step: str, batch: Batch, cut: SegmentCut | None, warm: bool, turns: float, prices: Prices | None
    ) -> ShedPlan:
        chosen = self._excerpts(batch, cut)
        stays = sum(len(text) for text in chosen.new.values()) // 4
        given_up = sum(len(excerpt_of(self.standing.replaced[place].text)) for place in chosen.fewer)
        tokens = batch.left + stays - (given_up - sum(len(text) for text in chosen.fewer.values())) // 4
        warning = ""
        if tokens > self.budget.window:
            warning = f"what must stay is larger than the window: {tokens} of {self.budget.window} tokens"
        if not batch.steps and cut is None:
            return ShedPlan(tokens=tokens, why=warning)
        first = min((place[0] for place in batch.steps), default=len(self.sizes))
        first = first if cut is None else min(first, self.guard.head - 1)
        removed = self.total - tokens
        rewritten = max(tokens - self.budget.fixed - sum(self.sizes[:first]), 0)
        expected = gain(removed, rewritten, turns, prices, warm) if prices else None
        by_place = {place: replacement(taken, chosen.new.get(place, "")) for place, taken in batch.steps.items()} | {
            place: self._with_fewer_lines(place, text) for place, text in chosen.fewer.items()
        }
        replacements = tuple(by_place[place] for place in sorted(by_place))
        lines = tuple(self._shed_summary(each) for each in replacements)
        if cut is not None:
            lines = (f"a new segment from message {cut.message + self.beyond} on", *lines)
        why = f"{self.total} of {self.budget.window} tokens, the cache is {'warm' if warm else 'cold'}"
        return ShedPlan(replacements, cut, Shed(step, why, removed, rewritten, warm, expected, lines), tokens, warning)
