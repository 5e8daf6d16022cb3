"""One person everywhere: ``palimpsest forget --user NAME`` and ``palimpsest export --user NAME --whole``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import typer

from proxy.cli import output, prompts, wording
from proxy.cli.call import Call
from proxy.cli.faults import CommandError
from proxy.cli.operations import wait_for_index
from proxy.cli.server import RunningServer

PIECE = 1000
"""Rows that are asked for at once."""


def forget_person(call: Call, server: RunningServer, whose: dict[str, str], dry_run: bool, yes: bool) -> None:
    """Show what there is of a person and what would stay, ask, and delete it."""
    report, as_json = server.ask("GET", "api/person", whose), call.as_json
    call.look_elsewhere(server, [*report["would_go"]], org=whose.get("org"))
    if not as_json:
        _print_report(report)
    if dry_run:
        if as_json:
            output.as_json(report)
        return
    name = whose["user"]
    if not yes:
        if not prompts.is_interactive():
            raise CommandError(f"this would forget all that is held of {name} for good: say --yes", 2)
        if not typer.confirm(f"Forget all of it for good, of {name}, in all projects?", default=False):
            raise CommandError("nothing was forgotten")
    gone = server.ask("POST", "api/person/forget", whose)
    if gone["reindexing"]:
        # Where no server runs the stores are open only as long as this does.
        wait_for_index(server, as_json)
    if as_json:
        output.as_json(gone)
        return
    say = output.screen().print
    say(f"forgotten: {wording.count(sum(gone['forgotten'].values()), 'row')} of {name}")
    for file in gone["files"]:
        say(f"deleted or changed: {file}")
    for fault in gone["faults"]:
        say(f"! not everything went: {fault}")
    if not gone["scrubbed"]:
        say("traces are left in the database's log until the server is idle for a moment")


def person_records(server: RunningServer, whose: dict[str, str]) -> Iterator[dict[str, Any]]:
    """All that is held of a person: a report first, then every row of theirs, table by table."""
    report = server.ask("GET", "api/person", whose)
    yield {"sort": "person", **report}
    for table in report["tables"]:
        after = 0
        while True:
            lines = server.lines(f"api/person/{table}", {**whose, "after": after, "limit": PIECE})
            rows = [orjson.loads(line) for line in lines]
            yield from rows
            after += len(rows)
            if len(rows) < PIECE:
                break


def _print_report(report: dict[str, Any]) -> None:
    say = output.screen().print
    say("would go:" if report["would_go"] else f"nothing is held of {report['user']}")
    for table, rows in report["would_go"].items():
        say(f"  {table:<20}{rows:>10,}")
    others = (
        ("shared_alone", "shared facts that nobody else said"),
        ("research", "pieces of research of their agents"),
    )
    for key, words in others:
        if report[key]:
            say(f"  {report[key]} {words}")
    if named := [*report["keys"], *report["tokens"]]:
        say(f"  keys and tokens: {', '.join(named)}")
    say("would stay:")
    for sentence in report["stays"]:
        say(f"  {sentence}")
