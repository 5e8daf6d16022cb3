"""Commands about memories: search, list, remember, pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from memory.fact import Origin
from proxy.cli import output, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.inspection import is_handle
from proxy.cli.options import Id
from proxy.cli.output import SHORT, screen


def explained(held: dict[str, Any], limit: int) -> None:
    """The questions that were asked of memory, and what became of the best candidates: ``limit`` of those left out."""
    console = screen()
    if not held["asked"] and not held["looked"]:
        console.print("it asks nothing of memory")
        return
    if not held["asked"]:
        console.print("asked as a whole: what is known of that time, of what is open, or of somebody")
    for each in held["asked"]:
        kind = f" ({each['shape']}, counts {each['weight']:.2f})" if each["shape"] else ""
        console.print(Text(f"asked{kind}: {each['text']}"), soft_wrap=True)
        times = f"; said about {', '.join(each['times'])}" if each["times"] else ""
        passed = "passes" if each["best"] >= each["needed"] else "does not pass"
        console.print(
            Text(
                f"  words {', '.join(each['stems'])}{times}; the best of {each['found']} comes to {each['best']:.2f}"
                f" and {passed} the floor of {each['needed']:.2f}",
                "dim",
            ),
            soft_wrap=True,
        )
    left = 0
    for each in held["looked"]:
        if each["fate"] != "shown":
            left += 1
            if left > limit:
                continue
        why = "  ".join(f"{name} {value:.2f}" for name, value in each["why"].items())
        console.print(
            Text(f"{each['id'][:SHORT]}  {each['fate']}  score {each['score']:.2f}  {why}", "dim"), soft_wrap=True
        )
        console.print(Text(f"  {each['text']}"), soft_wrap=True)
    if left > limit:
        console.print(f"{left - limit} more were looked at (--limit shows more of them)")
    if held["steps"]:
        steps = "  ".join(f"{name} {value:.1f}" for name, value in held["steps"].items())
        console.print(Text(f"milliseconds  {steps}", "dim"))


COUNTED = 1000
"""Up to how many facts of the project's own files are counted: as many as one answer lists."""


@takes("project", "at_here", "user")
def search(
    call: Call,
    text: Annotated[str, typer.Argument(help="What to look for.", metavar="TEXT")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 10,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="What was known then: 2026-03-04, 2026-03, 2026, or a time.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="What recall would do with it as a message, and what it cuts and why.")
    ] = False,
) -> None:
    """Search memory as recall does."""
    if explain and as_of:
        raise CommandError("--explain is about what recall would do now; it does not go with --as-of")
    query = {"text": text, "limit": limit, "as_of": as_of, "explain": "1" if explain else None}
    response = call.ask_for_list("api/search", query)
    if call.as_json:
        output.as_json(response)
    elif explain:
        explained(response["explained"], limit)
    else:
        output.memories(response["results"], "nothing that is remembered has to do with it")


