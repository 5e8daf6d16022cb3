"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proxy.cli.server import RunningServer
from proxy.setting_sources import data_folder as _data_folder

# What checks settings takes as long to import as all that a command needs to ask a server.
if TYPE_CHECKING:
    from proxy.settings import Loaded

Home = Annotated[Path | None, typer.Option("--home", help="The data folder.", show_default="~/.palimpsest")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="The settings file.", show_default="config.yaml in the data folder")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[str | None, typer.Option("--project", "-p", help="Only this project and what holds in all.")]
Here = Annotated[bool, typer.Option("--here", help="The project of this folder.")]
Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]
User = Annotated[str | None, typer.Option("--user", help="Another user than the settings'.")]


def loaded(home: Path | None = None, config: Path | None = None, **options: Any) -> Loaded:
    """The settings in force. Options that are None were not given; dots are written as ``__``.

    Without ``--config`` (or PALIMPSEST_CONFIG) the file ``config.yaml`` in the data folder is read where there is one.

    Raises:
        SettingsError: with everything that is wrong.
    """
    from proxy.settings import load

    given = {key.replace("__", "."): value for key, value in options.items() if value is not None}
    if home is not None:
        given["home"] = str(home)
    return load(settings_file(home, config), os.environ, given)


def data_folder(home: Path | None = None, config: Path | None = None) -> Path:
    """The data folder in force, by which a running server is found: nothing else of the settings is read.

    Raises:
        SettingsError: when they cannot be read at all.
    """
    return _data_folder(settings_file(home, config), os.environ, home) or loaded(home, config).settings.home


def settings_file(home: Path | None, config: Path | None) -> Path | None:
    """The file of the settings that a command is to read; None where there is none."""
    file = config or (Path(configured) if (configured := os.environ.get("PALIMPSEST_CONFIG")) else None)
    if file is None:
        folder = Path(str(home or os.environ.get("PALIMPSEST_HOME") or "~/.palimpsest")).expanduser()
        # Whatever lies there: a folder, or a link that leads nowhere, is told and not taken for no file.
        file = folder / "config.yaml" if os.path.lexists(folder / "config.yaml") else None
    return file.expanduser() if file else None


def here(server: RunningServer) -> str:
    """The project of this folder, by the name that the server gives it."""
    return str(server.ask("GET", "api/project", {"directory": str(Path.cwd())})["project"])
