"""Today: what was added to which request and why, what was learnt, what waits for a decision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from aiohttp import web

from memory.fact import Fact, Sensitivity, State
from memory.services.person.why import why as found_out
from memory.session import Receipt, Session
from proxy import explanations
from proxy.api import responses, savings
from proxy.api.facts import drafts_of
from proxy.api.responses import answer
from proxy.errors import Refusal
from proxy.web.decisions import TODAY, last
from proxy.web.plots.day import DayRequest, timeline
from proxy.web.plots.receipt import receipt
from proxy.web.rendering import part, show
from proxy.web.visit import PageVisit
from proxy.web.waiting import Waiting, contradictions, shared_owner, waiting

REQUESTS = 200
"""Requests that are looked through for those of today."""

SHOWN = 20
"""Requests, and memories, that are told."""

EACH = 3
"""Of each kind of what waits that are told by name."""


async def today(visit: PageVisit) -> web.StreamResponse:
    """The page."""
    return await show(visit, "today.html", "Today", last=await last(visit, TODAY), **await _told(visit))


async def live(visit: PageVisit) -> web.StreamResponse:
    """What of the page changes, for one that stays open."""
    return await part(visit, "live.html", **await _told(visit))


async def news(visit: PageVisit) -> web.StreamResponse:
    """The mark of what the page would tell now, for one that stays open."""
    receipts, learnt = await _newest_activity(visit)
    return answer({"mark": _change_mark(receipts, learnt, await waiting(visit))})


async def _newest_activity(visit: PageVisit) -> tuple[list[Receipt], list[Fact]]:
    """The newest requests, and what was learnt today."""
    journal, owners = visit.memory.journal, await visit.owners()
    receipts = [each for each in await journal.receipts(REQUESTS, visit.scope) if each.kind.teaches]
    return receipts, await journal.listed(owners, {State.ACTIVE}, since=_midnight(visit.now), limit=SHOWN + 1)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _change_mark(receipts: Sequence[Receipt], learnt: Sequence[Fact], waits: Waiting) -> str:
    """Changes when something came to any of them, or went."""
    ids = [*(each.id for each in receipts[:1]), *(each.id for each in learnt), waits.told]
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]


async def _told(visit: PageVisit) -> dict[str, Any]:
    memory, scope, now = visit.memory, visit.scope, visit.now
    midnight = _midnight(now)
    newest, learnt = await _newest_activity(visit)
    waits = await waiting(visit)
    recent = [each for each in newest if each.at >= midnight]
    touched = [each for each in recent if changed(each)][:SHOWN]
    sessions = await memory.journal.sessions_by_id([each.session for each in touched])
    owners = await visit.owners()
    candidates = await memory.journal.candidates_first(owners, EACH, shared_owner(scope))
    drafts, _ = await drafts_of(memory, owners, EACH)
    contradicting = await contradictions(memory, owners)
    return {
        "day": timeline(
            [
                DayRequest(each.at, each.page_tokens + each.recall_tokens, len(each.shown), each.shed is not None)
                for each in reversed(recent)
            ],
            midnight,
            now,
        )
        if recent
        else "",
        "requests": [request(each, sessions.get(each.session)) for each in touched],
        "untouched": len(recent) - sum(map(changed, recent)),
        "mark": _change_mark(newest, learnt, waits),
        "awaited": waits,
        "learnt": [responses.memory(fact, now) for fact in learnt[:SHOWN]],
        "more": len(learnt) > SHOWN,
        "since": midnight,
        "candidates": candidates,
        "drafts": [responses.memory(fact, now) for fact in drafts],
        "unsettled": [[responses.memory(fact, now) for fact in group] for group in contradicting[:EACH]],
        "asked": await memory.features.asks(owners),
        "sums": await savings.summed(memory, 1, now, scope),
    }


async def why(visit: PageVisit) -> web.StreamResponse:
    """Why the newest request of a project stands as it does, and what was left out of it."""
    memory, now = visit.memory, visit.now
    known = await found_out(memory.journal, memory.commands, visit.scope, memory.settings.recall.tokens)
    scores = {each.memory: each for each in known.receipt.shown}

    def lines(memories: Iterable[Any]) -> list[dict[str, Any]]:
        return [
            responses.memory(each, now)
            | {
                "runtime": known.runtimes.get(each.session, ""),
                "why": dict(scores[each.id].why) if each.id in scores else {},
            }
            for each in memories
        ]

    left = [each for each in known.left if each.memory.sensitivity is not Sensitivity.RESTRICTED]
    left = [each for each in left if each.fate != explanations.THERE]
    return await show(
        visit,
        "why.html",
        "Why",
        known=known,
        added=lines(known.added),
        page=lines(known.page),
        left=[line | {"fate": each.fate} for line, each in zip(lines(e.memory for e in left), left, strict=True)],
    )


async def one_request(visit: PageVisit) -> web.StreamResponse:
    """One request whole: what was added, why, what was left out, how long each step took."""
    id = visit.request.match_info["id"]
    held = await visit.memory.journal.receipt(id, visit.scope) if 4 <= len(id) <= 64 else None
    if held is None:
        raise Refusal(404, f"there is no request {id[:64]!r}, or its beginning stands for several")
    sessions = await visit.memory.journal.sessions_by_id([held.session])
    drawn = receipt([(each.text, each.score, each.why) for each in held.shown]) if held.shown else ""
    return await show(
        visit, "request.html", "One request", held=held, session=sessions.get(held.session), receipt=drawn
    )


def request(held: Receipt, session: Session | None) -> dict[str, Any]:
    """A receipt with where it belongs, for a list."""
    return {"receipt": held, "session": session, "tokens": held.page_tokens + held.recall_tokens}


def changed(held: Receipt) -> bool:
    """Whether memory added something to a request, or left something of it out."""
    return bool(held.shown or held.page_tokens or held.recall_tokens or held.shed or held.paged)
