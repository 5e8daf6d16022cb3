"""``palimpsest sync``: two machines of one person bring their memories together, over a folder that both can reach."""

from __future__ import annotations

import json
import platform
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from memory.scope import OWN_PROJECT
from proxy.cli import output, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.machines import FOLDER, Entry, Machine, plan, read, write, written
from proxy.cli.server import RunningServer

PIECE = 200
"""Records that are sent at once."""

IDS = 1000
SORTS = ("fact", "passage")


@takes("user")
def sync(
    call: Call,
    folder: Annotated[Path, typer.Argument(help="A folder that the other machine reaches too.", metavar="DIR")],
    restricted: Annotated[
        bool, typer.Option("--restricted", help="Also what is confidential or restricted leaves this machine.")
    ] = False,
) -> None:
    """Bring together what this machine and others of yours remember, over a folder: a share, or a git checkout.

    Run it on each machine; what one has forgotten the others forget. Where they contradict each other, both stay,
    unsettled (palimpsest conflicts). What is confidential or restricted stays here unless you ask."""
    if not folder.expanduser().is_dir():
        raise CommandError(f"there is no folder {folder}", 2)
    place = folder.expanduser() / FOLDER
    with call.reach(begins=True) as server:
        own = _own_machine_name(call.loaded().settings.home)
        told = _synced(server, call.scope(server), place, own, restricted)
    if call.as_json:
        output.as_json(told)
    else:
        _tell(told)


def _synced(server: RunningServer, asked: dict[str, str], place: Path, own: str, restricted: bool) -> dict[str, Any]:
    machines = {machine.id: machine for machine in read(place)} if place.is_dir() else {}
    known = machines.pop(own, Machine(own))
    others = list(machines.values())
    here = _own_records(server, asked)
    lost = _forgotten_since(server, asked, known, here)
    todo = plan(here, known, others, lost)
    # What lies in quarantine here is known and stays as it is.
    held_back = _there(server, asked, todo.new)
    new = [entry for id, entry in todo.new.items() if id not in held_back]
    gone = 0
    for piece in _pieces(todo.gone, IDS):
        if left := sorted(_there(server, asked, piece)):
            server.ask("POST", "api/forget", asked, {"ids": left})
            gone += len(left)
    theirs = {id for machine in others for id in machine.entries}
    compare = any(record["sort"] == "fact" and id not in theirs for id, record in here.items())
    counts = {"new": 0, "changed": 0}
    buried: list[str] = []
    rivals: dict[str, list[str]] = {}
    faults: list[str] = []
    for body in _request_bodies(list(todo.changed.values()), new):
        done = server.ask("POST", "api/sync", asked, {**body, "compare": compare})
        counts = {name: number + done[name] for name, number in counts.items()}
        buried += done["buried"]
        faults += done["faults"]
        # What stands on one machine together stood there so before: only what is new to each other is compared.
        apart = {id: [each for each in found if each not in theirs] for id, found in done["rivals"].items()}
        rivals |= {id: found for id, found in apart.items() if found}
    pairs = 0
    for ids in _pieces(rivals, IDS):
        pairs += server.ask("POST", "api/sync/unsettled", asked, {"rivals": {id: rivals[id] for id in ids}})["pairs"]
    after = {id: record for id, record in _own_records(server, asked).items() if _leaves(record, restricted)}
    entries = written(after, known, others, [*lost, *buried], datetime.now().astimezone())
    write(place, Machine(own, platform.node(), entries))
    return {
        "machines": [machine.name or machine.id for machine in others],
        **counts,
        "forgotten": gone,
        "unsettled": pairs,
        "kept_back": sum(not _leaves(record, restricted) for record in here.values()),
        "written": sum(entry.record is not None for entry in entries.values()),
        "faults": faults,
    }


def _own_machine_name(home: Path) -> str:
    """What this machine is called in the folder: made once."""
    file = home / "sync.json"
    if file.exists():
        try:
            return str(json.loads(file.read_text(encoding="utf-8"))["machine"])
        except (ValueError, KeyError, TypeError):
            raise CommandError(
                f"{file} is damaged: take it from a backup, or delete it to begin as a new machine"
            ) from None
    name = secrets.token_hex(8)
    file.touch(mode=0o600)
    file.write_text(json.dumps({"machine": name}) + "\n", encoding="utf-8")
    return name


def _own_records(server: RunningServer, asked: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What the person has: their own facts and passages, of projects that have a name."""
    found: dict[str, dict[str, Any]] = {}
    for owner in server.ask("GET", "api/export", asked)["owners"]:
        if not owner.startswith(("u:", "up:")) or f"/{OWN_PROJECT.strip()}%20" in owner:
            continue
        for sort in SORTS:
            after = ""
            while True:
                query = {"owner": owner, "after": after, "limit": IDS, **asked}
                piece = [orjson.loads(line) for line in server.lines(f"api/export/{sort}", query)]
                found |= {record["id"]: record for record in piece if _is_own(record)}
                if len(piece) < IDS:
                    break
                after = piece[-1]["id"]
    return found


def _is_own(record: Mapping[str, Any]) -> bool:
    """Whether a memory was said: each machine's nights, and what is seen in how work is done there and in the files of
    its checkouts, are its own."""
    return not record.get("derived_from") and record["origin"] not in ("behaviour", "file")


def _leaves(record: Mapping[str, Any], restricted: bool) -> bool:
    return restricted or record["sensitivity"] == "normal"


def _forgotten_since(
    server: RunningServer, asked: dict[str, str], known: Machine, here: Mapping[str, Any]
) -> list[str]:
    """What this machine told the last time and has forgotten since."""
    away = {id: entry.record for id, entry in known.entries.items() if entry.record is not None and id not in here}
    there = _there(server, asked, away)
    lost: list[str] = []
    for piece in _pieces((record for id, record in away.items() if id not in there), PIECE):
        lost += server.ask("POST", "api/sync/forgotten", asked, {"records": piece})["forgotten"]
    return lost


def _there(server: RunningServer, asked: dict[str, str], ids: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for piece in _pieces(ids, IDS):
        found |= set(server.ask("POST", "api/sync/there", asked, {"ids": list(piece)})["there"])
    return found


def _request_bodies(changed: Sequence[Entry], new: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """What is sent, changes first: a fact that was ended elsewhere is no rival of what ended it."""
    for piece in _pieces(changed, PIECE):
        yield {"changed": [entry.record for entry in piece]}
    for piece in _pieces(new, PIECE):
        yield {"new": [entry.record for entry in piece]}


def _pieces(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece


def _tell(told: Mapping[str, Any]) -> None:
    others = ", ".join(told["machines"])
    print(f"with {others}" if others else "no other machine has written there yet: run this on it, too")
    came = f"{wording.count(told['new'], 'memory')} came, {told['changed']} changed, {told['forgotten']} forgotten"
    print(f"{came}; {wording.count(told['written'], 'memory')} written for the others")
    if told["unsettled"]:
        pairs = wording.count(told["unsettled"], "contradiction")
        print(f"{pairs} to settle: `{wording.program()} conflicts` shows them, `confirm ID` settles one")
    if told["kept_back"]:
        print(f"{told['kept_back']} confidential or restricted stay here (--restricted gives them too)")
    for fault in told["faults"]:
        print(f"not taken: {fault}")
