"""``palimpsest quarantine``, and ``forget --from``: all memories that came from somewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from proxy.cli import output, prompts, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.server import RunningServer

BY = ("session", "program", "credential", "request", "project")
PIECE = 200
"""Memories that are forgotten in one call."""

From = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="WHAT=VALUE", help=f"Where from: {', '.join(f'{each}=…' for each in BY)}."),
]
Since = Annotated[str | None, typer.Option("--since", help="From then on: 2026-03-04, a time, or 2d, 12h ago.")]
Until = Annotated[str | None, typer.Option("--until", help="Before then, in the same words.")]
OriginOf = Annotated[
    list[str] | None,
    typer.Option("--origin", help="Whose word: user, assistant, file, tool, web, sub-agent, behaviour, person."),
]

_NAMES = {
    "program": "came from",
    "client_session": "its session",
    "session": "session",
    "credential": "credential",
    "request": "request",
    "model": "model",
}
_AGO = re.compile(r"(\d{1,5})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@takes("project", "at_here", "user")
def quarantine(
    call: Call,
    source: From = None,
    program: Annotated[str | None, typer.Option("--program", help="The same as --from program=…")] = None,
    since: Since = None,
    until: Until = None,
    origin: OriginOf = None,
    release: Annotated[bool, typer.Option("--release", help="Take it out of quarantine again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would be.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take out of recall and off the page all that came from somewhere, and what was derived from it; reversible.

    Without any option it shows what is in quarantine.
    """
    where = selection([*(source or ()), *([f"program={program}"] if program else ())], since, until, origin)
    with call.reach() as server:
        query = call.scope(server)
        if not where and not release:
            held = server.ask("GET", "api/quarantine", query)
            call.look_elsewhere(server, held["ids"])
            _show(held, call.as_json, "nothing is in quarantine")
            return
        found = server.ask("POST", "api/provenance", query, {**where, "held": release})
        if dry_run or not found["ids"]:
            call.look_elsewhere(server, found["ids"])
            nothing = "nothing that is remembered came from there"
            if release:
                nothing = "nothing that is in quarantine came from there" if where else "nothing is in quarantine"
            _show(found, call.as_json, nothing)
            return
        if not call.as_json:
            _show(found, False, "")
        count = wording.count(len(found["ids"]), "memory")
        prompts.sure(f"Take {count} out of quarantine?" if release else f"Put {count} into quarantine?", yes)
        response = server.ask("POST", "api/quarantine", query, {**where, "release": release})
    if call.as_json:
        output.as_json(response)
        return
    print(f"{wording.count(len(response['ids']), 'memory')} {'released' if release else 'in quarantine'}")
    _warn(response, release)


def selection(
    source: Sequence[str] | None, since: str | None, until: str | None, origin: Sequence[str] | None
) -> dict[str, Any]:
    """The options as the endpoints take them; empty where none was given.

    Raises:
        Fault: when one of them is not right.
    """
    by = {}
    for each in source or ():
        kind, mark, value = each.partition("=")
        if not mark or kind not in BY or not value.strip():
            raise CommandError(f"--from {each}: say one of {', '.join(f'{name}=…' for name in BY)}", 2)
        by[kind] = value.strip()
    fields = {"from": by, "origins": list(origin or ()), "since": moment(since), "until": moment(until)}
    return {key: value for key, value in fields.items() if value}


def moment(text: str | None) -> str | None:
    """A time, or so long ago, as ISO 8601.

    Raises:
        Fault: when it is neither.
    """
    if text is None:
        return None
    if ago := _AGO.fullmatch(text.strip()):
        span = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return (datetime.now().astimezone() - span).isoformat()
    return _time(text, "2d, 12h, 30m ago").isoformat()


def _time(text: str, spans: str) -> datetime:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise CommandError(f"{text!r} is no time: say 2026-03-04, 2026-03-04T15:00, or {spans}", 2) from None
    return at if at.tzinfo else at.astimezone()


