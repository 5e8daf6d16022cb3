"""The server's log: a line for each event, however long the names are that clients choose."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from memory.learning.redact import redact

MAX_LINE_CHARS = 500
"""Characters of a line that are written. Models, sessions, users, projects and tools are called as a client says, and
so one request could fill the disk, or write lines that look like ours."""


FILE_BYTES, FILES = 5 * 2**20, 2
"""How large a log file may grow before it begins anew, and how many of the ones before are kept."""

STDERR = 2


def handler(file: Path | None, file_bytes: int = FILE_BYTES, files: int = FILES) -> logging.Handler:
    """Where the log goes: into a file that never grows large, else to standard error.

    Raises:
        OSError: when the file cannot be written.
    """
    handler: logging.Handler
    if file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = _FileHandler(file, maxBytes=file_bytes, backupCount=files, encoding="utf-8")
    handler.setFormatter(OneLineFormatter())
    return handler


class _FileHandler(RotatingFileHandler):
    """A file that nobody else may read, and those that were it before."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=partial(os.open, mode=0o600))

    def doRollover(self) -> None:
        """Begin the file anew. Who started us may have sent our standard error into it, which would stay with the one
        before, and go with that one."""
        ours = os.fstat(self.stream.fileno()) if self.stream else None
        super().doRollover()
        with contextlib.suppress(OSError):  # there may be no standard error
            if ours and self.stream and os.path.samestat(os.fstat(STDERR), ours):
                os.dup2(self.stream.fileno(), STDERR)


class OneLineFormatter(logging.Formatter):
    """A message on one line, without secrets, cut where it is too long. So are the lines of a traceback."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line without what was raised."""
        record.message = _bounded(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: logging._SysExcInfoType) -> str:
        """What was raised, and where."""
        return "\n".join(map(_bounded, super().formatException(ei).split("\n")))


def _bounded(line: str) -> str:
    redacted = redact(line[: 4 * MAX_LINE_CHARS]).text
    cut = "".join(char if char.isprintable() else " " for char in redacted[:MAX_LINE_CHARS])
    return cut if len(line) <= MAX_LINE_CHARS else f"{cut} … ({len(line):,} characters)"
