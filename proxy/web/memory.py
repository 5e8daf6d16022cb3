"""One memory: what was said, its history, its strength, where it was used; and what a person may do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from memory.context.rank import Memory
from memory.fact import Fact, State
from memory.hooks.command import count
from memory.provenance import QUARANTINE, quarantined
from memory.scope import Layer
from memory.services.person.fact_revision import Superseded
from proxy import explanations
from proxy.api import responses
from proxy.api.forget import going as would_go
from proxy.api.log import USES, uses_of
from proxy.api.params import id_of
from proxy.web.decisions import last
from proxy.web.memories import passed_over
from proxy.web.plots.strength import strength
from proxy.web.rendering import show
from proxy.web.today import request
from proxy.web.visit import PageVisit

SAYINGS = 20
"""Sessions whose sayings stand on one page."""

POINTS = 120
"""Strengths that are drawn."""


async def memory(visit: PageVisit) -> web.StreamResponse:
    """The page of one."""
    held, owners = await _held(visit)
    if held.owner.startswith(QUARANTINE):
        return visit.sent_to(f"quarantine?{urlencode({'session': held.session})}#{held.id}")
    journal, now = visit.memory.journal, visit.now
    sessions = await journal.sessions_by_id([held.session])
    session = sessions.get(held.session)
    passed = passed_over(visit.query("from"))
    said = await visit.ask(
        "GET", "facts/{id}/sayings", query={"from": str(passed)}, limit=SAYINGS, everything=True, id=held.id
    )
    shown = responses.memory(held, now, by_id=True)
    receipts, begun = await uses_of(visit.memory, held.id, visit.scope, USES)
    used = await journal.sessions_by_id([each.session for each in receipts])
    return await show(
        visit,
        "memory.html",
        "One memory",
        held=shown,
        layers=_higher_layers(held, visit.scope.org),
        source=explanations.source(shown | {"runtime": session.runtime if session else ""}, None, now),
        session=session,
        said=said,
        last=await last(visit, f"memory/{held.id}"),
        earlier=max(passed - SAYINGS, 0) if passed else None,
        receipts=[request(each, used.get(each.session)) for each in receipts],
        begun=begun,
        **(await _history_of_fact(visit, held, owners)),
    )


async def edit(visit: PageVisit) -> web.StreamResponse:
    """What holds now in a fact's place."""
    text, owners = visit.filled("text", required=True), await visit.everything()
    try:
        held = await visit.memory.fact_reviser.update(id_of(visit.request), text, owners)
    except Superseded as error:
        if not error.by:
            raise
        # Changed meanwhile, on another page say: what was typed is not lost, and stands beside what holds now.
        later = responses.memory(await visit.memory.commands.memory(error.by[-1], owners), visit.now, by_id=True)
        return await show(
            visit, "wrong.html", "It was changed meanwhile", 409, held=later, said=text, sentence=str(error)
        )
    return visit.sent_to(
        f"memory/{held.id}", "Set right. This holds from now on; what it was before is in its history."
    )


async def pin(visit: PageVisit) -> web.StreamResponse:
    """``pinned=yes``: it never fades; else it may again."""
    pinned = visit.filled("pinned") == "yes"
    held = await visit.memory.commands.pin(id_of(visit.request), await visit.everything(), pinned)
    return visit.sent_to(f"memory/{held.id}", "Pinned: it does not fade." if pinned else "It may fade again.")


async def promote(visit: PageVisit) -> web.StreamResponse:
    """``to=user``: it holds in all projects; ``project`` or ``org``: it is put forward for all who are there."""
    to = visit.filled("to")
    id = visit.request.match_info["id"]
    risen = await visit.ask("POST", "facts/{id}/promote", body={"to": to}, everything=True, id=id)
    if "fact" in risen:
        return visit.sent_to(f"memory/{risen['fact']['id']}", "It holds in all your projects now.")
    candidate = risen["candidate"]
    act = "approve" if visit.access.asker.approves(candidate["owner"], Layer(to)) else "submit"
    return visit.sent_to(f"review/{candidate['id']}/{act}?to={to}")


async def wrong(visit: PageVisit) -> web.StreamResponse:
    """Something is wrong with it: say what holds instead, or have it forgotten."""
    held, _ = await _held(visit)
    return await show(
        visit,
        "wrong.html",
        "What is wrong?",
        held=responses.memory(held, visit.now, by_id=True),
        said="",
        sentence="",
    )


async def going(visit: PageVisit) -> web.StreamResponse:
    """What would go, before it is forgotten."""
    mine = await visit.everything()
    would = await would_go(visit.memory, id_of(visit.request), mine)
    return await show(
        visit,
        "forget.html",
        "Forget",
        held=responses.memory(would.memory, visit.now, by_id=True),
        others=[responses.memory(each, visit.now) for each in would.others],
        messages=would.messages,
        behind=would.behind,
        stay=would.stay,
    )


async def forget(visit: PageVisit) -> web.StreamResponse:
    """Forget it, everywhere."""
    gone = await visit.memory.commands.forget([id_of(visit.request)], await visit.everything())
    number = len(gone.facts) + len(gone.passages)
    notice = "Forgotten, everywhere." if number == 1 else f"Forgotten, everywhere: {number} memories."
    if gone.behind:
        left = f"{count(gone.behind, 'exchange')} still to be learned from"
        notice += f" {left}: what is said of it there is remembered yet. Search for it again in a while."
    return visit.sent_to("memory", " ".join([notice, *gone.faults]))


async def _held(visit: PageVisit) -> tuple[Memory, Sequence[str]]:
    owners = await visit.everything()
    return await visit.memory.commands.memory(id_of(visit.request), (*owners, *quarantined(owners))), owners


def _higher_layers(held: Memory, org: str | None) -> list[Layer]:
    if not isinstance(held, Fact) or held.state is not State.ACTIVE:
        return []
    return [each for each in list(Layer)[list(Layer).index(held.layer) + 1 :] if org or each is not Layer.ORG]


async def _history_of_fact(visit: PageVisit, held: Memory, owners: Sequence[str]) -> dict[str, Any]:
    """A fact's chain, its curve and those that it has to do with; a passage has none of these."""
    if not isinstance(held, Fact):
        return {"chain": [], "curve": None, "drawn_from": [], "against": []}
    journal = visit.memory.journal
    history = await visit.ask("GET", "facts/{id}/history", limit=POINTS, everything=True, id=held.id)
    curve = await visit.ask("GET", "facts/{id}/curve", limit=POINTS, everything=True, id=held.id)
    return {
        "chain": history["history"],
        "curve": strength(curve["times"], curve["strengths"], curve["uses"], visit.now),
        "drawn_from": [responses.memory(each, visit.now) for each in await journal.facts(held.derived_from, owners)],
        "against": [responses.memory(each, visit.now) for each in await journal.facts(held.contradicts, owners)],
    }
