"""What a project has approved, as a file of its repository: ``export --to`` and ``import`` of its folder."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from memory.private_files import share
from proxy.cli import output, wording
from proxy.cli.call import Call
from proxy.cli.faults import CommandError
from proxy.cli.server import RunningServer

FOLDER = ".palimpsest"
NAME = "knowledge.md"


def is_tracked(path: Path) -> bool:
    """Whether a path is such a folder, or the file in it: what it says is proposed, and never anybody's own word."""
    at = path.absolute()
    return (at.name == FOLDER and at.is_dir()) or (at.name == NAME and at.parent.name == FOLDER)


def give_out(call: Call, folder: Path) -> None:
    """Write what is approved for the folder's project into its file."""
    folder = folder.expanduser().absolute()
    file = folder / NAME
    with call.reach() as server:
        asked = call.scope(server) | _project(call, server, folder)
        before = _text(file)
        told = server.ask("POST", "api/tracked/text", asked, {"text": before})
    if told["rules"] and told["text"] != before:
        folder.mkdir(exist_ok=True)
        _write(file, told["text"])
    if call.as_json:
        output.as_json({"file": str(file), **{name: told[name] for name in ("rules", "left", "differing")}})
        return
    if not told["rules"]:
        print(
            "nothing is approved for this project yet, so nothing was written: see `palimpsest candidates`, or "
            "`palimpsest promote ID --to project`",
            file=sys.stderr,
        )
        return
    print(f"{wording.count(told['rules'], 'rule')} in {file}", file=sys.stderr)
    if told["left"] or told["differing"]:
        others = f"{wording.count(told['left'], 'line')} of others'"
        differing = f"{told['differing']} with other words than were approved here"
        print(f"left as they are: {others}, {differing} (palimpsest import {folder.name})", file=sys.stderr)


def take_in(call: Call, server: RunningServer, path: Path, project: str | None, dry: bool) -> dict[str, Any]:
    """Propose what such a folder's file says; what became of it."""
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    asked = {"project": project or _project(call, server, folder)["project"], "user": call.user or ""}
    body = {"folder": str(folder.resolve()), "dry": dry}
    return server.ask("POST", "api/tracked/proposals", {name: value for name, value in asked.items() if value}, body)


def tell(told: dict[str, Any], dry: bool) -> None:
    """Print what was proposed, and by whom."""
    console = output.screen()
    would = "would be proposed" if dry else "proposed"
    for each in told["proposed"]:
        console.print(f"{would}: {each['text']}", soft_wrap=True, markup=False)
        console.print(f"  by {each['by']}", style="dim", soft_wrap=True, markup=False)
    counts = f"rules already: {told['known']}; proposed before: {told['before']}; forgotten before: {told['forgotten']}"
    console.print(counts)
    if told["more"]:
        console.print(f"{told['more']} more are proposed once these are decided: import it again")
    if told["proposed"] and not dry:
        console.print("they are rules only where you approve them: palimpsest candidates", style="dim")


def _project(call: Call, server: RunningServer, folder: Path) -> dict[str, str]:
    named = call.project or server.ask("GET", "api/project", {"directory": str(folder.resolve().parent)})["project"]
    if not named:
        raise CommandError("which project it is about cannot be told: say --project", 2)
    return {"project": str(named)}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _write(file: Path, text: str) -> None:
    """Put it in the file's place when it is whole. It is the repository's, and can be read by whoever can read that."""
    if file.is_symlink():
        raise CommandError(f"{file} is a link: it is not written")
    beside = file.with_name(file.name + ".part")
    try:
        beside.write_text(text, encoding="utf-8")
        share(beside)
        os.replace(beside, file)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
