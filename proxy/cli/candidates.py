"""Commands about what becomes a rule: candidates, approve, reject, defer; and letting a fact rise."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import output
from proxy.cli.call import Call, org_query, takes
from proxy.cli.faults import CommandError
from proxy.cli.prompts import edited
from proxy.cli.server import RunningServer

Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]
_KINDS = {"skill": "skill: ", "retirement": "retire the skill "}
"""What is said before a candidate's title, by its kind."""
_RULES = ("knowledge", "line", "proposed")
_LINES = {"line": "a line of the shared file", "proposed": "a line of the repository's file"}
"""What stands in the place of evidence."""

Org = Annotated[str | None, typer.Option("--org", help="The organisation that it is of; else the settings' own.")]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write it without asking.")]


@takes("project", "at_here", "user")
def candidates(
    call: Call,
    id: Annotated[str | None, typer.Argument(help="One of them, whole, with its evidence.", metavar="[ID]")] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Also what is decided.")] = False,
    submitted: Annotated[
        bool, typer.Option("--submitted", help="What was submitted to the maintainers of the organisation.")
    ] = False,
    org: Org = None,
) -> None:
    """List what waits for you: knowledge and skills that others could have too, skills to retire, and why."""
    query = org_query(org) | ({"state": "all"} if everything else {}) | ({"submitted": "yes"} if submitted else {})
    if id:
        response = call.ask("GET", f"api/candidates/{id}", org_query(org))
    else:
        response = call.ask_for_list("api/candidates", query)
    if call.as_json:
        output.as_json(response)
    elif id:
        _one(response)
    else:
        _list(response["candidates"], everything, org)


