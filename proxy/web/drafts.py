"""Drafts on the page Review: they hold, were of the moment, or are put off; and the last word on one taken back."""

from __future__ import annotations

from aiohttp import web

from memory.services.person.fact_revision import ChangedSince, Decision
from proxy.api.params import id_of
from proxy.auth.web_sessions import DecidedDraft
from proxy.errors import Refusal
from proxy.web.visit import PageVisit

BACK = "review#drafts"


async def confirm(visit: PageVisit) -> web.StreamResponse:
    """It holds."""
    return _decided(visit, await _decide(visit, holds=True), "Confirmed", "it is your own word now")


async def dismiss(visit: PageVisit) -> web.StreamResponse:
    """It was of the moment."""
    return _decided(visit, await _decide(visit, holds=False), "Dismissed", "it was of the moment")


async def defer(visit: PageVisit) -> web.StreamResponse:
    """It is shown again after the next log-in, or when it is said again."""
    held = await visit.memory.commands.memory(id_of(visit.request), await visit.everything())
    visit.session.later.add(held.id)
    return _noted(visit, DecidedDraft(held.id, held.text, "Put off"), "it waits until you log in again")


async def take_back(visit: PageVisit) -> web.StreamResponse:
    """What was decided last of a draft is taken back, and it waits again.

    Raises:
        Refusal: 409, when there is nothing to take back, or it was changed meanwhile.
    """
    draft = await last(visit)
    if draft is None:
        raise Refusal(409, "there is nothing to take back: it was done or forgotten already, or before you logged in")
    if draft.decision is not None:
        try:
            await visit.memory.fact_reviser.take_back(draft.decision, await visit.everything())
        except ChangedSince as error:
            raise Refusal(409, str(error)) from error
    visit.session.later.discard(draft.id)
    visit.session.draft = None
    return visit.sent_to(BACK, f"Waits again: {draft.text[:200]}")


async def last(visit: PageVisit) -> DecidedDraft | None:
    """What was decided last, for as long as it can be taken back: what was forgotten since is held here no longer."""
    draft = visit.session.draft
    if draft is not None and not await visit.memory.journal.facts([draft.id], await visit.everything()):
        visit.session.draft = draft = None
    return draft


async def _decide(visit: PageVisit, holds: bool) -> Decision:
    return await visit.memory.fact_reviser.decide(id_of(visit.request), await visit.everything(), holds)


def _decided(visit: PageVisit, decision: Decision, word: str, why: str) -> web.Response:
    return _noted(visit, DecidedDraft(decision.fact.id, decision.fact.text, word, decision), why)


def _noted(visit: PageVisit, draft: DecidedDraft, why: str) -> web.Response:
    visit.session.draft, visit.session.decided = draft, ""
    return visit.sent_to(BACK, f"{draft.word}: {why}.")
