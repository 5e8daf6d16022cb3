"""Commands that change how memory works: pause, resume, reindex, another embedder."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import Annotated, Any

import typer

from proxy.cli import output, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.server import RunningServer

EVERY = 0.2
"""Seconds between two looks at the progress."""


@takes()
def pause(call: Call) -> None:
    """Learn nothing and add nothing new until `resume`."""
    _switch("pause", call, begins=True)


@takes()
def resume(call: Call) -> None:
    """Let memory take part again."""
    _switch("resume", call)


def _switch(to: str, call: Call, begins: bool = False) -> None:
    response = call.ask("POST", f"api/{to}", begins=begins)
    if call.as_json:
        output.as_json(response)
    else:
        print("memory is paused: nothing is learned and nothing new is added" if response["paused"] else "memory is on")


@takes()
def reindex(call: Call) -> None:
    """Fill the index anew from the journal, beside the one in use."""
    with call.reach() as server:
        server.ask("POST", "api/reindex", body={})
        outcome = wait_for_index(server, call.as_json)
    progress = outcome["progress"]
    if call.as_json:
        output.as_json(outcome)
    else:
        print(f"the index holds {wording.count(progress['total'], 'memory')} ({progress['embedder']})")


@takes()
def embedder(call: Call) -> None:
    """Say which embedder is used, and which there are."""
    response = call.ask("GET", "api/embedder")
    if call.as_json:
        output.as_json(response)
    else:
        print(f"{response['name']}, {response['dimensions']} dimensions; there are: {', '.join(response['names'])}")


@takes()
def use(
    call: Call,
    name: Annotated[str, typer.Argument(help="static, minilm, fastembed:NAME or litellm:NAME", metavar="NAME")],
) -> None:
    """Change the embedder: a new index is filled beside the one in use, then takes its place."""
    with call.reach(begins=True) as server:
        server.ask("POST", "api/embedder", body={"use": name})
        outcome = wait_for_index(server, call.as_json)
    if call.as_json:
        output.as_json(outcome)
    else:
        print(f"{outcome['progress']['embedder']} is used now, and after the next start")


def wait_for_index(server: RunningServer, quiet: bool) -> dict[str, Any]:
    """The progress when it is finished, with a bar meanwhile.

    Raises:
        Fault: when it was given up.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("filling the index"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with output.progress(*columns, quiet=quiet) as bar:
        task = bar.add_task("index", total=None)
        while True:
            response = server.ask("GET", "api/reindex")
            progress = response["progress"]
            if progress is not None:
                bar.update(task, total=progress["total"] or None, completed=progress["done"])
                if progress["finished"] and not response["running"]:
                    break
            time.sleep(EVERY)
    if progress["fault"]:
        raise CommandError(f"the index in use stays: {progress['fault']}")
    return response


def extract(
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line; the only format there is.")] = False,
    assistant: Annotated[bool, typer.Option("--assistant", help="Read the assistant's words too.")] = False,
    at: Annotated[str | None, typer.Option("--at", help="When it was said (ISO 8601).", show_default="now")] = None,
) -> None:
    """Read {"id", "messages"} from standard input and print {"id", "facts"}; nothing is stored."""
    from memory.learning.offline import extract_jsonl

    if not jsonl:
        raise CommandError("say --jsonl: one conversation a line", 2)
    try:
        when = (datetime.fromisoformat(at) if at else datetime.now()).astimezone()
    except ValueError:
        raise CommandError(f"--at {at!r} is no time: write it like 2026-03-04T15:30", 2) from None
    try:
        for line in extract_jsonl(sys.stdin, when, assistant=assistant):
            sys.stdout.write(line + "\n")
    except ValueError as error:
        raise CommandError(str(error)) from error
    sys.stdout.flush()
