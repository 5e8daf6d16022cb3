"""Research as records: what an export writes and an import reads, the whole trail with it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import orjson

from memory.conversation import Message, Role
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_worker import ResearchWorker
from memory.learning.tombstones import tombstone_of
from memory.message_codec import pack, unpack
from memory.research import Research
from memory.scope import Layer, Scope, owned_by
from memory.services.transfer.records import InvalidRecord

RESEARCH = "research"

MOST = 10**12
"""Requests or tokens of a research; more than a store could count is no number of anything."""


class ResearchRecords:
    """Gives research out and takes it in."""

    def __init__(self, journal: ResearchJournal, researching: ResearchWorker) -> None:
        self._journal = journal
        self._researching = researching

    async def records(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        """An owner's research behind an id, in the order of the ids."""
        return [await self._record(each) for each in await self._journal.research_after(owner, after, limit)]

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        """Take one in: ``taken``, ``known`` or ``forgotten``.

        Raises:
            NoRecord: when it is none, or is not the scope's to own.
        """
        research, trail = _read(record)
        mine, person = owned_by(research.owner, scope), scope.owner(Layer.USER)
        if mine is None or person is None:
            raise InvalidRecord(f"its owner {research.owner[:80]!r} is none that you may write to")
        target, layer = mine
        owner = target.owner(layer)
        assert owner is not None, "owned_by names a layer that the scope reaches"
        known = await self._journal.research([research.id])
        if known:
            if known[0].owner != owner:
                raise InvalidRecord(f"a research of another owner has the id {research.id}")
            return "known"
        if await self._journal.is_forgotten([tombstone_of(self._journal.key(), owner, research.question)]):
            return "forgotten"
        if not dry:
            await self._journal.store_messages(person, trail)
            await self._researching.keep(replace(research, owner=owner, person=person), trail)
        return "taken"

    async def _record(self, research: Research) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(research)
        trail = await self._journal.trail(research)
        messages = [
            [message.digest.hex(), message.role.value, orjson.loads(pack(message.parts)), message.spoken]
            for message in trail
        ]
        return {"sort": RESEARCH, **fields, "messages": messages}


def _read(record: Mapping[str, Any]) -> tuple[Research, list[Message]]:
    try:
        research = msgspec.convert({name: value for name, value in record.items() if name != "messages"}, Research)
        trail = [
            Message(Role(role), unpack(orjson.dumps(parts)), bytes.fromhex(digest), spoken)
            for digest, role, parts, spoken in record.get("messages") or ()
        ]
        id = str(uuid.UUID(research.id))
    except (TypeError, ValueError) as error:
        raise InvalidRecord(str(error).replace("`$.", "`")[:300]) from None
    if any(not 0 <= count <= MOST for count in (research.requests, research.tokens, research.written)):
        raise InvalidRecord(f"requests, tokens and written are numbers from 0 to {MOST}")
    if any(not isinstance(message.spoken, str) for message in trail):
        raise InvalidRecord("what was spoken in a message is a text")
    if research.began.tzinfo is None or research.ended.tzinfo is None:
        raise InvalidRecord("began and ended are times with their zone")
    if not research.question.strip() or any(len(message.digest) != 16 for message in trail):
        raise InvalidRecord("a research has a question, and its messages digests of 16 bytes")
    there = {message.digest for message in trail}
    return replace(research, id=id, trail=tuple(each for each in research.trail if each in there)), trail
