"""``palimpsest why``: what memory added to the last request of this folder, in plain words, and what it left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from proxy.cli import sheds, shown, wording
from proxy.cli.call import Call, takes
from proxy.cli.options import here

LONGEST = 300
"""Characters of a text that are shown; `palimpsest fact ID` has it whole."""

THERE = "stands in the request already"

_NOTHING = {
    "asks nothing": "what you said asks nothing of memory",
    "found nothing that belongs here": "memory holds nothing that belongs to it",
    "has used up its budget": "this turn has had as many tokens of memory as it may (memory.recall.tokens)",
    "is switched off": "recall is switched off (memory.recall.enabled)",
}

_FATES = {
    "below the floor": "it has too little to do with it",
    "no room": "there was no room for it",
    "says what another one says": "another one says the same",
    "a question of then": "it was a question itself",
    "said by a fact that is known": "a fact that was learnt from it says it",
    "expired": "its time is over",
    "superseded": "something newer took its place",
    "archived": "it was put away",
}

_SAID = {
    "user": "you said so",
    "person": "you wrote it on the page",
    "assistant": "the assistant said so",
    "tool": "a tool printed it, or the model noted it",
    "web": "a page of the web said so",
    "sub-agent": "a sub-agent reported it",
    "behaviour": "it was seen in your work",
}


@takes("project", "user")
def why(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, help="So many of what was left out.")] = 5,
) -> None:
    """Say what memory added to the last request of this folder's project, where that is from, and what it left out."""
    with call.reach() as server:
        query = {"project": call.project or here(server), "user": call.user}
        told = server.ask("GET", "api/why", query)
    if call.as_json:
        shown.as_json(told)
    else:
        _tell(told, limit)


def _tell(told: dict[str, Any], limit: int) -> None:
    from rich.text import Text

    console = shown.screen()
    now = datetime.now().astimezone()
    receipt = told["receipt"]
    head = [told["project"] or "no project", _named(told["session"]["runtime"]), shown.moment(receipt["at"])]
    console.print(Text(", ".join(filter(None, head)) + f" (palimpsest log {receipt['id'][: shown.SHORT]})", "dim"))

    def item(each: dict[str, Any], about: str) -> None:
        console.print(Text(f"  {_short(shown.said(each))}"), soft_wrap=True)
        console.print(Text(f"    {each['id'][: shown.SHORT]}  {about}", "dim"), soft_wrap=True)

    if told["asked"]:
        console.print(Text(f"you said: {_short(told['asked'])}"), soft_wrap=True)
    console.print()
    if told["added"]:
        console.print(f"added, {wording.count(len(told['added']), 'memory')}:")
        for each in told["added"]:
            item(each, "; ".join(filter(None, (source(each, told["project"], now), _because(each["why"])))))
    else:
        console.print(f"nothing was added: {_NOTHING.get(told['nothing'], told['nothing'])}")
    if told["research"]:
        console.print("added too: what a sub-agent found out before (palimpsest research)")
    if told["gone"]:
        console.print(f"{wording.count(told['gone'], 'memory')} of what was added is forgotten since")
    if told["page"]:
        many = wording.count(len(told["page"]), "memory")
        console.print(f"from the session's first message on, the page: {many} (palimpsest page)")
    if told["earlier"]:
        console.print(f"earlier in this session: {wording.count(told['earlier'], 'memory')}")
    if (mode := receipt["status"]).startswith("degraded"):
        console.print(f"! {mode}")
    if short := sheds.short(receipt):
        console.print(f"left out of the request's own text: {short}")
    # What stands in the request already is no loss; a program is told of it all the same.
    left = [each for each in told["left"] if each["fate"] != THERE]
    if left[:limit]:
        console.print("\nlooked at and not added (as recall decides it now):")
        for each in left[:limit]:
            item(each, f"{_FATES.get(each['fate'], each['fate'])}; {source(each, told['project'], now)}")
        more = len(left) - limit
        if more > 0:
            console.print(f"  and {more} more (--limit)")


def source(held: dict[str, Any], project: str | None, now: datetime) -> str:
    """Who said a memory, when, and where."""
    at = datetime.fromisoformat(held.get("recorded_at") or held["at"]).astimezone()
    where = shown.where(held["owner"])
    if held.get("derived_from"):
        who = f"put together from {wording.count(len(held['derived_from']), 'memory')}"
    elif held["sort"] == "turn":
        who = "you said so" if held["origin"] == "user" else f"said by {held['speaker']}"
    elif held["origin"] == "user" and not held["session"]:
        who = "you told memory so"
    else:
        who = _SAID[held["origin"]]
    told = [f"{who} {ago(at, now)}, on {at:%Y-%m-%d}"]
    if where != project:
        told.append("for all projects" if where == "everywhere" else f"in {where}")
    if runtime := _named(held["runtime"]):
        told.append(f"with {runtime}")
    return ", ".join(told)


def ago(at: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max((now - at).total_seconds(), 0)
    for unit, length in (("year", 365 * 86400), ("month", 30 * 86400), ("week", 7 * 86400), ("day", 86400)):
        if seconds >= length:
            return f"{wording.count(int(seconds // length), unit)} ago"
    return f"{wording.count(int(seconds // 3600), 'hour')} ago" if seconds >= 3600 else "within the last hour"


def _named(runtime: str) -> str:
    """A client by its name; nothing of one that nobody wrote rules for."""
    return "" if runtime == "generic" else runtime


def _because(why: dict[str, float]) -> str:
    """What of its score spoke for it most; empty where that is not known any more."""
    if "same error" in why:
        return "the same error came back"
    if not why:
        return ""
    words, meaning = why.get("coverage", 0.0), why.get("cosine", 0.0)
    return "it shares words with what you said" if words >= meaning else "it means something like what you said"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST]}…"
