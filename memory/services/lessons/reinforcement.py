"""Which of the memories that stood in a request were used in the answer to it: the worker's part of reinforcement.

What stood there is known from the session's ledger (the page, and what was recalled at each message). What counts as
used is decided in :mod:`memory.learning.usage_detection`; it is written with the exchange's lesson, so that it counts
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.conversation import newest_of
from memory.fact import Fact, Passage
from memory.learning.usage_detection import answered, used
from memory.lru import LruDict
from memory.ports import Journaled, MemoryUse
from memory.scope import Layer
from memory.session import Receipt, ShownMemory

LIGHT = 4000
"""Characters of a reply, and of memories that were shown for the first time, that are looked at without a thread."""

OPEN = 256
"""Sessions of which it is kept in mind what was recalled in a turn that is not over yet."""


class UseListener(Protocol):
    """Is told of each recalled memory whether it was used, once its turn is over or as soon as it was."""

    def __call__(self, owner: str, shown: ShownMemory, was_used: bool) -> None:
        """``owner`` is the person (layer *user*) whose request it was. Must not raise and must not block."""


def ignore_use(owner: str, shown: ShownMemory, was_used: bool) -> None:
    """Nobody wants to know."""


class ReinforcementJournal(Protocol):
    """What this needs of the journal."""

    async def given(self, session: str) -> list[tuple[bytes, tuple[str, ...]]]:
        """The memories that were added to a session's messages, by the message's digest."""

    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]:
        """Facts and passages by id, as far as they belong to these owners."""

    async def drawn_from(self, sources: Sequence[bytes], owners: Sequence[str]) -> list[Fact]:
        """The active facts of some owners that came from these messages."""

    async def receipt(self, id: str) -> Receipt | None:
        """A receipt by id."""


@dataclass(frozen=True, slots=True)
class ExchangeUses:
    """What an exchange says of the memories that stood in it; ``told`` is for whoever wants to know."""

    uses: tuple[MemoryUse, ...] = ()
    told: tuple[tuple[str, ShownMemory, bool], ...] = ()


class Reinforcer:
    """Looks what was used."""

    def __init__(self, journal: ReinforcementJournal, heard: UseListener = ignore_use) -> None:
        self._journal = journal
        self._heard = heard
        self._open: LruDict[str, tuple[ShownMemory, ...]] = LruDict(OPEN)

    async def look(self, journaled: Journaled) -> ExchangeUses:
        """What of the memories in an exchange's request was shown anew, and what was used in its reply."""
        session = journaled.session
        place = {message.digest: index for index, message in enumerate(journaled.messages)}
        given = [(key, ids) for key, ids in await self._journal.given(session.id) if key in place]
        if not given:
            return ExchangeUses()
        fresh = set(journaled.fresh)
        shown = {id for key, ids in given if place[key] in fresh for id in ids}
        ids = list(dict.fromkeys([id for _, ids in given for id in ids]))
        owners = session.scope.owners()
        found = await self._journal.memories(ids, owners)
        texts = {memory.id: memory.text for memory in found}
        # What was said stands there as a passage or as the fact that came of it: it is one memory.
        passages = {memory.source: memory.id for memory in found if isinstance(memory, Passage)}
        for fact in await self._journal.drawn_from(list(passages), owners) if passages else ():
            texts.setdefault(fact.id, fact.text)
            if passages[fact.source] in shown:
                shown.add(fact.id)
        reply = answered(journaled.reply)
        # The words of what was shown before are known; the way to a thread and back takes longer than the rest.
        if len(reply) + sum(map(len, [texts[id] for id in shown if id in texts])) > LIGHT:
            was = await asyncio.to_thread(used, texts, reply, journaled.messages)
        else:
            was = used(texts, reply, journaled.messages)
        uses = [
            MemoryUse(id, session.id, journaled.at, shown=id in shown, used=id in was)
            for id in texts
            if id in shown or id in was
        ]
        return ExchangeUses(tuple(uses), await self._use_verdicts(journaled, was))

    async def _recalled_memories(self, journaled: Journaled) -> tuple[ShownMemory, ...]:
        if journaled.recalled is not None:
            return journaled.recalled
        receipt = await self._journal.receipt(journaled.id)
        return receipt.shown if receipt is not None else ()

    def notify(self, looked: ExchangeUses) -> None:
        """Tell whoever wants to know, once it is written down."""
        for owner, shown, was_used in looked.told:
            self._heard(owner, shown, was_used)

    async def _use_verdicts(
        self, journaled: Journaled, was: frozenset[str]
    ) -> tuple[tuple[str, ShownMemory, bool], ...]:
        """What can be said of the memories that were recalled in this turn: used, or, when it is over, not."""
        session = journaled.session
        waiting = self._open.pop(session.id, ())
        if journaled.messages and journaled.messages[newest_of(journaled.messages)].spoken:
            waiting = ()  # a new turn: of what an earlier one did not come to an end with nothing is known
        if journaled.shown:
            waiting = (*waiting, *await self._recalled_memories(journaled))
        owner = session.scope.owner(Layer.USER)
        if not waiting or owner is None:
            return ()
        over = journaled.reply is not None and not journaled.reply.calls
        verdicts = tuple([(owner, each, each.memory in was) for each in waiting if over or each.memory in was])
        left = () if over else tuple([each for each in waiting if each.memory not in was])
        if left:
            self._open.put(session.id, left)
        return verdicts
