"""What a person has changed on the page, taken back into memory: as their own word, which counts most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Protocol

import orjson

from memory.context.page import page_text
from memory.context.page_diff import PageDiff, statement_of_line
from memory.fact import Fact, Origin, Sensitivity, Stability, State, Stream
from memory.learning.outcome import ended
from memory.learning.redact import redact
from memory.learning.tombstones import tombstone_of
from memory.member import Asker
from memory.policy import Policies
from memory.ports import Guard, Journal
from memory.scope import Layer, Scope
from memory.services.lessons import rules
from memory.services.lessons.indexing import lesson_of
from memory.services.manual_facts import followed, in_own_words, met, the_same

OFF = "page-off:"
"""Under this name and an owner's are the keyed hashes of what a person has deleted from the page."""
COMPARED_SECONDS = 2.0
"""How long what is known is looked up for one edit; what is written then stands beside it until a night."""
AMONG = 24
"""New lines of the same edit that one is compared with, the last ones: each is embedded for it."""
REMEMBERED = 2000
"""So many of them, the newest."""


@dataclass(slots=True)
class AppliedEdits:
    """What came of the edits of some files: facts to write, lines that are kept as text, and what to tell the person,
    each with file and line. ``read`` are the known ones among the facts as they were."""

    facts: dict[str, Fact] = field(default_factory=dict)
    read: dict[str, Fact] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    off: list[Fact] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether nothing was changed."""
        return not (self.facts or self.kept or self.faults)

    def change(self, fact: Fact, changed: Fact) -> None:
        """Note what becomes of a fact that is known."""
        self.read.setdefault(fact.id, fact)
        self.facts[fact.id] = changed


class EditRefused(Exception):
    """Edits change what others maintain, and none of them was taken; the message says which."""


class SimilarFacts(Protocol):
    """Known facts of an owner that are like a text, each with cosine and coverage, and of these more those that are its
    owner's."""

    async def __call__(self, owner: str, text: str, more: Iterable[Fact] = (), /) -> list[tuple[Fact, float, float]]:
        """As :class:`memory.services.similar_facts.SimilarFactSearch`."""