@takes("project", "at_here", "user")
def facts(
    call: Call,
    text: Annotated[str, typer.Argument(help="Only those that hold this.", metavar="[TEXT]")] = "",
    kind: Annotated[
        str, typer.Option(help="decision, preference, correction, convention, …; several with commas.")
    ] = "",
    state: Annotated[str, typer.Option(help="active, superseded, archived or all.")] = "active",
    branch: Annotated[
        str | None, typer.Option("--branch", help="Only what was learnt on this git branch.", metavar="NAME")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 100,
) -> None:
    """List what has been learned, the newest first. What the project's own files say is only counted, unless a text, a
    kind or a state is asked for."""
    if branch is not None:
        if text or kind or state != "active":
            raise CommandError("--branch lists all that was learnt on a branch; it goes with --limit only")
        _on_branch(call, branch, limit)
        return
    query = {"text": text, "kind": kind, "state": state, "limit": limit}
    if call.as_json:
        output.as_json(call.ask("GET", "api/facts", query))
    elif text or kind or state != "active":
        output.memories(call.ask_for_list("api/facts", query)["facts"], "nothing that has been learned is like that")
    else:
        _all_but_files(call, limit)


def _all_but_files(call: Call, limit: int) -> None:
    """What has been learned, and how much more the project's own files say."""
    others = ",".join(each for each in Origin if each is not Origin.FILE)
    with call.reach() as server:
        scope = call.scope(server)
        said = server.ask("GET", "api/facts", {"origin": others, "limit": limit, **scope})["facts"]
        written = len(server.ask("GET", "api/facts", {"origin": Origin.FILE, "limit": COUNTED, **scope})["facts"])
        held = [] if said or written else server.ask("GET", "api/quarantine", scope)["memories"]
        call.look_elsewhere(server, said, [...] * written, held)
    if held:
        output.screen().print(f"nothing is in use; in quarantine: {len(held)}, see {wording.program()} quarantine")
        return
    if said or not written:
        output.memories(said, "nothing has been learned yet")
    if not written:
        return
    listing = f"{wording.program()} facts --kind convention"
    if not said:
        output.screen().print(f"nothing has been learned yet but what the project's own files say: {listing}")
    elif written < COUNTED:
        output.screen().print(f"and {written} more that the project's own files say: {listing}")
    else:
        output.screen().print(f"and {COUNTED} or more that the project's own files say: {listing}")


def _on_branch(call: Call, branch: str, limit: int) -> None:
    """What was learnt on a branch, and what of the code each cites."""
    response = call.ask_for_list(f"api/learnt-on/{branch}", {"limit": limit})
    if call.as_json:
        output.as_json(response)
        return
    output.memories(response["facts"], f"nothing was learnt on a branch {branch}; palimpsest branches lists them")
    console = output.screen()
    for each in response["facts"]:
        at = each["checkout"]
        cites = ", ".join(map(cited_place, at["cites"]))
        holds = each["stage"] if at["staged"] or each["stage"] != "merged" else "holds for the project"
        console.print(
            f"{each['id'][: output.SHORT]}  {holds}, at {at['commit'][:7]}{f'; cites {cites}' if cites else ''}"
        )


def cited_place(cited: Mapping[str, Any]) -> str:
    """What a memory cites, and the file in which that stands."""
    name, file = cited["name"], cited["file"]
    return f"{name} in {file}" if file and file != name else str(name)


@takes("project", "at_here", "user")
def remember(
    call: Call,
    text: Annotated[str, typer.Argument(help="What to remember.", metavar="TEXT")],
    pinned: Annotated[bool, typer.Option("--pin", help="It never fades.")] = False,
    kind: Annotated[str | None, typer.Option(help="decision, preference, correction, convention, …")] = None,
) -> None:
    """Write something down: for all projects, or for one with --project or --here."""
    body: dict[str, Any] = {"text": text, "pinned": pinned}
    if kind:
        body["kind"] = kind
    response = call.ask("POST", "api/remember", body=body, begins=True)
    if call.as_json:
        output.as_json(response)
    else:
        place = output.destination_of(response["owner"])
        output.screen().print(f"remembered {place}, as {response['id'][: output.SHORT]}: {response['text']}")
        for relation, what in (("supersedes", "in place of"), ("contradicts", "beside what it may contradict:")):
            if others := ", ".join(id[: output.SHORT] for id in response.get(relation, ())):
                output.screen().print(f"{what} {others}")


@takes("user")
def pin(
    call: Call,
    id: Id,
    off: Annotated[bool, typer.Option("--off", help="Let go of it again.")] = False,
) -> None:
    """Pin a fact, so that it never fades, or by its HANDLE a content, so that it stays whole in every request."""
    content = is_handle(id)
    response = call.ask("PATCH", f"api/{'content' if content else 'facts'}/{id}", body={"pinned": not off})
    if call.as_json:
        output.as_json(response)
    elif content:
        print(f"{'let go of' if off else 'pinned'} {response['handle']}")
    else:
        output.screen().print(
            f"{'let go of' if off else 'pinned'} {response['id'][: output.SHORT]}: {response['text']}"
        )
