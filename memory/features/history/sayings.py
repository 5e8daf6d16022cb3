"""All that was said of a memory: by whom, when, in which session, and in which words.

Of each session in which a memory was said is known how often, and of what was learnt first from which message. The
other messages are those of the session that have most of its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.fact import Fact, Origin, Passage, Sensitivity, State
from memory.language.words import stems
from memory.ports import JournaledMessage, SaidIn
from memory.scope import Layer, Scope
from memory.services.person.id_lookup import NotFound
from memory.session import Session

MAX_PARTS = 200
"""Facts that a memory may have been put together from, or have taken in, of which the sayings are looked for."""

HELD = 0.6
"""The share of a memory's words from which on a message may be one in which it was said again."""

OWN = 2.0
"""What the message counts from which a memory was learnt: more than any other."""

RAREST = 3
"""The longest words of a memory, of which one must stand in such a message."""

OTHER = "another person"
"""Who spoke where it was not the asker."""

MAX_TEXT_CHARS = 20_000
"""Characters of one message."""

_PEOPLE = frozenset({Origin.PERSON, Origin.USER})


class SayingsJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id, as far as they belong to these owners."""

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        """Passages by id, as far as they belong to these owners."""

    async def said_in(self, memories: Sequence[str]) -> list[SaidIn]:
        """In which sessions memories were said."""

    async def passages_saying(
        self, session: str, source: bytes, words: Sequence[str], owners: Sequence[str]
    ) -> list[Passage]:
        """The passages of a session that came from a message, or in which one of some words stands."""

    async def sessions_by_id(self, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by their ids."""

    async def messages_by_digest(self, person: str, prefix: str, limit: int = 2) -> list[JournaledMessage]:
        """A person's messages whose digest (hexadecimal) begins so."""


@dataclass(frozen=True, slots=True)
class Saying:
    """One message in which a memory was said. ``memory`` is the id of the one that was said there, itself or one that
    it was put together from; ``session`` is None where the session is not the asker's own, or is not known.

    ``who`` is who spoke, ``user`` where it was the asker; ``text`` is empty where the message is not known, ``whole``
    says whether it is all of it, and ``source`` names it. ``likely`` says that it was found by its words.
    """

    memory: str
    who: str
    at: datetime
    session: Session | None
    text: str
    source: bytes = b""
    whole: bool = True
    likely: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A session in which one of a memory's parts was said so many times."""

    part: Fact | Passage
    session: str
    at: datetime
    times: int


@dataclass(frozen=True, slots=True)
class Sayings:
    """Some of a memory's sayings; there are more behind ``later``, where it is not None."""

    found: tuple[Saying, ...]
    sessions: int
    later: int | None


