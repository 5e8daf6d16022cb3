"""What was said is text on a terminal and no order to it: it moves no cursor, sets no title and turns no line around.

Memories hold what tools and web pages wrote. A pipe or a file gets what is there.
"""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO, cast

_ORDERS = re.compile(
    r"(?P<colour>\x1b\[[0-9;:]*m)"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)
_INSTEAD = "\N{REPLACEMENT CHARACTER}"


def harmless(text: str) -> str:
    """A text in which a mark stands for everything that a terminal would obey, but for colours."""
    return _ORDERS.sub(lambda found: found["colour"] or _INSTEAD, text)


class Harmless:
    """A stream to a terminal that writes harmless text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """See :class:`typing.TextIO`."""
        self._stream.write(harmless(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_terminal() -> None:
    """From now on what is printed on a terminal is harmless."""
    if sys.stdout.isatty():
        sys.stdout = cast(TextIO, Harmless(sys.stdout))
