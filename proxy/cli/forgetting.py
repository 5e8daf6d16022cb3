"""``palimpsest forget``: delete memories, by id, by words, by where they came from, or all of a person's."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from proxy.cli import output, prompts, wording
from proxy.cli.call import Call, org_query, takes
from proxy.cli.faults import CommandError
from proxy.cli.persons import forget_person
from proxy.cli.provenance import From, OriginOf, Since, Until, forget_from, selection
from proxy.cli.server import RunningServer


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
