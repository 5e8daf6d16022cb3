"""Commands that change how memory works: pause, resume, reindex, another embedder."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from proxy.cli import shown
from proxy.cli.faults import Fault
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.cli.reach import reach
from proxy.cli.server import Server

EVERY = 0.2
"""Seconds between two looks at the progress."""


def pause(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Learn nothing and add nothing new until `resume`."""
    _switch("pause", as_json, home, config)


def resume(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Let memory take part again."""
    _switch("resume", as_json, home, config)


def _switch(to: str, as_json: bool, home: Home, config: ConfigFile) -> None:
    with reach(loaded(home, config)) as server:
        told = server.ask("POST", f"api/{to}")
    if as_json:
        shown.as_json(told)
    else:
        print("memory is paused: nothing is learned and nothing new is added" if told["paused"] else "memory is on")


def reindex(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Fill the index anew from the journal, beside the one in use."""
    with reach(loaded(home, config)) as server:
        server.ask("POST", "api/reindex", body={})
        told = _wait(server, as_json)
    progress = told["progress"]
    if as_json:
        shown.as_json(told)
    else:
        print(f"the index holds {shown.count(progress['total'], 'memory')} ({progress['embedder']})")


def embedder(as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Say which embedder is used, and which there are."""
    with reach(loaded(home, config)) as server:
        told = server.ask("GET", "api/embedder")
    if as_json:
        shown.as_json(told)
    else:
        print(f"{told['name']}, {told['dimensions']} dimensions; there are: {', '.join(told['names'])}")


def use(
    name: Annotated[str, typer.Argument(help="static, minilm, fastembed:NAME or litellm:NAME")],
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Change the embedder: a new index is filled beside the one in use, then takes its place."""
    with reach(loaded(home, config)) as server:
        server.ask("POST", "api/embedder", body={"use": name})
        told = _wait(server, as_json)
    if as_json:
        shown.as_json(told)
    else:
        print(f"{told['progress']['embedder']} is used now, and after the next start")


def _wait(server: Server, quiet: bool) -> dict[str, Any]:
    """The progress when it is finished, with a bar meanwhile.

    Raises:
        Fault: when it was given up.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("filling the index"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("index", total=None)
        while True:
            told = server.ask("GET", "api/reindex")
            progress = told["progress"]
            if progress is not None:
                bar.update(task, total=progress["total"] or None, completed=progress["done"])
                if progress["finished"] and not told["running"]:
                    break
            time.sleep(EVERY)
    if progress["fault"]:
        raise Fault(f"the index in use stays: {progress['fault']}")
    return told
