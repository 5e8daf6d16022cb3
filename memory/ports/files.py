"""Files that outlive us, in folders that a person has named."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class PublishFailed(Exception):
    """A lasting file cannot be read or written as it should be; the message says which and why. Nothing has changed."""


class PublishedFiles(Protocol):
    """Files that outlive us, in folders that a person has named. ``name`` is a path below ``folder``; no link is
    followed on the way to it. Line ends are kept; None stands for no file."""

    async def read(self, folder: Path, name: str) -> str | None:
        """The text of a file.

        Raises:
            NotWritten: when it is no plain text file, or a link stands on the way to it.
        """

    async def replace(self, folder: Path, name: str, before: str | None, after: str | None) -> None:
        """Put ``after`` in the place of a file that holds ``before``, whole or not at all; its mode stays. Folders on
        the way are made; the one that a file leaves empty goes with it.

        Raises:
            NotWritten: when the file holds something else by now, or cannot be written.
        """
