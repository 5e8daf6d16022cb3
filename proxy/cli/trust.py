"""``palimpsest trust``: let a folder's ``.palimpsest.toml`` name the project that it belongs to, and those that this
one is shared with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proxy.cli import output
from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.cli.prompts import sure
from proxy.marker import NAME, TRUSTED, Marked, Markers, TrustedNames, TrustedProjects, key_of


def trust(
    folder: Annotated[Path, typer.Argument(help="The folder in which the file lies.", metavar="FOLDER")] = Path(),
    undo: Annotated[bool, typer.Option("--undo", help="Let it name none any more.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without asking.")] = False,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Let a folder's .palimpsest.toml name its project: it has that project's memories, and teaches it. With
    shared_with, what is remembered of it is recalled in these projects, too.

    For this file and these names: one that comes along with a clone, or names others later, counts for nothing until
    you say so."""
    kept = loaded(home, config).settings.home / TRUSTED
    file = Path(key_of(folder.expanduser() / NAME))
    trusted = TrustedProjects(kept)
    try:
        names = trusted.to_change()
    except OSError as error:
        raise CommandError(f"{kept} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{kept} is damaged, and nothing was changed: mend it, or move it away") from error
    found = Marked()
    if undo:
        if names.pop(str(file), None) is None:
            raise CommandError(f"{file} is not trusted")
    else:
        found = Markers().file(file)
        if found.project is None:
            what = "names no project" if file.exists() else "is not there"
            raise CommandError(found.why or f'{file} {what}: write project = "NAME" into it')
        names[str(file)] = TrustedNames(found.project, found.shared_with) if found.shared_with else found.project
        asked = f"{_meaning(file, found)} Trust it?"
        if as_json and not yes:
            raise CommandError(f"{asked} Say --yes", 2)
        sure(asked, yes)
    try:
        trusted.write(names)
    except OSError as error:
        raise CommandError(f"{kept} cannot be written: {error.strerror}") from error
    if as_json:
        output.as_json({"file": str(file), "project": found.project, "shared_with": list(found.shared_with)})
    else:
        shared = f", shared with {', '.join(found.shared_with)}" if found.shared_with else ""
        named = f"the project {found.project}{shared}" if found.project else "no project any more"
        print(f"{file} names {named}; running servers know it")


def _meaning(file: Path, found: Marked) -> str:
    given = f"What is remembered of {found.project!r} is given to agents below {file.parent}, and they teach it."
    if not found.shared_with:
        return given
    others = ", ".join(map(repr, found.shared_with))
    return f"{given} It is also recalled in {others}, wherever these are."