class MemorySayings:
    """Looks for what was said of memories."""

    def __init__(self, journal: SayingsJournal) -> None:
        self._journal = journal

    async def of(self, id: str, scope: Scope, owners: Sequence[str], passed: int, limit: int) -> Sayings:
        """What was said of a memory in ``limit`` sessions, the first ``passed`` of them passed over; from the oldest to
        the newest.

        Raises:
            NotFound: when no memory of these owners has this id.
        """
        places = await self._places(await self._memory_with_parts(id, owners))
        here = places[passed : passed + limit]
        sessions = await self._journal.sessions_by_id([place.session for place in here])
        found: dict[tuple[str, bytes | str], Saying] = {}
        for place in here:
            for each in await self._said(place, sessions.get(place.session), scope, owners):
                # What several parts were learnt from is one saying.
                found.setdefault((place.session, each.source or place.part.id), each)
        later = passed + limit if len(places) > passed + limit else None
        return Sayings(tuple(sorted(found.values(), key=lambda each: each.at)), len(places), later)

    async def _memory_with_parts(self, id: str, owners: Sequence[str]) -> list[Fact | Passage]:
        """A memory, the facts that it was put together from, and those that it took in: what said the same."""
        facts = await self._journal.facts([id], owners)
        if not facts:
            passages = await self._journal.passages([id], owners)
            if not passages:
                raise NotFound(f"there is no memory {id}")
            return [*passages]
        parts = {fact.id: fact for fact in facts}
        edge = facts
        while edge and len(parts) < MAX_PARTS:
            drawn = {each for fact in edge for each in fact.derived_from}
            before = [each for fact in edge for each in (*fact.derived_from, *fact.supersedes) if each not in parts]
            near = await self._journal.facts(before[:MAX_PARTS], owners)
            edge = [fact for fact in near if fact.id in drawn or fact.state is State.ARCHIVED]
            # What is restricted is shown to who asks for that memory itself.
            edge = [fact for fact in edge if fact.sensitivity is not Sensitivity.RESTRICTED]
            parts.update((fact.id, fact) for fact in edge)
        return [*parts.values()]

    async def _places(self, parts: Sequence[Fact | Passage]) -> list[_Place]:
        by_id = {part.id: part for part in parts}
        places: list[_Place] = []
        times: dict[str, int] = {}
        for each in await self._journal.said_in(list(by_id)):
            part = by_id[each.memory]
            if each.session == part.session:
                times[part.id] = each.times
            else:
                places.append(_Place(part, each.session, each.at, each.times))
        for part in parts:
            # What was put together of others was said in their words, not in its own, where those are still known.
            if isinstance(part, Fact) and not by_id.keys().isdisjoint(part.derived_from):
                continue
            at = part.at if isinstance(part, Passage) else part.recorded_at
            places.append(_Place(part, part.session, at, times.get(part.id, 1)))
        return sorted(places, key=lambda place: (place.at, place.session, place.part.id))

    async def _said(self, place: _Place, session: Session | None, scope: Scope, owners: Sequence[str]) -> list[Saying]:
        part = place.part
        theirs = session if session is not None and _same_person(session.scope, scope) else None
        words = sorted({each.strip(".,;:!?\"'()") for each in part.text.split()}, key=len, reverse=True)[:RAREST]
        passages = await self._journal.passages_saying(place.session, part.source, words, owners)
        messages = said_again(part, passages)[: place.times]
        closed = {each.source for each in passages if each.sensitivity is Sensitivity.RESTRICTED}
        if not messages:
            return [await self._without_passages(place, session, theirs, scope)]
        told = []
        for passage in messages:
            # What of a message is restricted is shown to who asks for that memory itself.
            is_open = passage.source not in closed or part.sensitivity is Sensitivity.RESTRICTED
            text, whole = await self._message_text(passage.source, scope) if is_open else ("", False)
            if not text:
                # The message is another person's, or is not kept any more: this piece of it is what is known.
                text, whole = passage.text, False
            likely = passage.source != part.source
            who = OTHER if passage.speaker == "user" and theirs is not session else passage.speaker
            told.append(Saying(part.id, who, passage.at, theirs, text, passage.source, whole, likely))
        return told

    async def _without_passages(
        self, place: _Place, session: Session | None, theirs: Session | None, scope: Scope
    ) -> Saying:
        """What was said in a place of whose talk nothing is kept, or that was no talk."""
        part = place.part
        person = "user" if theirs is session else OTHER
        who = person if part.origin in _PEOPLE else part.origin.value
        if place.session != part.session:
            return Saying(part.id, who, place.at, theirs, "")
        text, whole = await self._message_text(part.source, scope)
        if text:
            return Saying(part.id, who, place.at, theirs, text, part.source, whole)
        # What was written down by hand is its own words.
        return Saying(part.id, who, place.at, theirs, part.text if session is None else "")

    async def _message_text(self, source: bytes, scope: Scope) -> tuple[str, bool]:
        """A message of a person's, and whether that is all of it; empty where there is none."""
        person = scope.owner(Layer.USER)
        if not source or person is None:
            return "", True
        found = await self._journal.messages_by_digest(person, source.hex(), 1)
        if not found or found[0].forgotten:
            return "", True
        text = found[0].message.spoken or found[0].message.text
        return text[:MAX_TEXT_CHARS], len(text) <= MAX_TEXT_CHARS


def said_again(part: Fact | Passage, passages: Iterable[Passage]) -> list[Passage]:
    """One passage of each message in which a memory was said: that from which it was learnt, and behind it those that
    have most of its words."""
    wanted = frozenset(stems(part.text))
    best: dict[bytes, tuple[float, Passage]] = {}
    for passage in passages:
        own = passage.source == part.source
        if not own and part.origin in _PEOPLE and passage.speaker != "user":
            continue
        if passage.sensitivity is Sensitivity.RESTRICTED and part.sensitivity is not Sensitivity.RESTRICTED:
            continue
        share = OWN if own else len(wanted & frozenset(stems(passage.text))) / max(len(wanted), 1)
        if share >= HELD and (passage.source not in best or share > best[passage.source][0]):
            best[passage.source] = (share, passage)
    return [passage for _, passage in sorted(best.values(), key=lambda each: (-each[0], each[1].turn))]


def _same_person(one: Scope, other: Scope) -> bool:
    return (one.org, one.user) == (other.org, other.user)
