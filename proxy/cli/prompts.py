"""Questions to who sits at the terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from memory.stores.sealed import SHORTEST
from proxy.cli.faults import CommandError


def is_interactive() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def agreed(question: str, yes: bool = False) -> bool:
    """Whether a person says yes, now or before; Enter is a yes."""
    return yes or typer.confirm(question, default=True)


def key() -> str:
    """The key that is pressed next, q for Ctrl-C and Ctrl-D; from what is no terminal the first letter of a line, and
    q at its end."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()[:1] or "q"
    try:
        return typer.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"


def edited(text: str, name: str) -> str | None:
    """A text after a person's editor has closed, shown as a file of that name; None where nothing was changed.

    Raises:
        Fault: when the editor cannot be started, or fails.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="palimpsest-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)
        except OSError as error:
            raise CommandError(f"the editor {editor!r} cannot be started: {error.strerror}; set EDITOR") from error
        if done.returncode:
            raise CommandError(f"the editor {editor!r} ended with {done.returncode}: nothing was written")
        changed = file.read_text(encoding="utf-8")
    return None if changed == text else changed


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


def sure(question: str, yes: bool) -> None:
    """Have a person agree to what cannot be taken back.

    Raises:
        CommandError: when they do not, or nobody can be asked.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(f"{question} Say --yes", 2)
    if not typer.confirm(question, default=False):
        raise CommandError("nothing was changed")
