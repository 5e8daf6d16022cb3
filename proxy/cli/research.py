"""Commands about what sub-agents found out: list, search, show, what is stale, forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from proxy.cli import shown
from proxy.cli.options import ConfigFile, Here, Home, Json, Project, User, loaded, scope
from proxy.cli.reach import reach

research = typer.Typer(
    help="What sub-agents found out: the newest, or search, show, stale, forget.", rich_markup_mode=None
)
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)]
Id = Annotated[str, typer.Argument(help="Its handle (r:…), its id, or the beginning of one.", metavar="ID")]


@research.callback(invoke_without_command=True)
def newest(
    context: typer.Context,
    limit: Limit = 20,
    project: Project = None,
    at_here: Here = False,
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """List the newest research, and what using it again has saved."""
    if context.invoked_subcommand is not None:
        return
    with reach(loaded(home, config)) as server:
        told = server.ask("GET", "api/research", {"limit": limit, **scope(server, project, at_here, user)})
    if as_json:
        shown.as_json(told)
        return
    _listed(told["research"], "no sub-agent has found anything yet")
    saved = told["saved"]
    if saved["hits"]:
        hits = ", ".join(f"{how} {number}" for how, number in saved["hits"].items())
        minutes = saved["seconds"] / 60
        shown.screen().print(f"used again: {hits}; saved {saved['tokens']} tokens and {minutes:.1f} minutes")


@research.command()
def search(
    text: Annotated[list[str], typer.Argument(help="What it was about.", metavar="TEXT")],
    limit: Limit = 10,
    project: Project = None,
    at_here: Here = False,
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Find research by its question, its report, and what its tools gave back."""
    with reach(loaded(home, config)) as server:
        asked = {"text": " ".join(text), "limit": limit, **scope(server, project, at_here, user)}
        told = server.ask("GET", "api/research", asked)
    if as_json:
        shown.as_json(told)
        return
    _listed(told["research"], "no research has to do with this")


@research.command()
def show(
    id: Id,
    trail: Annotated[bool, typer.Option("--trail", help="All that it read and said, too.")] = False,
    project: Project = None,
    at_here: Here = False,
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Show one research whole: its question, its report, its sources, and with --trail all that it read."""
    with reach(loaded(home, config)) as server:
        asked = scope(server, project, at_here, user) | ({"trail": "1"} if trail else {})
        told = server.ask("GET", f"api/research/{id}", asked)
    if as_json:
        shown.as_json(told)
        return
    apart = ("question", "reports", "sources", "overview", "line", "trail", "uses", "title")
    shown.pairs((name, value) for name, value in told.items() if name not in apart and value not in (None, "", [], ()))
    console = shown.screen()
    for head, text in (("asked", told["question"]), *(("reported", report) for report in told["reports"])):
        console.print(f"\n{head}:", style="dim")
        console.print(text, soft_wrap=True)
    if told["sources"]:
        console.print("\nread:", style="dim")
    for source in told["sources"]:
        console.print(f"{source['kind']:8} {source['name']}", soft_wrap=True)
    for message in told.get("trail", ()):
        console.print(f"\n[{message['role']}]", style="dim")
        for part in message["parts"]:
            console.print(part, soft_wrap=True)


@research.command()
def stale(
    project: Project = None,
    at_here: Here = False,
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """List research whose files have changed since (see memory.research.folders), or that is too old to be given."""
    with reach(loaded(home, config)) as server:
        told = server.ask("GET", "api/research/stale", scope(server, project, at_here, user))
    if as_json:
        shown.as_json(told)
        return
    _listed(told["research"], "nothing is stale")
    for each in told["research"]:
        if each["changed"]:
            shown.screen().print(f"{each['handle']} read what differs now: {', '.join(each['changed'])}")


@research.command()
def forget(
    id: Id,
    project: Project = None,
    at_here: Here = False,
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Delete a research everywhere: question, report, trail, and where it was given. It cannot be undone."""
    with reach(loaded(home, config)) as server:
        told = server.ask("DELETE", f"api/research/{id}", scope(server, project, at_here, user))
    if as_json:
        shown.as_json(told)
        return
    shown.screen().print(f"forgotten: {told['handle']}, with the text of {shown.count(told['messages'], 'message')}")


def _listed(found: Sequence[dict[str, Any]], nothing: str) -> None:
    from rich.table import Table
    from rich.text import Text

    if not found:
        shown.screen().print(nothing)
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("handle", "day", "where", "outcome", "tokens"):
        table.add_column(name, no_wrap=True)
    table.add_column("asked, and found", overflow="fold", ratio=1)
    for each in found:
        cells = [each["handle"], shown.day(each["ended"]), shown.where(each["owner"]), each["outcome"]]
        text = "\n".join(filter(None, (each["title"], each["line"], each.get("passage", ""))))
        table.add_row(*map(Text, cells), Text(str(each["tokens"] + each["written"])), Text(text))
    shown.screen().print(table)
