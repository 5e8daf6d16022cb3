"""``palimpsest key``: the key of this installation, and a new one in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from proxy.cli.connecting import KEPT
from proxy.cli.faults import Fault
from proxy.cli.options import ConfigFile, Home, Json, loaded
from proxy.connect import connected_files
from proxy.door import keys
from proxy.door.keys import InstallationKey


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
    file = folder / keys.FILE
    try:
        if rotate:
            keys.write_new_key(file)
        value = InstallationKey(file).value
    except OSError as error:
        raise Fault(f"{file} cannot be read or written: {error.strerror}") from error
    except ValueError as error:
        raise Fault(f"{error}: `palimpsest key --rotate` makes a new one") from error
    older = [str(each) for each in _with_another_key(folder / KEPT, value)]
    if as_json:
        print(json.dumps({"key": value, "rotated": rotate, "connect_again": older}))
        return
    print(value)
    for each in older:
        print(f"another key stands in {each}: connect its runtime again (palimpsest connect NAME --write)")


def _with_another_key(kept: Path, value: str) -> Iterator[Path]:
    """Files of runtimes that were connected with a key which opens nothing any more."""
    for file in connected_files(kept):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if keys.installation_keys_in(text) - {value}:
            yield file
