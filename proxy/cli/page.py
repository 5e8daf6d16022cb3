"""``palimpsest page``: MEMORY.md of a project, shown, and edited as the files that it is made of."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes
from proxy.cli.holders import hints
from proxy.cli.prompts import edited

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
    with call.reach(begins=edit or write is not None) as server:
        query = replace(call, at_here=call.project is None).scope(server)
        response = server.ask("GET", "api/page", query)
        changes: dict[str, Any] = {}
        elsewhere: list[str] = []
        if edit:
            after = edited(joined(response), "MEMORY.md")
            changes = parted(after, response) if after is not None else {}
        elif write is not None:
            changes = {"own": sys.stdin.read() if str(write) == "-" else write.read_text(encoding="utf-8")}
        if changes:
            response = server.ask("PUT", "api/page", query, changes)
        elif call.project is not None and not call.as_json and not response["text"]:
            elsewhere = [*hints(server.ask("GET", "api/holders", query), call.project)]
    if call.as_json:
        output.as_json(response)
        return
    print(response["text"] or "nothing stands on it yet")
    for sentence in [*response["faults"], *elsewhere]:
        print(sentence, file=sys.stderr)
    print(response["file"], file=sys.stderr)


def joined(data: dict[str, Any]) -> str:
    """All files of a page as one text: the person's own words, and each stream behind a line with its file's name."""
    parts = [data["own"], *(f"<!-- file: {each['name']} -->\n{each['text']}" for each in data["files"] if each["text"])]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def parted(text: str, data: dict[str, Any]) -> dict[str, Any]:
    """What such a text changes. A file whose line is gone is left alone, so that nothing is lost by a slip."""
    pieces = _FILE.split(text)
    named = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    files = {
        each["stream"]: named[each["name"]].strip() + "\n"
        for each in data["files"]
        if each["name"] in named and named[each["name"]].strip() != each["text"].strip()
    }
    own = pieces[0].strip()
    return {"files": files} | ({"own": own} if own != data["own"] else {})
