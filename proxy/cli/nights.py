"""Commands about nights: consolidate now, list the nights, look at one or take it back."""

from __future__ import annotations

import shlex
import sys
import time
from datetime import datetime
from typing import Annotated, Any

import typer

from proxy.cli import output, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.server import RunningServer

EVERY = 0.2
"""Seconds between two looks at the progress."""


@takes("project", "at_here", "user")
def consolidate(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    since: Annotated[str | None, typer.Option(help="Look at what was learnt since this day, as 2026-03-01.")] = None,
) -> None:
    """Consolidate what is new now, as every night does, of everybody unless a user or a project is named."""
    body: dict[str, Any] = {"dry_run": dry_run}
    if since is not None:
        body["since"] = since
    with call.reach() as server:
        query = call.scope(server)
        server.ask("POST", "api/consolidate", query, body)
        outcome = _wait(server, query, call.as_json)
        # A night settles what the times tell; the rest is for a person to say.
        outcome["unsettled"] = server.ask("GET", "api/conflicts", {**query, "limit": 1})["count"]
    if call.as_json:
        output.as_json(outcome)
        return
    for place, each in enumerate(outcome["nights"]):
        if place:
            print()
        head = f"night {each['number']}" if each["number"] else "would change"
        _changes(f"{head}, {output.where(each['owner'])}", each)
    if outcome["others"]:
        output.screen().print(f"{wording.count(outcome['others'], 'night')} of other users (see them with --user)")
    elif not outcome["nights"]:
        output.screen().print(f"nothing changes ({wording.count(outcome['looked'], 'new fact')})")
    if outcome["unsettled"]:
        waits = "waits" if outcome["unsettled"] == 1 else "wait"
        command = shlex.join(
            [wording.program(), "conflicts", *(word for key in query for word in (f"--{key}", query[key]))]
        )
        output.screen().print(
            f"{wording.count(outcome['unsettled'], 'contradiction')} {waits} for you: `{command}` shows them",
            soft_wrap=True,
        )


@takes("project", "at_here", "user")
def nights(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
) -> None:
    """List the nights that changed something, the newest first."""
    response = call.ask("GET", "api/nights", {"limit": limit})
    if call.as_json:
        output.as_json(response)
        return
    from rich.table import Table
    from rich.text import Text

    if not response["nights"]:
        output.screen().print("no night has changed anything yet")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("night", "day", "where", "new facts"):
        table.add_column(name, no_wrap=True)
    table.add_column("what", overflow="fold")
    for each in response["nights"]:
        what = [f"{name} {number}" for name, number in each["changes"].items()]
        what += [f"{name} {each[name]}" for name in ("lines", "candidates") if each[name]]
        what += [f"{gone['name']} thrown out" for gone in each["thrown"]]
        what += ["taken back"] if each["undone_at"] else []
        row = (str(each["number"]), output.day(each["at"]), output.where(each["owner"]), str(each["looked"]))
        table.add_row(*(Text(cell) for cell in (*row, ", ".join(what))))
    output.screen().print(table)


@takes("user")
def night(
    call: Call,
    number: Annotated[int, typer.Argument(help="Its number, see `nights`.", metavar="N", min=1)],
    undo: Annotated[bool, typer.Option("--undo", help="Put everything back as it was before.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Show what a night changed, or take it back."""
    path = f"api/nights/{number}"
    if undo and not (yes or call.as_json) and sys.stdin.isatty():
        _shown(call.ask("GET", path))
        if not typer.confirm("\nTake all of that back?", default=True):
            raise CommandError("nothing was taken back")
    response = call.ask("POST", f"{path}/undo", body={}) if undo else call.ask("GET", path)
    if call.as_json:
        output.as_json(response)
    elif undo:
        print(f"night {number} was taken back")
    else:
        _shown(response)


def _shown(data: dict[str, Any]) -> None:
    """A night as it was."""
    at = datetime.fromisoformat(data["at"]).astimezone()
    back = ", taken back" if data["undone_at"] else ""
    _changes(f"night {data['number']}, {at:%Y-%m-%d %H:%M}, {output.where(data['owner'])}{back}", data)


def _changes(head: str, data: dict[str, Any]) -> None:
    """A night's changes, a line for each fact."""
    console = output.screen()
    console.print(head)
    for change in data["changes"]:
        console.print(f"\n{change['action']} ({change['why']})", soft_wrap=True)
        for fact in change["facts"]:
            mark = "+" if fact["made"] else " " if fact["state"] == "active" else "-"
            console.print(f"  {mark} {fact['id'][: output.SHORT]}  {fact['text']}", soft_wrap=True)
    if data["plain"]:
        console.print(f"\ncourtesies are left out of {wording.count(data['plain'], 'passage')}")
    if data["lines"]:
        console.print(f"\n{wording.count(len(data['lines']), 'line')} of days in short")
        for line in data["lines"]:
            console.print(f"  {line['day']} {line['tier']}  {line['text']}", soft_wrap=True)
    for each in data["candidates"]:
        console.print(f"\ncandidate {each['id'][: output.SHORT]} ({each['why']}): {each['title']}", soft_wrap=True)
    for each in data["thrown"]:
        of = f"{each['lost']} of {each['held']} {each['category']}"
        console.print(f"\n! {each['name']} was thrown out: it would have taken {of}")


def _wait(server: RunningServer, query: dict[str, str], quiet: bool) -> dict[str, Any]:
    """The night when it is finished.

    Raises:
        Fault: when it failed.
    """
    from rich.console import Console

    with Console(stderr=True, quiet=quiet).status("consolidating"):
        while True:
            response = server.ask("GET", "api/consolidate", query)
            night: dict[str, Any] | None = response["night"]
            if night is not None and night["finished"] and not response["running"]:
                break
            time.sleep(EVERY)
    if night["fault"]:
        raise CommandError(night["fault"])
    return night
