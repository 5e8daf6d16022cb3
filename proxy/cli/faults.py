"""What goes wrong, as a sentence on standard error and an exit code; the traceback only where it was asked for.

Where JSON was asked for, the sentence stands on standard output too: ``{"error": …}``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType

from proxy.settings import SettingsError


class Fault(Exception):
    """Something that a person can act on. ``code`` is the exit code: 1 it failed, 2 it was asked wrongly."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def as_sentences(debug: bool = False, as_json: bool = False) -> Iterator[None]:
    """Tell faults in sentences and exit; with ``debug`` they stay exceptions."""
    if debug:
        yield
        return
    sys.excepthook = partial(_unforeseen, as_json)
    try:
        yield
    except Fault as error:
        _exit(str(error), error.code, as_json)
    except SettingsError as error:
        _exit("\n".join(["the settings are not right:", *(f"  {fault}" for fault in error.faults)]), 2, as_json)
    except OSError as error:
        _exit(str(error), 1, as_json)
    except KeyboardInterrupt:
        _exit("stopped", 130, as_json)


def _unforeseen(
    as_json: bool, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Python exits with 1 after this."""
    told = str(error) or kind.__name__
    _tell(f"this should not have happened: {kind.__name__}: {told}", as_json)
    print("Run the same command with --debug to see where; please report it.", file=sys.stderr)


def _exit(sentence: str, code: int, as_json: bool) -> None:
    _tell(sentence, as_json)
    sys.exit(code)


def _tell(sentence: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": sentence}, ensure_ascii=False))
    print(f"palimpsest: {sentence}", file=sys.stderr)
