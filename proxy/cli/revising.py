"""``palimpsest confirm`` and ``palimpsest update``: say that a fact still holds, or what holds now."""

from __future__ import annotations

from typing import Annotated

import typer

from proxy.cli import shown
from proxy.cli.options import ConfigFile, Home, Json, User, loaded, scope
from proxy.cli.reach import reach

Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]


def confirm(id: Id, user: User = None, as_json: Json = False, home: Home = None, config: ConfigFile = None) -> None:
    """Say that a fact still holds: it counts as your own word, and wins over what contradicts it."""
    with reach(loaded(home, config)) as server:
        told = server.ask("POST", f"api/facts/{id}/confirm", scope(server, None, False, user), {})
    if as_json:
        shown.as_json(told)
    else:
        shown.screen().print(f"confirmed {told['id'][: shown.SHORT]}: {told['text']}")


def update(
    id: Id,
    text: Annotated[str, typer.Argument(help="What holds now.")],
    user: User = None,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Say what holds now in a fact's place; the old one stays in its history."""
    with reach(loaded(home, config)) as server:
        told = server.ask("POST", f"api/facts/{id}/update", scope(server, None, False, user), {"text": text})
    if as_json:
        shown.as_json(told)
    else:
        shown.screen().print(f"updated, now {told['id'][: shown.SHORT]}: {told['text']}")
