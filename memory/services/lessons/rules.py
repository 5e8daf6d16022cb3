"""The rules by which is learned, read when something is to be learned for the first time.

They are hundreds of patterns, and Python takes a tenth of a second to read and compile them. A server that starts does
not need them, and neither does its first request: they are read behind it (see :mod:`memory.services.cache_warming`),
in a thread.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.fact import Fact, FactDraft, Origin
from memory.learning.lesson_result import Learned, Withdrawal
from memory.ports import Journaled

if TYPE_CHECKING:
    from memory.understanding.encoder import Relation

_RULES = "memory.learning.lesson"
"""What imports all the others."""

_PIECES = ("choice", "rule_extraction", "corrections")
"""Those that take longest to import, which :data:`_RULES` would do in one go."""


async def at_hand(rest: Callable[[], Awaitable[None]] | None = None) -> None:
    """Have the rules at hand, so that what asks for them from then on does not hold up the loop; with a ``rest`` after
    each few milliseconds, where nobody waits for them."""
    if not whole():
        await _imported(rest)
    # What reads whole sentences takes room, and a tenth of a second: it is loaded when the first is to be read.
    if rest is None and not _encoder_loaded():
        await asyncio.to_thread(_load_encoder)


async def _imported(rest: Callable[[], Awaitable[None]] | None) -> None:
    # Importing in a thread what is being imported already waits there until it is whole.
    # The tables come first: that the rest is there says that all is.
    await _prepare_tables(rest)
    if rest is not None:
        for piece in _PIECES:
            await asyncio.to_thread(importlib.import_module, f"memory.learning.{piece}")
            await rest()
        await asyncio.to_thread(importlib.import_module, "memory.understanding.packaged_weights")
        await rest()
    await asyncio.to_thread(importlib.import_module, _RULES)
    await asyncio.to_thread(_load)


async def _prepare_tables(rest: Callable[[], Awaitable[None]] | None) -> None:
    from memory.learning import user_claims
    from memory.learning.secrets import issued

    # Every exchange is looked at for secrets before it is kept.
    await asyncio.to_thread(issued.prepare)
    await asyncio.to_thread(user_claims.prepare)
    rules = await asyncio.to_thread(importlib.import_module, "memory.learning.rules")
    for name in rules.NAMES:
        await asyncio.to_thread(rules.prepare, name)
        if rest is not None:
            await rest()


def _load() -> None:
    from memory.understanding.packaged_weights import reader, relevance

    reader()
    relevance()


def _load_encoder() -> None:
    from memory.understanding.packaged_weights import encoder

    encoder()


def _encoder_loaded() -> bool:
    from memory.understanding.packaged_weights import encoder

    return encoder.cache_info().currsize > 0


def whole() -> bool:
    """Whether they are at hand."""
    there = sys.modules.get(_RULES)
    return there is not None and hasattr(there, "learn")


def learned(journaled: Journaled, *, assistant: bool) -> Learned:
    """What an exchange teaches (:func:`memory.learning.lesson.learn`)."""
    from memory.learning.lesson import learn

    return learn(journaled, assistant=assistant)


async def related(draft: FactDraft, neighbours: Sequence[tuple[Fact, float, float]]) -> dict[str, Relation]:
    """How a draft stands to the known facts most like it (:mod:`memory.learning.relating`): some ten milliseconds in
    numpy, so in a thread."""
    from memory.learning.relating import beside, relations
    from memory.understanding import packaged_weights

    facts = beside(draft, neighbours)
    return await asyncio.to_thread(lambda: relations(draft, facts, packaged_weights.relations)) if facts else {}


def taken_back(withdrawal: Withdrawal, known: Iterable[Fact]) -> Fact | None:
    """What of the ``known`` a person takes back (:func:`memory.learning.taking_back.taken_back`)."""
    from memory.learning.taking_back import taken_back, taken_back_of

    known = [fact for fact in known if fact.source != withdrawal.source]
    if withdrawal.topic:
        return taken_back_of(withdrawal.topic, known)
    return taken_back(withdrawal.text, known, withdrawal.before)


def drafts(text: str, origin: Origin, now: datetime) -> list[FactDraft]:
    """What a text teaches that somebody said outside any talk (:func:`memory.learning.extract.extract`)."""
    from memory.learning.extract import extract

    return [draft for draft in extract(text, origin, now) if not draft.unsure]
