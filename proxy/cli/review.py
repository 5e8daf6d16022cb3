"""``palimpsest review``: what was read with doubt, for a yes or a no, one key each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from proxy.cli import output, prompts
from proxy.cli.call import Call, takes
from proxy.cli.server import RunningServer

KEYS = "a: that holds · e: it holds in other words · r: it was of the moment · d: later · q: enough"


@takes("project", "at_here", "user")
def review(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many drafts.")] = 20,
) -> None:
    """Go through what was read with doubt: nothing of it is shown to a model before it is said again or approved."""
    with call.reach() as server:
        asked = call.scope(server)
        drafts = server.ask("GET", "api/facts", {**asked, "state": "draft", "limit": limit})["facts"]
        call.look_elsewhere(server, drafts)
        if call.as_json:
            output.as_json({"drafts": drafts})
        elif not drafts:
            output.screen().print("nothing waits: what is read with doubt is put here")
        elif sys.stdin.isatty():
            one_by_one(server, asked, drafts, prompts.key)
        else:
            _listed(drafts)


def _listed(drafts: Sequence[Mapping[str, Any]]) -> None:
    console = output.screen()
    for each in drafts:
        console.print(
            f"{each['id'][: output.SHORT]}  {output.day(each['valid_from'])}  {each['confidence']:.2f}  "
            f"{output.where(each['owner'])}: {each['text']}",
            soft_wrap=True,
        )
    console.print("palimpsest confirm ID says that one holds; on a terminal this asks about one after the other")


def one_by_one(
    server: RunningServer, asked: Mapping[str, Any], drafts: Sequence[Mapping[str, Any]], key: Callable[[], str]
) -> None:
    """Show each draft and do what the next key says."""
    console = output.screen()
    console.print(KEYS)
    for place, each in enumerate(drafts, 1):
        console.print(f"\n{place} of {len(drafts)}  {output.day(each['valid_from'])}  {output.where(each['owner'])}")
        console.print(each["text"], soft_wrap=True)
        done = _decided(server, asked, each, key)
        if not done:
            return
        console.print(f"  {done}")


def _decided(server: RunningServer, asked: Mapping[str, Any], each: Mapping[str, Any], key: Callable[[], str]) -> str:
    """What was done with a draft; empty where the person has had enough."""
    path = f"api/facts/{each['id']}"
    while True:
        match key().lower():
            case "a":
                server.ask("POST", f"{path}/confirm", asked, {})
                return "holds"
            case "r":
                server.ask("POST", f"{path}/dismiss", asked, {})
                return "dismissed"
            case "e":
                if text := (prompts.edited(each["text"] + "\n", "draft.md") or "").strip():
                    server.ask("POST", f"{path}/update", asked, {"text": text})
                    return "holds in these words"
            case "d":
                return "later"
            case "q" | "\x1b":
                return ""


Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]


@takes("user")
def confirm(call: Call, id: Id) -> None:
    """Say that a fact still holds: it counts as your own word, and wins over what contradicts it, exceptions apart."""
    response = call.ask("POST", f"api/facts/{id}/confirm", body={})
    if call.as_json:
        output.as_json(response)
    else:
        output.screen().print(f"confirmed {response['id'][: output.SHORT]}: {response['text']}")
        if beside := response.get("contradicts"):
            ids = ", ".join(each[: output.SHORT] for each in beside)
            output.screen().print(f"what may hold beside it stays: {ids}; `palimpsest forget ID` ends what does not")


@takes("user")
def update(
    call: Call,
    id: Id,
    text: Annotated[str, typer.Argument(help="What holds now.", metavar="TEXT")],
) -> None:
    """Say what holds now in a fact's place; the old one stays in its history."""
    response = call.ask("POST", f"api/facts/{id}/update", body={"text": text})
    if call.as_json:
        output.as_json(response)
    else:
        output.screen().print(f"updated, now {response['id'][: output.SHORT]}: {response['text']}")