def moment_after(text: str | None) -> datetime | None:
    """A time to come: so long from now, or a day.

    Raises:
        Fault: when it is neither, or is over.
    """
    if text is None:
        return None
    now = datetime.now().astimezone()
    if ahead := _AGO.fullmatch(text.strip()):
        return now + timedelta(**{_UNITS[ahead[2]]: int(ahead[1])})
    at = _time(text, "30d, 12h, 30m from now")
    if at <= now:
        raise CommandError(f"{text} is over", 2)
    return at


def forget_from(
    server: RunningServer, query: Mapping[str, str], where: Mapping[str, Any], dry_run: bool, yes: bool, as_json: bool
) -> dict[str, Any] | None:
    """Forget all that came from somewhere, in quarantine too, and what was derived from it; None where that was only
    shown."""
    found = _from_there(server, query, where)
    if dry_run or not found["ids"]:
        _show(found, as_json, "nothing that is remembered came from there")
        return None
    if not as_json:
        _show(found, False, "")
    prompts.sure(f"Forget {wording.count(len(found['ids']), 'memory')} for good?", yes)
    whole: dict[str, Any] = {}
    for id in found["research"]:
        server.ask("DELETE", f"api/research/{id}", query)
    gone: set[str] = set()
    while left := _left(server, query, where, gone):
        response = server.ask("POST", "api/forget", query, {"ids": left})
        gone |= {*left, *response["forgotten"]["facts"], *response["forgotten"]["passages"]}
        whole = _added(whole, response)
    return whole


def came(source: Mapping[str, Any]) -> None:
    """Where a memory came from."""
    print()
    for key, name in _NAMES.items():
        if source.get(key):
            print(f"{name}: {source[key]}")


def _from_there(server: RunningServer, query: Mapping[str, str], where: Mapping[str, Any]) -> dict[str, Any]:
    """All that came from somewhere, in quarantine too, once everything is learned that was said."""
    while True:
        free = server.ask("POST", "api/provenance", query, dict(where))
        if not free["behind"]:
            held = server.ask("POST", "api/provenance", query, {**where, "held": True})
            return {key: [*free[key], *held[key]] for key in free if key != "behind"}


def _left(server: RunningServer, query: Mapping[str, str], where: Mapping[str, Any], gone: set[str]) -> list[str]:
    return [id for id in _from_there(server, query, where)["ids"] if id not in gone][:PIECE]


def _added(whole: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    if not whole:
        return added
    return {
        "forgotten": {name: whole["forgotten"][name] + value for name, value in added["forgotten"].items()},
        "files": [*dict.fromkeys((*whole["files"], *added["files"]))],
        "faults": [*dict.fromkeys((*whole["faults"], *added["faults"]))],
        "damaged": whole["damaged"] + added["damaged"],
        "scrubbed": added["scrubbed"],
        "behind": added["behind"],
    }


def _show(found: Mapping[str, Any], as_json: bool, nothing: str) -> None:
    if as_json:
        output.as_json(found)
        return
    output.memories(found["memories"], nothing)
    if found["derived"]:
        print("\nderived from these:")
        output.memories(found["derived"], "")
    more = len(found["ids"]) - len(found["memories"]) - len(found["derived"])
    if more > 0:
        print(f"and {more} more")
    if found["research"]:
        print(f"and {len(found['research'])} of what sub-agents found out")


def _warn(data: Mapping[str, Any], release: bool) -> None:
    if data["approved"] and not release:
        ids = ", ".join(id[: output.SHORT] for id in data["approved"])
        print(f"! approved as rules for others, whose lines stay in files: {ids} (palimpsest approve --undo)")
    if data["ended"] and not release:
        ids = ", ".join(id[: output.SHORT] for id in data["ended"])
        print(f"! these had taken the place of {ids}: palimpsest confirm ID says that one holds again")
    if data["behind"] and not release:
        print(f"still to be learned from: {wording.count(data['behind'], 'exchange')}")
        print("what came from there in these follows by itself")
    if not release:
        print("what sessions under way were given before stays in them; new ones do not get it")