class PageEditor:
    """Takes edits back. What a line means for what is known is decided as for everything that a person
    says outside any session (:func:`memory.services.manual_facts.met`). While ``resting`` is held nobody else writes
    facts."""

    def __init__(
        self,
        journal: Journal,
        near: SimilarFacts,
        guard: Guard,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
        device: str,
        resting: Callable[[], AbstractAsyncContextManager[None]],
        policies: Policies | None = None,
    ) -> None:
        self._journal = journal
        self._near = near
        self._guard = guard
        self._new_id = new_id
        self._now = now
        self._device = device
        self._resting = resting
        self._policies = policies or Policies({})

    async def read(self, scope: Scope, stream: Stream, file: str, changes: PageDiff, taken: AppliedEdits) -> None:
        """Note on ``taken`` what the edits of one file come to."""
        owners = scope.owners()
        if changes.accident:
            taken.faults.append(
                f"{file}: {changes.accident}; nothing of it was taken, it is made anew, and what it said "
                f"is kept in {file}.kept"
            )
            return
        for odd in changes.odd:
            taken.kept.append(redact(odd.text).text)
            taken.faults.append(f"{file}:{odd.number}: {odd.why}; it is kept as text in MEMORY.md")
        names = [*changes.gone, *(id for id, _ in changes.changed)]
        known = {fact.id: fact for fact in await self._journal.facts(names, owners)}
        for id in changes.gone:
            if (fact := known.get(id)) is not None and fact.state is State.ACTIVE:
                taken.change(fact, replace(fact, state=State.ARCHIVED, pinned=False))
                taken.off.append(fact)
        for id, line in changes.changed:
            text = _statement_of_line(line.text)
            old = known.get(id)
            if old is None or old.state is not State.ACTIVE:
                await self._add(scope, stream, text, file, line.number, taken)
            elif text and text.casefold() not in (old.text.casefold(), page_text(old).casefold()):
                await rules.at_hand()
                new = in_own_words(text, old.owner, old.layer, self._new_id(), self._now(), kind=old.kind)
                taken.change(old, ended(old, self._now()))
                await self._written(followed(old, new), file, line.number, taken)
        for line in changes.added:
            await self._add(scope, stream, _statement_of_line(line.text), file, line.number, taken)

    async def check(self, scope: Scope, file: str, changes: PageDiff, asker: Asker) -> None:
        """Look whether an asker may make all the edits of a file.

        Raises:
            EditRefused: when they may not: nothing of the file is to be taken then.
        """
        if changes.accident:
            return
        names = [*changes.gone, *(id for id, _ in changes.changed)]
        known = {fact.id: fact for fact in await self._journal.facts(names, scope.owners())}
        standing = {id: fact for id, fact in known.items() if fact.state is State.ACTIVE}
        touched = list(standing.values())
        new = [*changes.added, *(line for id, line in changes.changed if id not in standing)]
        for text in map(_statement_of_line, (line.text for line in new)):
            # It would become the person's own word.
            touched += [same] if (same := await self._same_fact(scope, text)) is not None else []
        if kept := list(dict.fromkeys(each.text for each in touched if not asker.changes(each.owner))):
            told = "; ".join(f'"{text}"' for text in kept)
            raise EditRefused(
                f"{file}: nothing was written: {told} is shared with others, and only their maintainers change that; "
                "leave such lines as they are, and add none that says the same"
            )

    async def write(self, taken: AppliedEdits) -> None:
        """Write down what was noted, in one transaction. Nothing is learned, forgotten or pinned between the reading of
        what is known and the writing."""
        if not taken.facts:
            return
        async with self._resting():
            await self._write(taken)

    async def _write(self, taken: AppliedEdits) -> None:
        known = frozenset(taken.facts) - taken.new
        # What became of a fact while the edits were compared stays so, first of all that it was forgotten.
        there = {fact.id: fact for fact in await self._journal.facts(list(known))} if known else dict[str, Fact]()
        facts = [
            fact if id in taken.new else _with_edit(there[id], taken.read[id], fact)
            for id, fact in taken.facts.items()
            if id in taken.new or id in there
        ]
        if facts:
            await self._journal.learn(lesson_of(0, facts, (), known))
        for owner in dict.fromkeys(fact.owner for fact in taken.off):
            hashes = [self._hash(fact) for fact in taken.off if fact.owner == owner]
            held = [hash for hash in await self._hashes(owner) if hash not in hashes]
            await self._journal.set_meta(OFF + owner, orjson.dumps([*held, *hashes][-REMEMBERED:]))

    async def on_page(self, facts: Sequence[Fact]) -> list[Fact]:
        """Those of some facts that may stand on this machine's page: not what was deleted from it, unless the person
        has written it themselves since, and of the ways of working those of this machine."""
        off: set[str] = set()
        for owner in dict.fromkeys(fact.owner for fact in facts):
            off.update(await self._hashes(owner))
        return [
            fact
            for fact in facts
            if (fact.origin is Origin.PERSON or not off or self._hash(fact) not in off) and self._is_here(fact)
        ]

    def _is_here(self, fact: Fact) -> bool:
        return fact.stream is not Stream.FLOW or fact.device in ("", self._device)

    async def _add(self, scope: Scope, stream: Stream, text: str, file: str, number: int, taken: AppliedEdits) -> None:
        layer = Layer.USER if stream is Stream.IDENTITY else Layer.USER_PROJECT
        owner = scope.owner(layer) or scope.owner(Layer.USER)
        if owner is None or not text:
            return
        same = await self._same_fact(scope, text)
        # A line that was moved from another stream's file was just taken off there.
        same = same or next((each for each in taken.off if page_text(each).casefold() == text.casefold()), None)
        if same is not None:
            taken.off = [each for each in taken.off if each.id != same.id]
            vouched = replace(same, origin=Origin.PERSON, stability=Stability.VERIFIED, confidence=1.0, stream=stream)
            taken.change(same, vouched)
            return
        await rules.at_hand()
        fact = in_own_words(text, owner, layer, self._new_id(), self._now())
        await self._written(replace(fact, stream=stream), file, number, taken)

    async def _same_fact(self, scope: Scope, text: str) -> Fact | None:
        return the_same(text, await self._journal.find_facts(scope.owners(), text, 20)) if text else None

    async def _written(self, fact: Fact, file: str, number: int, taken: AppliedEdits) -> None:
        if why := self._policies.of_owner(fact.owner).forbids(fact.sensitivity, fact.category):
            taken.faults.append(f"{file}:{number}: it is not remembered: {why}")
            return
        new = [taken.facts[id] for id in taken.facts if id in taken.new][-AMONG:]
        comparing = self._near(fact.owner, fact.text, new)
        near, _ = await self._guard(
            comparing, default=[], timeout_seconds=COMPARED_SECONDS, operation="comparing an edit"
        )
        # As the edits before this one leave them.
        neighbours = [(taken.facts.get(each.id, each), cosine, lexical) for each, cosine, lexical in near]
        read = {each.id: each for each, _, _ in near if each.id not in taken.new}
        for each in met(replace(fact, device=self._device), neighbours, self._now()):
            if each.id in read:
                taken.change(read[each.id], each)
            else:
                taken.facts[each.id] = each
        taken.new.add(fact.id)
        if fact.sensitivity is Sensitivity.RESTRICTED:
            taken.faults.append(
                f"{file}:{number}: it is remembered as {fact.id[:8]} and does not stand on the page: what is so "
                "private is only given by its id"
            )

    async def _hashes(self, owner: str) -> list[str]:
        stored = await self._journal.meta(OFF + owner)
        return list(orjson.loads(stored)) if stored else []

    def _hash(self, fact: Fact) -> str:
        return tombstone_of(self._journal.key(), fact.owner, fact.text).hex()


def _with_edit(fact: Fact, read: Fact, changed: Fact) -> Fact:
    """A fact as it is, with what an edit has changed in it as it was read."""
    changes = {
        each.name: value for each in fields(Fact) if (value := getattr(changed, each.name)) != getattr(read, each.name)
    }
    return replace(fact, **changes)


def _statement_of_line(line: str) -> str:
    return " ".join(redact(statement_of_line(line)).text.split())
