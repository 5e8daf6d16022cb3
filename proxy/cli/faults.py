"""What goes wrong, as a sentence on standard error and an exit code; the traceback only where it was asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from proxy.settings import SettingsError


class Fault(Exception):
    """Something that a person can act on. ``code`` is the exit code: 1 it failed, 2 it was asked wrongly."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def as_sentences(debug: bool = False) -> Iterator[None]:
    """Tell faults in sentences and exit; with ``debug`` they stay exceptions."""
    if debug:
        yield
        return
    sys.excepthook = _unforeseen
    try:
        yield
    except Fault as error:
        _exit(str(error), error.code)
    except SettingsError as error:
        _exit("\n".join(["the settings are not right:", *(f"  {fault}" for fault in error.faults)]), 2)
    except OSError as error:
        _exit(str(error), 1)
    except KeyboardInterrupt:
        _exit("stopped", 130)


def _unforeseen(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Python exits with 1 after this."""
    told = str(error) or kind.__name__
    print(f"palimpsest: this should not have happened: {kind.__name__}: {told}", file=sys.stderr)
    print("Run the same command with --debug to see where; please report it.", file=sys.stderr)


def _exit(sentence: str, code: int) -> None:
    print(f"palimpsest: {sentence}", file=sys.stderr)
    sys.exit(code)
