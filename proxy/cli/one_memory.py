"""``palimpsest fact``: one memory, with where it came from and how strong it is."""

from __future__ import annotations

from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes
from proxy.cli.history import draw
from proxy.cli.options import Id
from proxy.cli.provenance import came


@takes("user")
def fact(
    call: Call,
    id: Id,
    curve: Annotated[bool, typer.Option("--curve", help="Draw its strength, to a year from now.")] = False,
) -> None:
    """Show one memory with everything that is known of it."""
    console = output.screen()
    columns = max(output.drawing_columns() - 10, 20)
    if curve:
        response = call.ask("GET", f"api/facts/{id}/curve", {"limit": min(columns, 1000)})
    else:
        response = call.ask("GET", f"api/facts/{id}")
    if curve and not call.as_json:
        for line in draw(response, columns):
            console.print(line)
    elif call.as_json:
        output.as_json(response)
    else:
        source = response.pop("came_from")
        output.memory(response)
        came(source)