@takes("user")
def submit(
    call: Call,
    id: Id,
    text: Annotated[str | None, typer.Option("--text", help="Put it in these words.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="For whom: project or org.")] = None,
    org: Org = None,
) -> None:
    """Ask the maintainers of your organisation to approve a candidate. All in it see its words then, and no others."""
    body = ({"text": text} if text is not None else {}) | ({"to": to} if to else {})
    response = call.ask("POST", f"api/candidates/{id}/submit", org_query(org), body)
    _decided("submitted", response, call.as_json)


@takes("user")
def approve(
    call: Call,
    id: Id,
    edit: Annotated[bool, typer.Option("--edit", help="Put it in your own words in your editor first.")] = False,
    text: Annotated[str | None, typer.Option("--text", help="Put it in these words.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Put it in the words of a file; - reads standard input.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="For whom: project or org.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take an approval back.")] = False,
    org: Org = None,
    yes: Yes = False,
) -> None:
    """Approve a candidate for a project or an organisation: what would be written is shown first."""
    if sum((edit, text is not None, file is not None, undo)) > 1:
        raise CommandError("say one of --edit, --text, --file and --undo", 2)
    with call.reach() as server:
        query = call.scope(server) | org_query(org)
        body: dict[str, str] = {"to": to} if to else {}
        if edit:
            held = server.ask("GET", f"api/candidates/{id}", query)
            name = "rule.md" if held["kind"] in _RULES else "SKILL.md"
            text = edited(held["text"] + "\n", name)
        elif file is not None:
            text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        if text is not None:
            body["text"] = text
        response = _confirmed(
            server, f"api/candidates/{id}/{'undo' if undo else 'approve'}", query, body, yes, call.as_json
        )
    if call.as_json:
        output.as_json(response)
    elif response["done"]:
        done = "taken back" if undo else "approved"
        output.screen().print(f"{done}: {response['candidate']['title']}", soft_wrap=True)


@takes("user")
def reject(
    call: Call,
    id: Id,
    why: Annotated[str, typer.Option("--why", help="Why not; it is kept with it.")] = "",
    org: Org = None,
) -> None:
    """Reject a candidate. It comes back only when there is much more for it."""
    response = call.ask("POST", f"api/candidates/{id}/reject", org_query(org), {"why": why})
    _decided("rejected", response, call.as_json)


@takes("user")
def defer(call: Call, id: Id, org: Org = None) -> None:
    """Decide about a candidate later: it waits again when another session bears it out."""
    response = call.ask("POST", f"api/candidates/{id}/defer", org_query(org), {})
    _decided("deferred", response, call.as_json)


@takes("user")
def promote(
    call: Call,
    id: Id,
    to: Annotated[str, typer.Option("--to", help="user, project or org.")],
    org: Org = None,
    yes: Yes = False,
) -> None:
    """Let a fact rise: to all your projects, or, where you approve it, to all who work on its project or in the org."""
    with call.reach() as server:
        query = call.scope(server) | org_query(org)
        response = server.ask("POST", f"api/facts/{id}/promote", query, {"to": to})
        if "candidate" in response:
            path = f"api/candidates/{response['candidate']['id']}/approve"
            response = _confirmed(server, path, query, {"to": to}, yes, call.as_json)
    if call.as_json:
        output.as_json(response)
    elif "fact" in response:
        output.screen().print(f"holds in all your projects now: {response['fact']['text']}", soft_wrap=True)
    elif response["done"]:
        output.screen().print(f"approved: {response['candidate']['title']}", soft_wrap=True)


def _confirmed(
    server: RunningServer, path: str, query: Mapping[str, str], body: Mapping[str, str], yes: bool, quiet: bool
) -> dict[str, Any]:
    """What was written; where nobody said yes, what would be.

    Raises:
        Fault: when the person says no, or cannot be asked.
    """
    would = server.ask("POST", path, query, body)
    if not quiet:
        _show(would)
    if not yes:
        if quiet:
            return would
        if not sys.stdin.isatty():
            raise CommandError("nothing was written: say --yes to write this", 2)
        if not typer.confirm("Write this?", default=False):
            raise CommandError("nothing was written")
    return server.ask("POST", path, query, {**body, "confirm": would["confirm"]})


def _show(would: Mapping[str, Any]) -> None:
    console = output.screen()
    held = would["candidate"]
    console.print(f"{held['kind']} for {output.audience_of(held)}, {held['why']}", style="dim")
    if held["kind"] in _RULES:
        console.print(f"  {held['text']}", soft_wrap=True)
    for note in would["notes"]:
        console.print(f"! {note}", soft_wrap=True)
    for each in would["files"]:
        console.print()
        for line in each["diff"].splitlines():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
            console.print(line, style=colour, soft_wrap=True)


def _decided(word: str, data: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        output.as_json(data)
    else:
        output.screen().print(f"{word}: {data['title']}", soft_wrap=True)


def _list(found: list[dict[str, Any]], everything: bool, org: str | None) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.screen()
    if not found:
        console.print("nothing has been put forward yet" if everything else "nothing waits for you")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("id", *(["state"] if everything else []), "for"):
        table.add_column(name, no_wrap=True, style="dim")
    table.add_column("why", style="dim", max_width=28)
    table.add_column("what", overflow="fold", ratio=1)
    for each in found:
        cells = [
            each["id"][: output.SHORT],
            *([_state(each)] if everything else []),
            output.audience_of(each),
            each["why"],
        ]
        title = _KINDS.get(each["kind"], "") + each["title"]
        table.add_row(*map(Text, cells), Text(title))
    console.print(table)
    if not everything:
        of = f" --org {org}" if org else ""
        ways = f"palimpsest approve ID{of} [--edit] | reject ID{of} --why … | defer ID{of}"
        console.print(f"\n{ways}", style="dim", soft_wrap=True)


def _state(held: Mapping[str, Any]) -> str:
    by = held["decided_by"] if held["submitted_by"] and held["state"] != "waiting" else ""
    return f"{held['state']} by {by}" if by else str(held["state"])


_TOLD = (
    *("id", "kind", "state", "reason", "why", "made_at"),
    *("submitted_by", "submitted_at", "decided_by", "decided_at", "fact"),
)


def _one(held: dict[str, Any]) -> None:
    console = output.screen()
    console.print(held["text"], soft_wrap=True)
    console.print()
    output.pairs([("for", output.audience_of(held)), *((name, held[name]) for name in _TOLD if held[name])])
    console.print()
    nothing = _LINES.get(held["kind"], "nothing that bears it out is left")
    output.memories(held["evidence"], nothing)
    if held.get("withheld"):
        console.print(f"and {held['withheld']} more, which are not yours to see, or hold no longer", style="dim")
