"""What is in quarantine, session by session: imported, or put there by somebody. Nothing of it is used before it is
released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from memory.fact import Fact, Passage
from memory.hooks.command import count
from memory.provenance import QuarantinedSession, SelectedMemories, Selection
from memory.scope import Scope
from memory.session import Session
from proxy.api import responses
from proxy.api.forget import MOST_IDS
from proxy.api.provenance import released
from proxy.errors import Refusal
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

SESSIONS = 10
"""Sessions that are told, those with most facts."""

SHOWN = 5
"""Of each the memories that are shown beside others."""

WHOLE = 200
"""Memories that are shown of one."""

BACK = "review#quarantine"


async def in_quarantine(visit: PageVisit) -> list[dict[str, Any]]:
    """The sessions of which facts are in quarantine, each with the first of that."""
    owners, journal = await visit.owners(), visit.memory.journal
    held = await journal.quarantined_sessions(owners, SESSIONS)
    sessions = await journal.sessions_by_id([each.session for each in held])
    return [
        _told(visit, each, await _first_memories(visit, each, owners), sessions.get(each.session), SHOWN)
        for each in held
    ]


async def _first_memories(
    visit: PageVisit, held: QuarantinedSession, owners: Sequence[str]
) -> Sequence[Fact | Passage]:
    """Some of a session's memories: of very many not all are read for that."""
    if held.facts >= SHOWN:
        return await visit.memory.journal.quarantined_facts(owners, held.session, SHOWN)
    return (await _chosen(visit, held.session)).memories


async def one_session(visit: PageVisit) -> web.StreamResponse:
    """``?session=…``: what of it is in quarantine, to be released or discarded."""
    id = visit.request.query.get("session", "")[:200]
    chosen = await _chosen(visit, id)
    if not chosen.ids:
        raise Refusal(404, f"nothing of the session {id[:64]!r} is in quarantine")
    sessions = await visit.memory.journal.sessions_by_id([id])
    facts = sum(isinstance(each, Fact) for each in chosen.memories)
    held = QuarantinedSession(id, facts, len(chosen.memories) - facts)
    return await show(
        visit, "quarantine.html", "In quarantine", each=_told(visit, held, chosen.memories, sessions.get(id), WHOLE)
    )


async def release(visit: PageVisit) -> web.StreamResponse:
    """``session=…``: it is used from now on."""
    scope = Scope(visit.scope.org, visit.scope.user)
    session = _of(visit.form.get("session", ""))
    done = await released(visit.memory.quarantine, session, scope, visit.access.asker)
    return visit.sent_to(BACK, f"Released: {count(len(done.ids), 'memory')}.")


async def discard(visit: PageVisit) -> web.StreamResponse:
    """``session=…``: it is forgotten, everywhere."""
    ids = (await _chosen(visit, visit.form.get("session", ""))).ids
    gone: set[str] = set()
    while left := [id for id in ids if id not in gone][:MOST_IDS]:
        taken = await visit.memory.commands.forget(left, await visit.everything())
        gone |= {*left, *taken.ids}
    return visit.sent_to(BACK, f"Forgotten, everywhere: {count(len(gone), 'memory')}.")


def _of(session: str) -> Selection:
    return Selection(sessions=frozenset({session}))


async def _chosen(visit: PageVisit, session: str) -> SelectedMemories:
    return await visit.memory.quarantine.chosen(_of(session), await visit.everything(), held=True)


def _told(
    visit: PageVisit,
    held: QuarantinedSession,
    memories: Sequence[Fact | Passage],
    session: Session | None,
    most: int,
) -> dict[str, Any]:
    """Facts come first: talk is what they were learnt from."""
    shown = sorted(memories, key=lambda each: not isinstance(each, Fact))[:most]
    return {
        "id": held.session,
        "session": session,
        "facts": held.facts,
        "passages": held.passages,
        "memories": [responses.memory(each, visit.now) for each in shown],
        "further": max(held.facts + held.passages - len(shown), 0),
    }
