"""``palimpsest page``: MEMORY.md of a project, shown, and edited as the files that it is made of."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import shown
from proxy.cli.call import Call, takes
from proxy.cli.editing import edited

_FILE = re.compile(r"^<!-- file: ([\w.-]{1,80}) -->[ \t]*\n?", re.MULTILINE)


@takes("project", "user")
def page(
    call: Call,
    edit: Annotated[bool, typer.Option("--edit", help="Change it in your editor; memory follows.")] = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Take your own words from a file; - reads standard input.")
    ] = None,
) -> None:
    """Show MEMORY.md, the page that every session of a project begins with, or change it."""
    with call.reach() as server:
        asked = replace(call, at_here=call.project is None).scope(server)
        told = server.ask("GET", "api/page", asked)
        changes: dict[str, Any] = {}
        if edit:
            after = edited(joined(told), "MEMORY.md")
            changes = parted(after, told) if after is not None else {}
        elif write is not None:
            changes = {"own": sys.stdin.read() if str(write) == "-" else write.read_text(encoding="utf-8")}
        if changes:
            told = server.ask("PUT", "api/page", asked, changes)
    if call.as_json:
        shown.as_json(told)
        return
    print(told["text"] or "nothing stands on it yet")
    for fault in told["faults"]:
        print(fault, file=sys.stderr)
    print(told["file"], file=sys.stderr)


def joined(told: dict[str, Any]) -> str:
    """All files of a page as one text: the person's own words, and each stream behind a line with its file's name."""
    parts = [told["own"], *(f"<!-- file: {each['name']} -->\n{each['text']}" for each in told["files"] if each["text"])]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def parted(text: str, told: dict[str, Any]) -> dict[str, Any]:
    """What such a text changes. A file whose line is gone is left alone, so that nothing is lost by a slip."""
    pieces = _FILE.split(text)
    named = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    files = {
        each["stream"]: named[each["name"]].strip() + "\n"
        for each in told["files"]
        if each["name"] in named and named[each["name"]].strip() != each["text"].strip()
    }
    own = pieces[0].strip()
    return {"files": files} | ({"own": own} if own != told["own"] else {})
