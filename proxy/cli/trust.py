"""``palimpsest trust``: let a folder's ``.palimpsest.toml`` name the project that it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.cli.prompts import agreed
from proxy.marker import NAME, TRUSTED, Markers, TrustedProjects


def trust(
    folder: Annotated[Path, typer.Argument(help="The folder in which the file lies.", metavar="FOLDER")] = Path(),
    undo: Annotated[bool, typer.Option("--undo", help="Let it name none any more.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without asking.")] = False,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Let a folder's .palimpsest.toml name its project: it has that project's memories, and teaches it.

    For this file and this name: one that comes along with a clone, or names another project later, counts for nothing
    until you say so."""
    kept = loaded(home, config).settings.home / TRUSTED
    file = folder.expanduser().absolute() / NAME
    trusted = TrustedProjects(kept)
    names = dict(trusted.named())
    if undo:
        project = names.pop(str(file), None)
        if project is None:
            raise CommandError(f"{file} is not trusted")
    else:
        found = Markers().file(file)
        if found.project is None:
            raise CommandError(found.why or f'{file} names no project: write project = "NAME" into it')
        project = names[str(file)] = found.project
        asked = (
            f"What is remembered of {project!r} is given to agents below {file.parent}, and they teach it. Trust it?"
        )
        if not agreed(asked, yes or as_json):
            raise CommandError("nothing was changed")
    try:
        trusted.write(names)
    except OSError as error:
        raise CommandError(f"{kept} cannot be written: {error.strerror}") from error
    if as_json:
        output.as_json({"file": str(file), "project": None if undo else project})
    else:
        print(f"{file} names {'no project any more' if undo else f'the project {project}'}; running servers know it")
