"""Forget: first see what a query would take, then name what shall go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, TypeGuard

from aiohttp import web

from memory.context.rank import Memory
from memory.hooks.route_request import checked_text
from memory.parts import Memory as Parts
from memory.ports import Forgotten
from memory.provenance import quarantined
from memory.research import QUESTIONS, TRAILS, index_owners
from proxy.api import responses
from proxy.api.params import body_of, id_of, memory_of, owners_of
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

MOST_IDS = 1000


class WouldForget(TypedDict):
    """What would be deleted, what of the person's own words would stay, and how many exchanges are still to be learned
    from."""

    would_forget: list[responses.MemoryJson]
    would_stay: list[str]
    behind: int


class WouldForgetWith(WouldForget):
    """The memory itself comes first; ``messages`` is how many messages would lose their text."""

    messages: int


class ForgottenParts(TypedDict):
    """What went: memories by their ids, all else by its number."""

    facts: list[str]
    passages: list[str]
    messages: int
    ledger_entries: int
    receipts: int
    sessions: int


class Forgetting(TypedDict):
    """What was forgotten, the ``files`` that were changed for it, and what could not be done (``faults``). ``damaged``
    counts the messages that could not be read, ``scrubbed`` says whether the journal's file holds none of it any
    more."""

    forgotten: ForgottenParts
    files: list[str]
    faults: list[str]
    damaged: int
    scrubbed: bool
    behind: int


@dataclass(frozen=True, slots=True)
class Going:
    """What would go with a ``memory``: ``others``, and so many messages; what of the person's own words would stay; and
    how many exchanges are still to be learned from."""

    memory: Memory
    others: list[Memory]
    messages: int
    stay: list[str]
    behind: int


@routes.get("/api/facts/{id}/forget")
async def preview(request: web.Request) -> Json[WouldForgetWith]:
    """What would go if this memory were forgotten, and what would stay."""
    would, now = await going(memory_of(request), id_of(request), await owners_of(request)), datetime.now().astimezone()
    others = [responses.memory(each, now) for each in would.others]
    return answer(
        {
            "would_forget": [responses.memory(would.memory, now, by_id=True), *others],
            "would_stay": would.stay,
            "behind": would.behind,
            "messages": would.messages,
        }
    )


async def going(memory: Parts, id: str, mine: Sequence[str]) -> Going:
    """What would go with a memory of some owners, in quarantine or not."""
    behind = await memory.commands.learned()
    owners = (*mine, *quarantined(mine))
    held = await memory.commands.memory(id, owners)
    would = await memory.journal.would_forget([held.id], owners)
    every: list[Memory] = [*would.facts, *would.passages]
    others = [each for each in every if each.id != held.id]
    return Going(held, others, would.messages, await memory.commands.own_words_alike(held.text, mine), behind)


@routes.post("/api/forget")
async def forget(request: web.Request) -> Json[WouldForget | Forgetting]:
    """``{"query": …}`` lists what would be deleted and what would stay; ``{"ids": […]}`` deletes these. What the
    exchanges say that are ``behind``, which are still to be learned from, is in neither: ask again when there are
    none."""
    body = await body_of(request, {"query": str, "ids": list})
    if ("query" in body) == ("ids" in body):
        raise Refusal(422, "say either query, to see what would go, or ids, to forget these")
    ids = body.get("ids", [])
    if "ids" in body and not _are_ids(ids):
        raise Refusal(422, f"ids is a list of 1 to {MOST_IDS} ids, or beginnings of ids, of 4 to 64 characters")
    commands, mine = memory_of(request).commands, await owners_of(request, ids)
    seen = (*mine, *index_owners(mine, QUESTIONS), *index_owners(mine, TRAILS))
    owners = (*seen, *quarantined(seen))
    if "query" in body:
        query = checked_text(body["query"], "query", required=True)
        behind = await commands.learned()
        found, stay = await commands.alike(query, owners), await commands.own_words_alike(query, mine)
        now = datetime.now().astimezone()
        would = [responses.memory(held, now) for held in found]
        return answer({"would_forget": would, "would_stay": stay, "behind": behind})
    return answer(forgotten_json(await commands.forget(ids, owners)))


def _are_ids(ids: list[Any]) -> TypeGuard[list[str]]:
    return 0 < len(ids) <= MOST_IDS and all(isinstance(id, str) and 4 <= len(id) <= 64 for id in ids)


def forgotten_json(gone: Forgotten) -> Forgetting:
    """How much went, by ids and numbers: the texts are gone."""
    return {
        "forgotten": {
            "facts": [fact.id for fact in gone.facts],
            "passages": [passage.id for passage in gone.passages],
            "messages": gone.messages,
            "ledger_entries": gone.entries,
            "receipts": gone.receipts,
            "sessions": len(gone.sessions),
        },
        "files": list(gone.files),
        "faults": list(gone.faults),
        "damaged": gone.damaged,
        "scrubbed": gone.scrubbed,
        "behind": gone.behind,
    }
