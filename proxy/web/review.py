"""Review: what was put forward, with its evidence and the diff of what it would write; approve, edit, reject, defer."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from memory.candidate import Candidate, CandidateState
from memory.fact import State
from memory.scope import Layer
from memory.services.approval.decisions import Approval
from proxy.api import serializers
from proxy.api.candidates import MAX_TEXT_CHARS, shared_layer
from proxy.api.params import id_of
from proxy.web.contradictions import contradictions
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

WAITING = 30
"""Candidates that are shown with their evidence; those with the most come first."""

EVIDENCE = 5
"""Memories that are shown of what bears a candidate out, in a list of candidates."""

DECIDED = 20

DRAFTS = 30
"""The newest of what was read with doubt."""


async def review(visit: PageVisit) -> web.StreamResponse:
    """What waits, what contradicts, and what was decided."""
    owners, approving = await visit.owners(), visit.memory.approvals
    every = await approving.candidates(owners)
    waiting = [each for each in every if each.state is CandidateState.WAITING]
    decided = sorted((each for each in every if each.decided_at and each not in waiting), key=_when, reverse=True)
    last = next((each for each in decided if each.id == visit.session.decided), None)
    return await show(
        visit,
        "review.html",
        "Review",
        waiting=[await _shown(visit, each) for each in waiting[:WAITING]],
        more=max(len(waiting) - WAITING, 0),
        last=last,
        decided=decided[:DECIDED],
        drafts=[
            serializers.memory(fact, visit.now)
            for fact in await visit.memory.commands.facts(owners, states=frozenset({State.DRAFT}), limit=DRAFTS)
        ],
        unsettled=[
            [serializers.memory(fact, visit.now) for fact in group]
            for group in await contradictions(visit.memory, owners)
        ],
    )


async def candidate(visit: PageVisit) -> web.StreamResponse:
    """One candidate whole."""
    held = await visit.memory.approvals.candidate(id_of(visit.request), await visit.everything())
    return await show(visit, "candidate.html", "A candidate", **(await _shown(visit, held, None)))


async def edited(visit: PageVisit) -> web.StreamResponse:
    """A form with its text, to be put in other words."""
    held = await visit.memory.approvals.candidate(id_of(visit.request), await visit.everything())
    return await show(visit, "candidate_edit.html", "In your words", held=held)


async def approval(visit: PageVisit) -> web.StreamResponse:
    """What approving it would write."""
    return await _would(visit, None)


async def approve(visit: PageVisit) -> web.StreamResponse:
    """``confirm=…``: write what was shown; without it, show what would be written, in the words of ``text``."""
    text = visit.filled("text", longest=MAX_TEXT_CHARS) or None
    confirm = visit.filled("confirm")
    if not confirm:
        return await _would(visit, text)
    done = await visit.memory.approvals.approve(
        id_of(visit.request), await visit.everything(), text=text, layer=_layer(visit), confirm=confirm
    )
    return _decided(visit, done.candidate, "Approved", done)


async def undoing(visit: PageVisit) -> web.StreamResponse:
    """What taking an approval back would write."""
    done = await visit.memory.approvals.approve(id_of(visit.request), await visit.everything(), undo=True)
    return await show(visit, "approve.html", "Take back", would=done, undo=True, text=None)


async def undo(visit: PageVisit) -> web.StreamResponse:
    """Take a decision back. An approval needs ``confirm=…``, the mark of what was shown."""
    approving, owners, id = visit.memory.approvals, await visit.everything(), id_of(visit.request)
    held = await approving.candidate(id, owners)
    if held.state is not CandidateState.APPROVED:
        held = await approving.decide(id, owners, CandidateState.WAITING)
        return _decided(visit, held, "Waits again")
    confirm = visit.filled("confirm")
    if not confirm:
        return visit.sent_to(f"review/{held.id}/undo")
    done = await approving.approve(id, owners, confirm=confirm, undo=True)
    return _decided(visit, done.candidate, "Taken back", done)


async def reject(visit: PageVisit) -> web.StreamResponse:
    """``why=…``: it comes back only when there is much more for it."""
    why = visit.filled("why")
    held = await visit.memory.approvals.decide(
        id_of(visit.request), await visit.everything(), CandidateState.REJECTED, why
    )
    return _decided(visit, held, "Rejected")


async def defer(visit: PageVisit) -> web.StreamResponse:
    """It waits again when another session bears it out."""
    held = await visit.memory.approvals.decide(id_of(visit.request), await visit.everything(), CandidateState.DEFERRED)
    return _decided(visit, held, "Deferred")


async def _would(visit: PageVisit, text: str | None) -> web.StreamResponse:
    would = await visit.memory.approvals.approve(
        id_of(visit.request), await visit.everything(), text=text, layer=_layer(visit)
    )
    return await show(visit, "approve.html", "Approve", would=would, undo=False, text=text)


def _layer(visit: PageVisit) -> Layer | None:
    value = visit.filled("to") or visit.query("to")
    return shared_layer(value) if value else None


def _decided(visit: PageVisit, held: Candidate, word: str, done: Approval | None = None) -> web.StreamResponse:
    visit.session.decided = held.id
    files = ", ".join(str(each.file) for each in done.files) if done else ""
    return visit.sent_to("review", f"{word}: {held.title[:200]}" + (f" (written: {files})" if files else ""))


async def _shown(visit: PageVisit, held: Candidate, most: int | None = EVIDENCE) -> dict[str, Any]:
    evidence = await visit.memory.approvals.evidence(held)
    return {
        "held": held,
        "evidence": [serializers.memory(fact, visit.now) for fact in evidence[:most]],
        "further": len(evidence) - len(evidence[:most]),
    }


def _when(held: Candidate) -> float:
    return held.decided_at.timestamp() if held.decided_at else 0.0
