"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli.server import RunningServer
from proxy.settings import Loaded, load

Home = Annotated[Path | None, typer.Option("--home", help="The data folder.", show_default="~/.palimpsest")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="The settings file.", show_default="config.yaml in the data folder")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[str | None, typer.Option("--project", "-p", help="Only this project and what holds in all.")]
Here = Annotated[bool, typer.Option("--here", help="The project of this folder.")]
User = Annotated[str | None, typer.Option("--user", help="Another user than the settings'.")]


def loaded(home: Path | None = None, config: Path | None = None, **options: Any) -> Loaded:
    """The settings in force. Options that are None were not given; dots are written as ``__``.

    Without ``--config`` (or PALIMPSEST_CONFIG) the file ``config.yaml`` in the data folder is read where there is one.

    Raises:
        SettingsError: with everything that is wrong.
    """
    given = {key.replace("__", "."): value for key, value in options.items() if value is not None}
    if home is not None:
        given["home"] = str(home)
    file = config or (Path(configured) if (configured := os.environ.get("PALIMPSEST_CONFIG")) else None)
    if file is None:
        folder = Path(str(home or os.environ.get("PALIMPSEST_HOME") or "~/.palimpsest")).expanduser()
        # Whatever lies there: a folder, or a link that leads nowhere, is told and not taken for no file.
        file = folder / "config.yaml" if os.path.lexists(folder / "config.yaml") else None
    return load(file.expanduser() if file else None, os.environ, given)


def here(server: RunningServer) -> str:
    """The project of this folder, by the name that the server gives it."""
    return str(server.ask("GET", "api/project", {"directory": str(Path.cwd())})["project"])
