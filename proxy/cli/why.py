"""``palimpsest why``: what memory added to the last request of this folder, in plain words, and what it left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from proxy import explanations
from proxy.cli import output, shed_report, wording
from proxy.cli.call import Call, takes
from proxy.cli.options import here

MAX_TEXT_CHARS = 300
"""Characters of a text that are shown; `palimpsest fact ID` has it whole."""


@takes("project", "user")
def why(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, help="So many of what was left out.")] = 5,
) -> None:
    """Say what memory added to the last request of this folder's project, where that is from, and what it left out."""
    with call.reach() as server:
        query = {"project": call.project or here(server), "user": call.user}
        response = server.ask("GET", "api/why", query)
    if call.as_json:
        output.as_json(response)
    else:
        _print_report(response, limit)


def _print_report(data: dict[str, Any], limit: int) -> None:
    from rich.text import Text

    console = output.screen()
    now = datetime.now().astimezone()
    receipt = data["receipt"]
    head = [
        data["project"] or "no project",
        explanations.client(data["session"]["runtime"]),
        output.moment(receipt["at"]),
    ]
    console.print(Text(", ".join(filter(None, head)) + f" (palimpsest log {receipt['id'][: output.SHORT]})", "dim"))

    if data["asked"]:
        console.print(Text(f"you said: {_short(data['asked'])}"))
    console.print()
    if data["added"]:
        console.print(f"added, {wording.count(len(data['added']), 'memory')}:")
        for each in data["added"]:
            about = explanations.source(each, data["project"], now), explanations.because(each["why"])
            _print_memory(each, "; ".join(filter(None, about)))
    else:
        before = bool(data["page"] or data["earlier"])
        console.print(f"nothing was added{' here' if before else ''}: {explanations.nothing(data['nothing'], before)}")
    if data["research"]:
        console.print("added too: what a sub-agent found out before (palimpsest research)")
    if data["gone"]:
        console.print(f"{wording.count(data['gone'], 'memory')} of what was added is forgotten since")
    if data["page"]:
        many = wording.count(len(data["page"]), "memory")
        console.print(f"from the session's first message on, the page: {many} (palimpsest page)")
    if data["earlier"]:
        console.print(f"earlier in this session: {wording.count(data['earlier'], 'memory')}")
    if (mode := receipt["status"]).startswith("degraded"):
        console.print(f"! {mode}")
    if short := shed_report.short(receipt):
        console.print(f"left out of the request's own text: {short}")
    _print_left_out(data, limit, now)


def _print_memory(each: dict[str, Any], about: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console = output.screen()
    console.print(Padding(Text(_short(output.memory_text(each))), (0, 0, 0, 2), expand=False))
    console.print(Padding(Text(f"{each['id'][: output.SHORT]}  {about}", "dim"), (0, 0, 0, 4), expand=False))


def _print_left_out(data: dict[str, Any], limit: int, now: datetime) -> None:
    """What was looked at and not added."""
    console = output.screen()
    # What stands in the request already is no loss; a program is told of it all the same.
    left = [each for each in data["left"] if each["fate"] != explanations.THERE]
    if left[:limit]:
        console.print("\nlooked at and not added (as recall decides it now):")
        for each in left[:limit]:
            about = f"{explanations.fate(each['fate'])}; {explanations.source(each, data['project'], now)}"
            _print_memory(each, about)
        more = len(left) - limit
        if more > 0:
            console.print(f"  and {more} more (--limit)")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_TEXT_CHARS else f"{flat[:MAX_TEXT_CHARS]}…"
