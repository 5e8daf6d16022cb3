"""Commands about single memories: search, list, look at, remember, pin, forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from memory.fact import Origin
from proxy.cli import output, prompts, wording
from proxy.cli.call import Call, org_query, takes
from proxy.cli.faults import CommandError
from proxy.cli.history import draw
from proxy.cli.inspection import is_handle
from proxy.cli.output import SHORT, screen
from proxy.cli.persons import forget_person
from proxy.cli.provenance import From, OriginOf, Since, Until, came, forget_from, selection
from proxy.cli.server import RunningServer


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

Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]


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


@takes("user")
def fact(
    call: Call,
    id: Id,
    curve: Annotated[bool, typer.Option("--curve", help="Draw its strength, to a year from now.")] = False,
) -> None:
    """Show one memory with everything that is known of it."""
    console = output.screen()
    columns = max(output.drawing_columns() - 10, 20)
    if curve:
        response = call.ask("GET", f"api/facts/{id}/curve", {"limit": min(columns, 1000)})
    else:
        response = call.ask("GET", f"api/facts/{id}")
    if curve and not call.as_json:
        for line in draw(response, columns):
            console.print(line)
    elif call.as_json:
        output.as_json(response)
    else:
        source = response.pop("came_from")
        output.memory(response)
        came(source)


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


@takes("project", "at_here", "user")
def forget(
    call: Call,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids, or beginnings of ids.", metavar="[ID]...")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="All that holds these words; shown first.")] = None,
    source: From = None,
    since: Since = None,
    until: Until = None,
    origin: OriginOf = None,
    org: Annotated[
        str | None, typer.Option("--org", help="The person's organisation, to forget all of that person's.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete memories everywhere: facts, the talk they came from, index, page, ledgers; with --user alone all that is
    held of this person. It cannot be undone."""
    where = selection(source, since, until, origin)
    everything = call.user is not None and not (ids or query or where)
    if not everything and (org is not None or sum(map(bool, (ids, query, where))) != 1):
        raise CommandError(
            "say which: forget ID…, forget --query TEXT, forget --from session=ID, or forget --user NAME [--org ORG]", 2
        )
    if everything and (call.project or call.at_here):
        raise CommandError("forget --user NAME takes all of a person's, in all projects: leave the project out", 2)
    with call.reach() as server:
        scope = call.scope(server)
        if everything:
            forget_person(call, server, scope | org_query(org), dry_run, yes)
            return
        if where:
            outcome = forget_from(server, scope, where, dry_run, yes, call.as_json)
            if outcome is None:
                return
        elif dry_run:
            would: dict[str, Any] = {"would_forget": [server.ask("GET", f"api/facts/{id}", scope) for id in ids or ()]}
            if query:
                answered = server.ask("POST", "api/forget", scope, {"query": query})
                would = {key: answered[key] for key in ("would_forget", "behind")}
            if call.as_json:
                output.as_json(would)
                return
            output.memories(would["would_forget"], "nothing holds these words")
            _print_behind(would.get("behind", 0))
            return
        elif query:
            preview = server.ask("POST", "api/forget", scope, {"query": query})
            found = preview["would_forget"]
            if not call.as_json:
                output.memories(found, "nothing that is remembered holds these words")
            if found:
                _sure(len(found), yes)
            elif not call.as_json:
                call.look_elsewhere(server, found)
                _print_behind(preview["behind"])
                return
            outcome = _forgotten(server, scope, [each["id"] for each in found], query, preview["behind"])
            outcome["faults"] = [*dict.fromkeys((*outcome["faults"], *preview["would_stay"]))]
        else:
            if not (yes or call.as_json) and prompts.is_interactive():
                # A slip in a few letters of an id cannot be taken back.
                found = [server.ask("GET", f"api/facts/{id}", scope) for id in ids or ()]
                output.memories(found, "")
                _sure(len(found), yes)
            outcome = server.ask("POST", "api/forget", scope, {"ids": ids})
    if call.as_json:
        output.as_json(outcome)
    else:
        _print_forgotten(outcome)


def _print_forgotten(outcome: dict[str, Any]) -> None:
    gone = outcome["forgotten"]
    facts, passages = wording.count(len(gone["facts"]), "fact"), wording.count(len(gone["passages"]), "passage")
    messages = wording.count(gone["messages"], "message")
    output.screen().print(f"forgotten: {facts}, {passages}, the text of {messages}")
    for each in outcome["files"]:
        output.screen().print(f"its line was taken out of {each}")
    for each in outcome["faults"]:
        output.screen().print(f"! not everything went: {each}")
    if outcome["damaged"]:
        damaged = wording.count(outcome["damaged"], "exchange")
        output.screen().print(f"{damaged} that could not be read went too: nobody can tell what was in them")
    if not outcome["scrubbed"]:
        output.screen().print("traces are left in the database's log until the server is idle for a moment")
    _print_behind(outcome["behind"])


def _print_behind(behind: int) -> None:
    if behind:
        are = "is" if behind == 1 else "are"
        output.screen().print(f"! {wording.count(behind, 'exchange')} {are} not learned from yet:", end=" ")
        output.screen().print("what is said of it there is remembered yet, so look and forget again in a while")


def _forgotten(server: RunningServer, scope: dict[str, str], ids: list[str], query: str, behind: int) -> dict[str, Any]:
    """Forget what a query showed, and what it had no room to show."""
    whole: dict[str, Any] = {
        "forgotten": {"facts": [], "passages": [], "messages": 0, "ledger_entries": 0, "receipts": 0, "sessions": 0},
        "files": [],
        "faults": [],
        "damaged": 0,
        "scrubbed": True,
        "behind": behind,
    }
    while ids:
        for each in ids:
            if each in (*whole["forgotten"]["facts"], *whole["forgotten"]["passages"]):
                continue  # it went with one before it
            response = server.ask("POST", "api/forget", scope, {"ids": [each]})
            whole["scrubbed"] = response["scrubbed"]
            whole["files"] += response["files"]
            whole["faults"] = [*dict.fromkeys((*whole["faults"], *response["faults"]))]
            whole["damaged"] += response["damaged"]
            for name, value in response["forgotten"].items():
                whole["forgotten"][name] += value
        left = server.ask("POST", "api/forget", scope, {"query": query})
        whole["behind"], ids = left["behind"], [each["id"] for each in left["would_forget"]]
    return whole


def _sure(count: int, yes: bool) -> None:
    if yes:
        return
    if not prompts.is_interactive():
        raise CommandError(f"this would forget {wording.count(count, 'memory')} for good: say --yes", 2)
    what = "it" if count == 1 else f"these {count}"
    if not typer.confirm(f"Forget {what} for good?", default=False):
        raise CommandError("nothing was forgotten")
