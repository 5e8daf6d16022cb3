"""``palimpsest key``: the key of this installation, and a new one in its place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from proxy.auth import installation_key
from proxy.auth.installation_key import InstallationKey
from proxy.cli.connecting import ORIGINALS_FOLDER
from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.connect import connected_files


def key(
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new one; the one before opens nothing more.")
    ] = False,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Show the key that opens memory, which `connect` writes into base URLs, or make a new one."""
    folder = loaded(home, config).settings.home
    file = folder / installation_key.FILE
    try:
        if rotate:
            installation_key.write_new_key(file)
        value = InstallationKey(file).value
    except OSError as error:
        raise CommandError(f"{file} cannot be read or written: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(f"{error}: `palimpsest key --rotate` makes a new one") from error
    older = [str(each) for each in _with_another_key(folder / ORIGINALS_FOLDER, value)]
    if as_json:
        print(json.dumps({"key": value, "rotated": rotate, "connect_again": older}))
        return
    print(value)
    if rotate:
        print(
            "every runtime that was connected before gets no memory until it is connected again, by each of its users",
            file=sys.stderr,
        )
    for each in older:
        print(
            f"another key stands in {each}: connect its runtime again (palimpsest connect NAME --write)",
            file=sys.stderr,
        )


def _with_another_key(originals: Path, value: str) -> Iterator[Path]:
    """Files of runtimes that were connected with a key which opens nothing any more."""
    for file in connected_files(originals):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if installation_key.installation_keys_in(text) - {value}:
            yield file
