"""``palimpsest confirm`` and ``palimpsest update``: say that a fact still holds, or what holds now."""

from __future__ import annotations

from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes

Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]


@takes("user")
def confirm(call: Call, id: Id) -> None:
    """Say that a fact still holds: it counts as your own word, and wins over what contradicts it, exceptions apart."""
    response = call.ask("POST", f"api/facts/{id}/confirm", body={})
    if call.as_json:
        output.as_json(response)
    else:
        output.screen().print(f"confirmed {response['id'][: output.SHORT]}: {response['text']}")


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
