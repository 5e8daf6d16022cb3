"""Review: what was put forward, with its evidence and the diff of what it would write; approve, edit, reject, defer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from aiohttp import web

from memory.candidate import Candidate, CandidateState
from memory.fact import Fact, Sensitivity
from memory.hooks.route_request import shallow
from memory.language.contradiction import scoped
from memory.member import Asker
from memory.services.person.commands import NotFound
from memory.services.person.fact_decisions import FactDecisionKind
from memory.services.person.fact_revision import Superseded
from proxy.api import responses
from proxy.api.facts import FactDecided, changes_of, decisions_of, drafts_of
from proxy.api.params import id_of
from proxy.errors import Refusal
from proxy.fail_open import fail_open
from proxy.web.decisions import REVIEW
from proxy.web.decisions import last as last_decided
from proxy.web.quarantine import in_quarantine
from proxy.web.rendering import show
from proxy.web.visit import WITHIN, PageVisit
from proxy.web.waiting import contradictions, shared_owner

WAITING = 20
"""Candidates that are shown with their evidence: first those that others submitted, then those with the most."""

EVIDENCE = 5
"""Memories that are shown of what bears a candidate out, in a list of candidates."""

DECIDED = 20

GONE = 30
"""What cites code that is gone, the newest of it."""

MOMENT = 0.3
"""Seconds that the page waits for what cites code that is gone: git is asked, and may be slow."""

DRAFTS = 30
"""The newest of what was read with doubt."""

WEIGHED = 1
"""Drafts that are shown with what was said and what would change, for which all that is known is looked through; the
others have a link to it."""

WEIGHED_SIDES = 6
"""Sides of contradictions that are: it is known what they contradict."""

SAID = 3
"""Sessions of which it is shown what was said there."""

MAX_TEXT_CHARS = 200_000
"""Characters of what is approved: a skill is a whole file."""


WORDS: Final = {
    FactDecisionKind.CONFIRMED: "confirmed",
    FactDecisionKind.DISMISSED: "of the moment",
    FactDecisionKind.REFUTED: "wrong",
    FactDecisionKind.UNLEARNED: "undone",
}
"""How the page says what was decided."""


async def review(visit: PageVisit) -> web.StreamResponse:
    """What waits, what contradicts, and what was decided."""
    owners = await visit.owners()
    asker, journal = visit.access.asker, visit.memory.journal
    asked = (await visit.ask("GET", "candidates", query={"state": "all", "submitted": "yes"}))["candidates"]
    # What is submitted waits for those who maintain it; to everybody else it is told further below.
    submitted = [each for each in asked if each["state"] is CandidateState.WAITING]
    theirs, to = [each for each in submitted if each["yours_to_approve"]], shared_owner(visit.scope)
    # Another person waits for these.
    waiting = theirs + [_candidate(each, asker) for each in await journal.candidates_first(owners, WAITING, to)]
    number = await journal.candidates_waiting(owners, to) + len(theirs)
    decided = [_candidate(each, asker) for each in await journal.candidates_decided(owners, DECIDED)]
    known = {each["id"] for each in decided}
    decided += [each for each in asked if each["decided_at"] and each["id"] not in known]
    last = next((each for each in decided if each["id"] == visit.session.decided and _may_undo(each)), None)
    facts = decisions_of(await visit.memory.fact_reviser.decisions(owners, DECIDED), visit.now)
    drafts, deferred = await drafts_of(visit.memory, owners, DRAFTS)
    return await show(
        visit,
        "review.html",
        "Review",
        waiting=[_shown(await _ask_about_candidate(visit, "", id=each["id"]), EVIDENCE) for each in waiting[:WAITING]],
        more=max(number - WAITING, 0),
        submitted=[each for each in submitted if not each["yours_to_approve"]],
        last=last,
        decided=_newest_decisions(decided, facts),
        gone=await _gone_code_citations(visit),
        quarantined=await in_quarantine(visit),
        drafts=[await _fact_to_decide(visit, fact, place < WEIGHED) for place, fact in enumerate(drafts)],
        later=len(deferred),
        last_fact=await last_decided(visit, REVIEW),
        unsettled=await _rivals(visit, await contradictions(visit.memory, owners)),
    )


async def _rivals(visit: PageVisit, groups: Sequence[Sequence[Fact]]) -> list[dict[str, Any]]:
    """The sides of each contradiction; ``both`` says that all of them may hold, whichever is confirmed."""
    places = iter(range(sum(map(len, groups))))
    return [
        {
            "sides": [await _fact_to_decide(visit, fact, next(places) < WEIGHED_SIDES) for fact in group],
            "both": all(scoped(group[0].text, other.text) for other in group[1:]),
        }
        for group in groups
    ]


async def holds(visit: PageVisit) -> web.StreamResponse:
    """What was said of a fact, and what would change if it holds."""
    held = await visit.memory.commands.memory(id_of(visit.request), await visit.everything())
    if not isinstance(held, Fact):
        raise Refusal(404, "this is a passage of a talk, which is as it was said: only facts are decided about")
    return await show(visit, "holds.html", "If it holds", each=await _fact_to_decide(visit, held, True))


def _candidate(held: Candidate, asker: Asker) -> dict[str, Any]:
    """A candidate as a list tells it to who looks."""
    rights = {"yours": asker.owns(held.owner), "yours_to_approve": asker.approves(held.owner, held.layer)}
    return shallow(held) | {"why": held.why} | rights


def _may_undo(held: dict[str, Any]) -> bool:
    """Whether who looks may take back what was decided of a candidate."""
    return bool(held["yours_to_approve"] or (held["yours"] and held["state"] is not CandidateState.APPROVED))


def _newest_decisions(candidates: Sequence[dict[str, Any]], facts: Sequence[FactDecided]) -> list[dict[str, Any]]:
    """What was decided last, of candidates and of facts."""
    told: list[dict[str, Any]] = [{"at": each["decided_at"], "candidate": each, "fact": None} for each in candidates]
    told += [{"at": each["at"], "fact": each["memory"], "word": WORDS[each["decision"]]} for each in facts]
    return sorted(told, key=lambda each: float(each["at"].timestamp()), reverse=True)[:DECIDED]


async def _fact_to_decide(visit: PageVisit, fact: Fact, whole: bool) -> dict[str, Any]:
    """A fact to be decided about, and where it is to be shown whole what was said of it and what would change if it
    holds, or what followed it where it can hold no more."""
    held = responses.memory(fact, visit.now)
    if not whole:
        return {"held": held, "said": [], "changes": None, "followed": None}
    owners = await visit.everything()
    pairs, followed = [], None
    said = await visit.ask("GET", "facts/{id}/sayings", limit=SAID, everything=True, id=fact.id)
    try:
        pairs = await visit.memory.fact_reviser.would_confirm(fact.id, owners)
    except Superseded as error:
        followed = [responses.memory(each, visit.now) for each in await visit.memory.journal.facts(error.by, owners)]
    except NotFound:
        # Forgotten elsewhere while the page was made.
        pass
    shown = fact.sensitivity is not Sensitivity.RESTRICTED
    return {
        "held": held,
        "said": said["sayings"] if shown else [],
        "changes": [each for each in changes_of(pairs, visit.now) if each["memory"]["id"] != fact.id],
        "followed": followed,
    }


async def _gone_code_citations(visit: PageVisit) -> Any:
    """What cites code that is gone; None where that takes longer than a moment. The look goes on then, so that another
    visit finds it at hand."""
    look = fail_open(
        visit.ask("GET", "gone", limit=GONE),
        default=None,
        timeout_seconds=WITHIN,
        operation="looking for what cites code that is gone",
        degradations=visit.edge.degradations,
    )
    task = visit.edge.run_in_background(look)
    await asyncio.wait({task}, timeout=MOMENT)
    return task.result()[0] if task.done() else None


async def candidate(visit: PageVisit) -> web.StreamResponse:
    """One candidate whole."""
    return await show(visit, "candidate.html", "A candidate", **_shown(await _ask_about_candidate(visit)))


async def edited(visit: PageVisit) -> web.StreamResponse:
    """A form with its text, to be put in other words."""
    return await show(visit, "candidate_edit.html", "In your words", held=await _ask_about_candidate(visit))


async def approval(visit: PageVisit) -> web.StreamResponse:
    """What approving it would write."""
    return await _would(visit, None)


async def approve(visit: PageVisit) -> web.StreamResponse:
    """``confirm=…``: write what was shown; without it, show what would be written, in the words of ``text``."""
    text = visit.filled("text", longest=MAX_TEXT_CHARS) or None
    confirm = visit.filled("confirm")
    if not confirm:
        return await _would(visit, text)
    done = await _ask_about_candidate(visit, "approve", _words(text) | _layer(visit) | {"confirm": confirm})
    return _decided(visit, done["candidate"], "Approved", done["files"])


async def submission(visit: PageVisit) -> web.StreamResponse:
    """A form with what the maintainers would be shown."""
    return await show(
        visit, "candidate_submit.html", "Submit", held=await _ask_about_candidate(visit), to=visit.query("to")
    )


async def submit(visit: PageVisit) -> web.StreamResponse:
    """``text=…&to=…``: ask the maintainers to approve it in these words."""
    text = visit.filled("text", longest=MAX_TEXT_CHARS) or None
    return _decided(visit, await _ask_about_candidate(visit, "submit", _words(text) | _layer(visit)), "Submitted")


async def undoing(visit: PageVisit) -> web.StreamResponse:
    """What taking an approval back would write."""
    return await show(
        visit, "approve.html", "Take back", would=await _ask_about_candidate(visit, "undo", {}), undo=True, text=None
    )


async def undo(visit: PageVisit) -> web.StreamResponse:
    """Take a decision back. An approval needs ``confirm=…``, the mark of what was shown."""
    held = await _ask_about_candidate(visit)
    if held["state"] is not CandidateState.APPROVED:
        return _decided(visit, await _ask_about_candidate(visit, "reopen", {}), "Waits again")
    confirm = visit.filled("confirm")
    if not confirm:
        return visit.sent_to(f"review/{held['id']}/undo")
    done = await _ask_about_candidate(visit, "undo", {"confirm": confirm})
    return _decided(visit, done["candidate"], "Taken back", done["files"])


async def reject(visit: PageVisit) -> web.StreamResponse:
    """``why=…``: it comes back only when there is much more for it."""
    return _decided(visit, await _ask_about_candidate(visit, "reject", {"why": visit.filled("why")}), "Rejected")


async def defer(visit: PageVisit) -> web.StreamResponse:
    """It waits again when another session bears it out."""
    return _decided(visit, await _ask_about_candidate(visit, "defer", {}), "Deferred")


async def _would(visit: PageVisit, text: str | None) -> web.StreamResponse:
    would = await _ask_about_candidate(visit, "approve", _words(text) | _layer(visit))
    return await show(visit, "approve.html", "Approve", would=would, undo=False, text=text)


async def _ask_about_candidate(
    visit: PageVisit, act: str = "", body: dict[str, str] | None = None, id: str = ""
) -> Any:
    """The candidate of the path, or of an id; or what becomes of it by an act."""
    method, path = ("POST", f"candidates/{{id}}/{act}") if act else ("GET", "candidates/{id}")
    return await visit.ask(method, path, body=body, everything=True, id=id or visit.request.match_info["id"])


def _words(text: str | None) -> dict[str, str]:
    return {} if text is None else {"text": text}


def _layer(visit: PageVisit) -> dict[str, str]:
    value = visit.filled("to") or visit.query("to")
    return {"to": value} if value else {}


def _decided(
    visit: PageVisit, held: dict[str, Any], word: str, written: list[dict[str, str]] | None = None
) -> web.Response:
    visit.session.decided, visit.session.fact = held["id"], None
    files = ", ".join(each["file"] for each in written or ())
    return visit.sent_to("review", f"{word}: {held['title'][:200]}" + (f" (written: {files})" if files else ""))


def _shown(held: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    evidence = held["evidence"]
    further = len(evidence) - len(evidence[:most]) + held.get("withheld", 0)
    return {"held": held, "evidence": evidence[:most], "further": further}
