"""A passphrase from a file or from who sits at the terminal: never from the command line, which others can read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memory.stores.sealed import SHORTEST
from proxy.cli.faults import CommandError

_STDIN = "-"

File = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file", help="A file whose first line is the passphrase; - for standard input. Else it is asked."
    ),
]


def to_seal(file: Path | None) -> str:
    """The passphrase that something is to be sealed with; at a terminal it is asked for twice."""
    told = _told(file) if file is not None else _asked(again=True)
    if len(told) < SHORTEST:
        raise CommandError(f"the passphrase has {len(told)} characters; it needs at least {SHORTEST}", 2)
    return told


def to_open(file: Path | None) -> str:
    """The passphrase that something was sealed with."""
    return _told(file) if file is not None else _asked(again=False)


def _told(file: Path) -> str:
    if str(file) == _STDIN:
        line = sys.stdin.readline()
    else:
        try:
            with file.expanduser().open(encoding="utf-8") as stream:
                line = stream.readline()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"the passphrase cannot be read: {error}", 2) from None
    if not (told := line.rstrip("\r\n")):
        raise CommandError(f"there is no passphrase in {file}", 2)
    return told


def _asked(again: bool) -> str:
    if not sys.stdin.isatty():
        raise CommandError("a passphrase is needed: say --passphrase-file FILE", 2)
    told: str = typer.prompt("passphrase", hide_input=True, confirmation_prompt=again, err=True)
    return told
