"""What goes wrong, as a sentence on standard error and an exit code; the traceback only where it was asked for.

Where JSON was asked for, the sentence stands on standard output too: ``{"error": …}``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any

import typer

from proxy.cli.terminal import harmless
from proxy.setting_sources import SettingsError

STOPPED = 130
"""The exit code of what a person ended by Ctrl-C or Ctrl-D."""


class CommandError(Exception):
    """Something that a person can act on. ``code`` is the exit code: 1 it failed, 2 it was asked wrongly,
    :data:`STOPPED`. (3, of a command that went on past what it could not do, is no fault: it was done in part.)"""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


ARGUMENT_FAULT: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises about arguments. The package that it is from changes with typer's version, its name does not."""


PASSES_ON = "run"
"""The command behind which arguments are somebody else's."""


def own_arguments(arguments: Sequence[str]) -> list[str]:
    """Those that are said to us: all, but behind the command that starts a client with its arguments."""
    first = next((place for place, each in enumerate(arguments) if each != "--debug"), 0)
    return list(arguments[: first + 1] if arguments[first : first + 1] == [PASSES_ON] else arguments)


def obey(app: typer.Typer, arguments: Sequence[str], program: str) -> None:
    """Run a command. Where JSON was asked for, what is wrong with the arguments is a fault as any other."""
    # The application itself would set a hook of its own for what nobody foresaw, in the place of ours.
    command = typer.main.get_command(app)
    if "--json" not in own_arguments(arguments):
        command(list(arguments), prog_name=program)
    try:
        code = command(list(arguments), prog_name=program, standalone_mode=False)
    except ARGUMENT_FAULT as error:
        raise CommandError(error.format_message(), error.exit_code) from error
    except typer.Abort as error:
        raise CommandError("stopped", STOPPED) from error
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def as_sentences(debug: bool = False, as_json: bool = False) -> Iterator[None]:
    """Tell faults in sentences and exit; with ``debug`` they stay exceptions."""
    if debug:
        yield
        return
    sys.excepthook = partial(_unforeseen, as_json)
    try:
        with _read_as_far_as_wanted():
            yield
    except CommandError as error:
        _exit(str(error), error.code, as_json)
    except SettingsError as error:
        _exit("\n".join(["the settings are not right:", *(f"  {fault}" for fault in error.faults)]), 2, as_json)
    except OSError as error:
        named = error.filename is not None and error.strerror
        _exit(f"{error.filename}: {error.strerror}" if named else str(error), 1, as_json)
    except KeyboardInterrupt:
        _exit("stopped", STOPPED, as_json)


@contextmanager
def _read_as_far_as_wanted() -> Iterator[None]:
    """Who reads what a command prints may stop (``| head``): that is nobody's fault, and nothing is said of it."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # What is left would be written when Python ends, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _unforeseen(
    as_json: bool, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Python exits with 1 after this."""
    message = str(error) or kind.__name__
    _print_error(f"this should not have happened: {kind.__name__}: {message}", as_json)
    print("Run the same command with --debug to see where; please report it.", file=sys.stderr)


def _exit(sentence: str, code: int, as_json: bool) -> None:
    _print_error(sentence, as_json)
    sys.exit(code)


def _print_error(sentence: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": sentence}, ensure_ascii=False))
    print(f"palimpsest: {harmless(sentence)}", file=sys.stderr)
