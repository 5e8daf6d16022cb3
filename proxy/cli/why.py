"""``palimpsest why``: what memory added to the last request of this folder, in plain words, and what it left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from proxy import words
from proxy.cli import sheds, shown, wording
from proxy.cli.call import Call, takes
from proxy.cli.options import here

LONGEST = 300
"""Characters of a text that are shown; `palimpsest fact ID` has it whole."""


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
    head = [told["project"] or "no project", words.client(told["session"]["runtime"]), shown.moment(receipt["at"])]
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
            item(each, "; ".join(filter(None, (words.source(each, told["project"], now), words.because(each["why"])))))
    else:
        console.print(f"nothing was added: {words.nothing(told['nothing'])}")
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
    left = [each for each in told["left"] if each["fate"] != words.THERE]
    if left[:limit]:
        console.print("\nlooked at and not added (as recall decides it now):")
        for each in left[:limit]:
            item(each, f"{words.fate(each['fate'])}; {words.source(each, told['project'], now)}")
        more = len(left) - limit
        if more > 0:
            console.print(f"  and {more} more (--limit)")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST]}…"
