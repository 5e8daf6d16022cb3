"""Commands about what sub-agents found out: list, search, show, what is stale, forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from proxy.cli import output, wording
from proxy.cli.call import Call, takes

research = typer.Typer(
    help="What sub-agents found out: the newest, or search, show, stale, forget.", rich_markup_mode=None
)
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)]
Id = Annotated[str, typer.Argument(help="Its handle (r:…), its id, or the beginning of one.", metavar="ID")]


@research.callback(invoke_without_command=True)
@takes("project", "at_here", "user")
def newest(
    call: Call,
    context: typer.Context,
    limit: Limit = 20,
) -> None:
    """List the newest research, and what using it again has saved."""
    if context.invoked_subcommand is not None:
        return
    response = call.ask_for_list("api/research", {"limit": limit})
    if call.as_json:
        output.as_json(response)
        return
    _listed(response["research"], "no sub-agent has found anything yet")
    saved = response["saved"]
    if saved["hits"]:
        hits = ", ".join(f"{how} {number}" for how, number in saved["hits"].items())
        minutes = saved["seconds"] / 60
        output.screen().print(f"used again: {hits}; saved {saved['tokens']} tokens and {minutes:.1f} minutes")


@research.command()
@takes("project", "at_here", "user")
def search(
    call: Call,
    text: Annotated[list[str], typer.Argument(help="What it was about.", metavar="TEXT")],
    limit: Limit = 10,
    sisters: Annotated[
        bool, typer.Option("--sisters", help="What the organisation's other projects share of it, too; in a project.")
    ] = False,
) -> None:
    """Find research by its question, its report, and what its tools gave back."""
    asked = {"text": " ".join(text), "limit": limit} | ({"sisters": "yes"} if sisters else {})
    response = call.ask_for_list("api/research", asked)
    if call.as_json:
        output.as_json(response)
        return
    _listed(response["research"], "no research has to do with this")
    console = output.screen()
    for each in response.get("sisters", ()):
        console.print(f"\nof the sister project {each['project']}, {output.day(each['ended'])}: {each['title']}")
        console.print(each["report"], soft_wrap=True)
    if sisters and not response["sisters"]:
        why = response.get("why_no_sisters") or "what the organisation's other projects share is not on this"
        console.print(f"nothing of sister projects: {why}", soft_wrap=True)


@research.command()
@takes("project", "at_here", "user")
def show(
    call: Call,
    id: Id,
    trail: Annotated[bool, typer.Option("--trail", help="All that it read and said, too.")] = False,
) -> None:
    """Show one research whole: its question, its report, its sources, and with --trail all that it read."""
    response = call.ask("GET", f"api/research/{id}", {"trail": "1"} if trail else None)
    if call.as_json:
        output.as_json(response)
        return
    apart = ("question", "reports", "sources", "overview", "line", "trail", "uses", "title")
    output.pairs(
        (name, value) for name, value in response.items() if name not in apart and value not in (None, "", [], ())
    )
    console = output.screen()
    for head, text in (("asked", response["question"]), *(("reported", report) for report in response["reports"])):
        console.print(f"\n{head}:", style="dim")
        console.print(text, soft_wrap=True)
    if response["sources"]:
        console.print("\nread:", style="dim")
    for source in response["sources"]:
        console.print(f"{source['kind']:8} {source['name']}", soft_wrap=True)
    for message in response.get("trail", ()):
        console.print(f"\n[{message['role']}]", style="dim")
        for part in message["parts"]:
            console.print(part, soft_wrap=True)


@research.command()
@takes("project", "at_here", "user")
def stale(call: Call) -> None:
    """List research whose files have changed since (see memory.research.folders), or that is too old to be given."""
    response = call.ask_for_list("api/research/stale")
    if call.as_json:
        output.as_json(response)
        return
    _listed(response["research"], "nothing is stale")
    for each in response["research"]:
        if each["changed"]:
            output.screen().print(f"{each['handle']} read what differs now: {', '.join(each['changed'])}")
    if response["missed"]:
        files = wording.count(response["missed"], "file")
        output.screen().print(f"{files} of them were not looked into: too many for one call; name a --project")


@research.command()
@takes("project", "at_here", "user")
def forget(
    call: Call,
    id: Id,
) -> None:
    """Delete a research everywhere: question, report, trail, and where it was given. It cannot be undone."""
    response = call.ask("DELETE", f"api/research/{id}")
    if call.as_json:
        output.as_json(response)
        return
    output.screen().print(
        f"forgotten: {response['handle']}, with the text of {wording.count(response['messages'], 'message')}"
    )


def _listed(found: Sequence[dict[str, Any]], nothing: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console = output.screen()
    if not found:
        console.print(nothing)
    for each in found:
        tokens = f"{each['tokens'] + each['written']} tokens"
        head = (each["handle"], output.day(each["ended"]), each["outcome"], tokens, output.where(each["owner"]))
        console.print(Text("  ".join(head), "dim"), soft_wrap=True)
        text = "\n".join(filter(None, (each["title"], each["line"], each.get("passage", ""))))
        console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
