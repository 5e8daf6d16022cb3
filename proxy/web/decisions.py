"""What a person decides about one fact: a draft holds, was of the moment or is put off; of two that contradict each
other this one holds; this is wrong, or was learnt by mistake. The last word can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web

from memory.fact import Fact, State
from memory.services.person.commands import NotFound
from proxy.api import responses
from proxy.api.params import id_of
from proxy.auth.web_sessions import DecidedFact
from proxy.errors import Refusal
from proxy.web.visit import PageVisit

REVIEW = "review"
DRAFTS = f"{REVIEW}#drafts"
CONTRADICTIONS = f"{REVIEW}#contradictions"
TODAY = ""


async def confirm_draft(visit: PageVisit) -> web.StreamResponse:
    """It holds."""
    return await _decided(visit, visit.memory.fact_reviser.confirm, "Confirmed", "it is your own word now", DRAFTS)


async def dismiss(visit: PageVisit) -> web.StreamResponse:
    """It was of the moment."""
    return await _decided(visit, visit.memory.fact_reviser.dismiss, "Dismissed", "it was of the moment", DRAFTS)


async def defer(visit: PageVisit) -> web.StreamResponse:
    """It is shown again tomorrow, or when it is said again."""
    return await _decided(visit, visit.memory.fact_reviser.defer, "Put off", "it is asked about again in a day", DRAFTS)


async def confirm(visit: PageVisit) -> web.StreamResponse:
    """It still holds; ``back=review``: against what contradicts it."""
    page = CONTRADICTIONS if visit.filled("back") == "review" else await _memory_page(visit)
    return await _decided(visit, visit.memory.fact_reviser.confirm, "Confirmed", "it is your own word now", page)


async def refute(visit: PageVisit) -> web.StreamResponse:
    """It is wrong, and nothing takes its place."""
    page = await _memory_page(visit)
    return await _decided(visit, visit.memory.fact_reviser.refute, "Wrong", "it holds no more", page)


async def unlearn(visit: PageVisit) -> web.StreamResponse:
    """It was learnt by mistake."""
    why = "it is not remembered, and what it had ended holds again"
    return await _decided(visit, visit.memory.fact_reviser.unlearn, "Undone", why, TODAY)


async def take_back(visit: PageVisit) -> web.StreamResponse:
    """``fact=…``: what was decided last of the fact of this id is taken back.

    Raises:
        Refusal: 409, when it was forgotten.
        ChangedSince: when there is nothing to take back, or it was changed meanwhile.
    """
    last = visit.session.fact
    try:
        fact = await visit.memory.fact_reviser.take_back(visit.filled("fact", required=True), await visit.everything())
    except NotFound:
        raise Refusal(409, "there is nothing to take back: it was forgotten") from None
    page = REVIEW
    if last is not None and last.id == fact.id:
        page, visit.session.fact = last.page, None
    word = "Waits again" if fact.state is State.DRAFT else "As it was"
    return visit.sent_to(page, f"{word}: {responses.memory(fact, visit.now)['text'][:200]}")


async def last(visit: PageVisit, page: str) -> DecidedFact | None:
    """What was decided last, where that was done on this page and can be taken back: what was forgotten since is held
    here no longer."""
    fact = visit.session.fact
    if fact is not None and not await visit.memory.fact_reviser.decided(fact.id, await visit.everything()):
        visit.session.fact = fact = None
    return fact if fact is not None and fact.page.partition("#")[0] == page else None


async def _memory_page(visit: PageVisit) -> str:
    held = await visit.memory.commands.memory(id_of(visit.request), await visit.everything())
    return f"memory/{held.id}"


async def _decided(
    visit: PageVisit, decide: Callable[[str, Sequence[str]], Awaitable[Fact]], word: str, why: str, page: str
) -> web.Response:
    fact = await decide(id_of(visit.request), await visit.everything())
    text = responses.memory(fact, visit.now)["text"]
    visit.session.fact, visit.session.decided = DecidedFact(fact.id, text, word, page), ""
    return visit.sent_to(page, f"{word}: {why}.")
